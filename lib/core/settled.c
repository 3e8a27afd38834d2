/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/settled.h"

/* One attempt: what the backend says. */
typedef int send_fn(struct nfsappend_change *);
/* Looks at what is there after an answer was lost. true: *result is the
 * answer. false: not done, as far as one can see. */
typedef bool look_fn(struct nfsappend_change *, int *result);

static int run(struct nfsappend_change *c, send_fn *send, look_fn *look)
{
	unsigned tries = 0;
	bool in_doubt = false;
	int r;

	for (;;) {
		r = send(c);
		in_doubt |= r == NFSAPPEND_LOST || r == NFSAPPEND_TIMED_OUT;
		if (!nfsappend_server_again(c->server, c->w, &r, &tries))
			break;
		if (in_doubt && look(c, &r))
			return r;
	}
	/* An attempt thought lost may have been late, and the answer to the
	 * next one speaks of its success. */
	if (in_doubt && r != 0 && r != -EIO)
		look(c, &r);
	return r;
}

/* What stands under a name now. 0, -ENOENT, or another -errno. */
static int find(struct nfsappend_change *c, const struct nfsappend_fh *dir,
	const char *name, struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	int r;

	NFSAPPEND_CALL(c->server, c->w, r, lookup, dir, name, fh, attr);
	return r;
}

/* The same object? A handle may have its directory in it (subtree_check), so
 * that another one does not prove the contrary after a RENAME or LINK. */
static bool same_handle(const struct nfsappend_fh *a,
	const struct nfsappend_fh *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static bool same_object(struct nfsappend_change *c,
	const struct nfsappend_fh *fh, const struct nfsappend_attr *attr)
{
	return same_handle(fh, c->object) ||
		(attr->fileid == c->attr->fileid &&
			attr->fsid == c->attr->fsid);
}

static int send_mkdir(struct nfsappend_change *c)
{
	return nfsappend_backend->mkdir(c->server->session, &c->w->wait,
		c->dir, c->name, c->mode);
}

/* MKDIR has no verifier: an empty directory of the mode that was asked for
 * and of our user is taken for ours. */
static bool look_mkdir(struct nfsappend_change *c, int *result)
{
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	int r = find(c, c->dir, c->name, &fh, &attr);

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

int nfsappend_settled_mkdir(struct nfsappend_change *c)
{
	return run(c, send_mkdir, look_mkdir);
}

static int send_symlink(struct nfsappend_change *c)
{
	return nfsappend_backend->symlink(c->server->session, &c->w->wait,
		c->dir, c->name, c->target);
}

static bool look_symlink(struct nfsappend_change *c, int *result)
{
	char target[PATH_MAX];
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	int r = find(c, c->dir, c->name, &fh, &attr);

	if (r == -ENOENT)
		return false;
	if (r == 0 && attr.type == NFSAPPEND_LNK) {
		NFSAPPEND_CALL(c->server, c->w, r, readlink, &fh, target,
			sizeof target);
		if (r == 0 && strcmp(target, c->target) != 0)
			r = -EEXIST;
	} else if (r == 0) {
		r = -EEXIST;
	}
	*result = r;
	return true;
}

int nfsappend_settled_symlink(struct nfsappend_change *c)
{
	return run(c, send_symlink, look_symlink);
}

static int send_remove(struct nfsappend_change *c)
{
	return nfsappend_backend->remove(c->server->session, &c->w->wait,
		c->dir, c->name);
}

static int send_rmdir(struct nfsappend_change *c)
{
	return nfsappend_backend->rmdir(c->server->session, &c->w->wait,
		c->dir, c->name);
}

/* A new file under the name may have the number of the removed one, but not
 * its handle. */
static bool look_remove(struct nfsappend_change *c, int *result)
{
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	int r = find(c, c->dir, c->name, &fh, &attr);

	if (r == 0 && same_handle(&fh, c->object))
		return false;
	*result = r == -ENOENT ? 0 : r;
	return true;
}

int nfsappend_settled_remove(struct nfsappend_change *c)
{
	return run(c, send_remove, look_remove);
}

int nfsappend_settled_rmdir(struct nfsappend_change *c)
{
	return run(c, send_rmdir, look_remove);
}

static int send_rename(struct nfsappend_change *c)
{
	return nfsappend_backend->rename(c->server->session, &c->w->wait,
		c->dir, c->name, c->to_dir, c->to);
}

/* Still under the old name: not done. Else it was: whatever stands under the
 * new name by now has come there later. */
static bool look_rename(struct nfsappend_change *c, int *result)
{
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	int r = find(c, c->dir, c->name, &fh, &attr);

	if (r == 0 && same_handle(&fh, c->object))
		return false;
	*result = r == -ENOENT ? 0 : r;
	return true;
}

int nfsappend_settled_rename(struct nfsappend_change *c)
{
	return run(c, send_rename, look_rename);
}

static int send_link(struct nfsappend_change *c)
{
	return nfsappend_backend->link(c->server->session, &c->w->wait,
		c->object, c->to_dir, c->to);
}

static bool look_link(struct nfsappend_change *c, int *result)
{
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	int r = find(c, c->to_dir, c->to, &fh, &attr);

	if (r == -ENOENT)
		return false;
	*result = r != 0 ? r : same_object(c, &fh, &attr) ? 0 : -EEXIST;
	return true;
}

int nfsappend_settled_link(struct nfsappend_change *c)
{
	return run(c, send_link, look_link);
}
