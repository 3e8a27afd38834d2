/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/listing.h"
#include "core/process.h"

void nfsappend_listing_start(struct nfsappend_listing *l,
	const struct nfsappend_directory *dir)
{
	l->dir = *dir;
	l->parent = dir->fileid;
	nfsappend_listing_seek(l, NFSAPPEND_LISTING_START);
}

void nfsappend_listing_seek(struct nfsappend_listing *l, long position)
{
	bool dots = position == NFSAPPEND_LISTING_START ||
		position == NFSAPPEND_LISTING_DOT ||
		position == NFSAPPEND_LISTING_DOTDOT;

	l->position = position;
	l->cookie = dots ? 0 : (uint64_t)position;
	if (dots) /* cookies of this reading keep their verifier */
		l->verifier = 0;
	l->eof = false;
	l->at = l->used = 0;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
		(name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static const struct nfsappend_dirent *record(const struct nfsappend_listing *l,
	uint32_t at)
{
	return (const struct nfsappend_dirent *)(l->buf + at);
}

/* What comes next, into the empty buffer. 0 or -errno. */
static int fill(struct nfsappend_listing *l)
{
	struct nfsappend_waiting w;
	uint32_t len;
	uint64_t verifier;
	unsigned tries = 0;
	bool eof;
	int r;

	nfsappend_wait_start(&w, l->dir.server->name, l->dir.timeout_s);
	do {
		len = sizeof l->buf;
		verifier = l->verifier;
		eof = false;
		r = nfsappend_backend->readdir(l->dir.server->session, &w.wait,
			&l->dir.fh, l->cookie, &verifier, l->buf, &len, &eof);
	} while (nfsappend_server_again(l->dir.server, &w, &r, &tries));
	if (r != 0)
		return r;
	l->at = 0;
	l->used = len;
	l->verifier = verifier;
	/* No entry and no end: the server would be asked for ever. */
	l->eof = eof || len == 0;
	for (uint32_t at = 0; at < len; at += record(l, at)->reclen) {
		l->cookie = record(l, at)->cookie;
		if (strcmp(record(l, at)->name, "..") == 0)
			l->parent = record(l, at)->fileid;
	}
	return 0;
}

static int dot(struct nfsappend_listing *l, struct nfsappend_entry *e)
{
	bool first = l->position == NFSAPPEND_LISTING_START;

	if (!first && l->used == 0 && !l->eof) {
		int r = fill(l); /* it may tell the parent's fileid */

		if (r != 0)
			return r;
	}
	e->name = first ? "." : "..";
	e->type = NFSAPPEND_DIR;
	e->fileid = first ? l->dir.fileid : l->parent;
	e->position = first ? NFSAPPEND_LISTING_DOT : NFSAPPEND_LISTING_DOTDOT;
	l->position = e->position;
	return 1;
}

int nfsappend_listing_next(struct nfsappend_listing *l,
	struct nfsappend_entry *e)
{
	if (l->position == NFSAPPEND_LISTING_START ||
		l->position == NFSAPPEND_LISTING_DOT)
		return dot(l, e);
	for (;;) {
		const struct nfsappend_dirent *d;

		if (l->at == l->used) {
			int r = l->eof ? 0 : fill(l);

			if (r != 0 || l->at == l->used)
				return r;
		}
		d = record(l, l->at);
		l->at += d->reclen;
		l->position = (long)d->cookie;
		if (is_dots(d->name))
			continue;
		e->name = d->name;
		e->type = d->type;
		e->fileid = d->fileid;
		e->position = l->position;
		return 1;
	}
}
