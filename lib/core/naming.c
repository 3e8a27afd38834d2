/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/naming.h"

/* One attempt after the other at a call that changes a name. */
struct change {
	struct nfsappend_server *server;
	struct nfsappend_waiting *w;
	int (*send)(struct change *);
	/* Looks what is there after an answer was lost. True: *result is the
	 * answer. False: it was not done, as far as one can see. */
	bool (*settled)(struct change *, int *result);
	const struct nfsappend_fh *dir;
	const char *name;
	uint32_t mode;
};

static int run(struct change *c)
{
	unsigned tries = 0;
	bool in_doubt = false;
	int r;

	for (;;) {
		r = c->send(c);
		in_doubt |= r == NFSAPPEND_LOST || r == NFSAPPEND_TIMED_OUT;
		if (!nfsappend_server_again(c->server, c->w, &r, &tries))
			break;
		if (in_doubt && c->settled(c, &r))
			return r;
	}
	/* An attempt thought lost may have been late, and the answer to the
	 * next one speaks of its success. */
	if (in_doubt && r != 0 && r != -EIO)
		c->settled(c, &r);
	return r;
}

/* What stands under the name now. 0, -ENOENT, or another -errno. */
static int look(struct change *c, const struct nfsappend_fh *dir,
	const char *name, struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	int r;

	NFSAPPEND_CALL(c->server, c->w, r, lookup, dir, name, fh, attr);
	return r;
}

static int send_mkdir(struct change *c)
{
	return nfsappend_backend->mkdir(c->server->session, &c->w->wait,
		c->dir, c->name, c->mode);
}

/* It was not there before. MKDIR has no verifier, so a directory of the mode
 * that was asked for, empty and of our user is taken for ours. */
static bool mkdir_settled(struct change *c, int *result)
{
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	int r = look(c, c->dir, c->name, &fh, &attr);

	if (r == -ENOENT)
		return false;
	if (r != 0)
		*result = r;
	else if (attr.type == NFSAPPEND_DIR && attr.nlink <= 2 &&
		(attr.mode & 01777) == c->mode &&
		(attr.uid == c->server->cred.uid || c->server->cred.uid == 0))
		*result = 0;
	else
		*result = -EEXIST;
	return true;
}

int nfsappend_path_mkdir(int dirfd, const char *path, mode_t mode)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path, NFSAPPEND_MAY_LACK);

	if (r == 0) {
		struct change change = {
			.server = c.place->server,
			.w = &c.w,
			.send = send_mkdir,
			.settled = mkdir_settled,
			.dir = &c.place->dir,
			.name = c.place->name,
			.mode = mode & 01777 & ~nfsappend_umask(),
		};

		r = c.place->found ? -EEXIST : run(&change);
	}
	nfsappend_pathcall_end(&c);
	return r;
}
