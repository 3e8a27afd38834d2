/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/naming.h"
#include "core/settled.h"

/* The change that a path asks for, of what was found under it. */
static struct nfsappend_change change_of(struct nfsappend_pathcall *c)
{
	return (struct nfsappend_change){
		.server = c->place->server,
		.w = &c->w,
		.dir = &c->place->dir,
		.name = c->place->name,
		.object = &c->place->fh,
		.attr = &c->place->attr,
	};
}

int nfsappend_path_mkdir(int dirfd, const char *path, mode_t mode)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		NFSAPPEND_MAY_LACK | NFSAPPEND_ITSELF);

	if (c.above || (r == 0 && c.place->found)) {
		r = -EEXIST;
	} else if (r == 0) {
		struct nfsappend_change change = change_of(&c);

		change.mode = mode & 01777 & ~nfsappend_umask();
		r = nfsappend_settled_mkdir(&change);
	}
	nfsappend_pathcall_end(&c);
	return r;
}

int nfsappend_path_symlink(const char *target, int dirfd, const char *path)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		NFSAPPEND_MAY_LACK | NFSAPPEND_ITSELF);

	if (r == 0 && c.place->found) {
		r = -EEXIST;
	} else if (r == 0 && (c.place->slash || target[0] == '\0')) {
		r = -ENOENT;
	} else if (r == 0) {
		struct nfsappend_change change = change_of(&c);

		change.target = target;
		r = nfsappend_settled_symlink(&change);
	}
	nfsappend_pathcall_end(&c);
	return r;
}

/* Why DIR of a map, "." and ".." cannot be removed. The walk has a name even
 * for "." where the working directory is below a map. */
static int refusal(const char *path)
{
	size_t n = strlen(path);

	while (n > 0 && path[n - 1] == '/')
		n--;
	if (n > 0 && path[n - 1] == '.') {
		if (n == 1 || path[n - 2] == '/')
			return -EINVAL;
		if (path[n - 2] == '.' && (n == 2 || path[n - 3] == '/'))
			return -ENOTEMPTY;
	}
	return -EBUSY;
}

static int remove_found(struct nfsappend_pathcall *c, const char *path,
	bool directory)
{
	struct nfsappend_change change = change_of(c);
	int r;

	if (!directory && c->place->attr.type == NFSAPPEND_DIR)
		return -EISDIR;
	if ((directory || c->place->slash) &&
		c->place->attr.type != NFSAPPEND_DIR)
		return -ENOTDIR;
	if (c->place->name[0] == '\0' || refusal(path) != -EBUSY)
		return refusal(path);
	if (!directory)
		return nfsappend_settled_remove(&change);
	r = nfsappend_settled_rmdir(&change);
	return r == -EEXIST ? -ENOTEMPTY : r;
}

int nfsappend_path_unlink(int dirfd, const char *path, int flags)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path, NFSAPPEND_ITSELF);

	if (r == 0)
		r = remove_found(&c, path, flags & AT_REMOVEDIR);
	if (r == 0)
		nfsappend_file_changed(c.place->server, &c.place->fh);
	nfsappend_pathcall_end(&c);
	return r;
}

/* Two paths of one call; the second may lack. 0, -errno or NOT_OURS. */
struct pair {
	struct nfsappend_pathcall from, to;
};

static int exists_here(int dirfd, const char *path)
{
	struct statx stx;

	return (int)sys_statx(dirfd, path,
		AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_TYPE, &stx);
}

static int pair_begin(struct pair *p, int from_dirfd, const char *from,
	unsigned how, int to_dirfd, const char *to)
{
	int r = nfsappend_pathcall_begin(&p->from, from_dirfd, from, how);
	int s = nfsappend_pathcall_begin(&p->to, to_dirfd, to,
		NFSAPPEND_MAY_LACK | NFSAPPEND_ITSELF);

	if (r == NFSAPPEND_NOT_OURS && s == NFSAPPEND_NOT_OURS)
		return r;
	if (r == NFSAPPEND_NOT_OURS)
		r = exists_here(from_dirfd, from);
	if (r != 0)
		return r;
	if (s == NFSAPPEND_NOT_OURS && to[0] == '\0')
		return -ENOENT;
	if (s == NFSAPPEND_NOT_OURS || (s == 0 &&
		p->from.place->map != p->to.place->map))
		return -EXDEV;
	return s;
}

static void pair_end(struct pair *p)
{
	nfsappend_pathcall_end(&p->to);
	nfsappend_pathcall_end(&p->from);
}

static bool same_file(const struct nfsappend_place *a,
	const struct nfsappend_place *b)
{
	return a->fh.len == b->fh.len &&
		memcmp(a->fh.data, b->fh.data, a->fh.len) == 0;
}

/* What RENAME answers with EXIST only (RFC 1813 section 3.3.14). */
static int check_rename(const struct nfsappend_place *from,
	const struct nfsappend_place *to)
{
	bool directory = from->attr.type == NFSAPPEND_DIR;

	if (from->name[0] == '\0' || (to->found && to->name[0] == '\0'))
		return -EBUSY;
	if (!from->found)
		return -ENOENT;
	if (!directory && (from->slash || to->slash))
		return -ENOTDIR;
	if (!to->found)
		return 0;
	if (directory && to->attr.type != NFSAPPEND_DIR)
		return -ENOTDIR;
	if (!directory && to->attr.type == NFSAPPEND_DIR)
		return -EISDIR;
	return 0;
}

int nfsappend_path_rename(int from_dirfd, const char *from, int to_dirfd,
	const char *to)
{
	struct pair p;
	int r = pair_begin(&p, from_dirfd, from,
		NFSAPPEND_ITSELF | NFSAPPEND_MAY_LACK, to_dirfd, to);

	if (r == 0 && (refusal(from) != -EBUSY || refusal(to) != -EBUSY))
		r = -EBUSY; /* "." and ".." */
	if (r == 0)
		r = check_rename(p.from.place, p.to.place);
	/* Two names of one file: POSIX leaves both. */
	if (r == 0 && !(p.to.place->found &&
			      same_file(p.from.place, p.to.place))) {
		struct nfsappend_change change = change_of(&p.from);

		change.to_dir = &p.to.place->dir;
		change.to = p.to.place->name;
		r = nfsappend_settled_rename(&change);
		if (r == -EEXIST)
			r = -ENOTEMPTY;
		if (r == 0 && p.to.place->found)
			nfsappend_file_changed(p.to.place->server,
				&p.to.place->fh);
		if (r == 0)
			nfsappend_file_renamed(p.from.place->server,
				&p.from.place->fh, &p.to.place->dir,
				p.to.place->name);
	}
	pair_end(&p);
	return r;
}

int nfsappend_path_link(int from_dirfd, const char *from, int to_dirfd,
	const char *to, int flags)
{
	struct pair p;
	int r = pair_begin(&p, from_dirfd, from,
		flags & AT_SYMLINK_FOLLOW ? NFSAPPEND_FOLLOW : 0, to_dirfd, to);

	if (r == 0 && p.to.place->found)
		r = -EEXIST;
	if (r == 0 && p.to.place->slash)
		r = -ENOENT;
	if (r == 0 && p.from.place->attr.type == NFSAPPEND_DIR)
		r = -EPERM;
	if (r == 0) {
		struct nfsappend_change change = change_of(&p.from);

		change.to_dir = &p.to.place->dir;
		change.to = p.to.place->name;
		r = nfsappend_settled_link(&change);
		nfsappend_file_changed(p.from.place->server,
			&p.from.place->fh);
	}
	pair_end(&p);
	return r;
}
