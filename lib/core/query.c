/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/query.h"

/* A number for a directory that is nowhere. */
static uint64_t number_of(const char *path)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *path != '\0'; path++)
		if (path[0] != '/' || path[1] != '\0')
			h = (h ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
	return h;
}

/* The path of c->above. */
static int path_above(const struct nfsappend_pathcall *c, char *out)
{
	size_t n = strlen(c->place->walk.rest);

	memcpy(out, c->place->walk.rest, n + 1);
	while (n > 1 && out[n - 1] == '/')
		out[--n] = '\0';
	return 0;
}

int nfsappend_path_getattr(int dirfd, const char *path, bool follow,
	struct nfsappend_attr *attr, uint64_t *device)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		follow ? NFSAPPEND_FOLLOW : 0);

	if (r == 0) {
		*attr = c.place->attr;
		*device = nfsappend_server_device(c.place->server, attr);
	}
	if (c.above) {
		*attr = (struct nfsappend_attr){.type = NFSAPPEND_DIR,
			.mode = 0555,
			.nlink = 2,
			.fileid = number_of(c.place->walk.rest)};
		*device = makedev(0xe00, 0);
		r = 0;
	}
	nfsappend_pathcall_end(&c);
	return r;
}

/* The bits that the kernel's client asks for. */
static uint32_t access_bits(int mode, bool directory)
{
	uint32_t asked = 0;

	if (mode & R_OK)
		asked |= NFSAPPEND_ACCESS_READ;
	if (mode & W_OK)
		asked |= NFSAPPEND_ACCESS_MODIFY | NFSAPPEND_ACCESS_EXTEND |
			(directory ? NFSAPPEND_ACCESS_DELETE : 0);
	if (mode & X_OK)
		asked |= directory ? NFSAPPEND_ACCESS_LOOKUP
				   : NFSAPPEND_ACCESS_EXECUTE;
	return asked;
}

int nfsappend_path_access(int dirfd, const char *path, int mode, int flags)
{
	struct nfsappend_pathcall c;
	uint32_t asked, granted = 0;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		(flags & AT_SYMLINK_NOFOLLOW ? 0 : NFSAPPEND_FOLLOW) |
			(flags & AT_EACCESS ? 0 : NFSAPPEND_REAL_IDS));

	if (c.above)
		r = mode & W_OK ? -EACCES : 0;
	if (r == 0 && !c.above && mode != F_OK) {
		asked = access_bits(mode, c.place->attr.type == NFSAPPEND_DIR);
		NFSAPPEND_CALL(c.place->server, &c.w, r, access, &c.place->fh,
			asked, &granted);
		if (r == 0 && (granted & asked) != asked)
			r = -EACCES;
	}
	nfsappend_pathcall_end(&c);
	return r;
}

ssize_t nfsappend_path_readlink(int dirfd, const char *path, char *buf,
	size_t room)
{
	struct nfsappend_pathcall c;
	ssize_t r = nfsappend_pathcall_begin(&c, dirfd, path, 0);

	if (c.above)
		r = -EINVAL;
	if (r == 0 && (c.place->attr.type != NFSAPPEND_LNK || room == 0 ||
			      room > SSIZE_MAX))
		r = -EINVAL;
	if (r == 0) {
		char *target = c.place->path;
		int got;

		NFSAPPEND_CALL(c.place->server, &c.w, got, readlink,
			&c.place->fh, target, sizeof c.place->path);
		r = got;
		if (r == 0) {
			size_t n = strlen(target);

			r = (ssize_t)(n < room ? n : room);
			memcpy(buf, target, (size_t)r);
		}
	}
	nfsappend_pathcall_end(&c);
	return r;
}

int nfsappend_path_statfs(const char *path, struct nfsappend_space *space,
	uint64_t *fsid)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, AT_FDCWD, path, NFSAPPEND_FOLLOW);

	if (r == 0) {
		*fsid = nfsappend_server_device(c.place->server,
			&c.place->attr);
		NFSAPPEND_CALL(c.place->server, &c.w, r, statfs, &c.place->fh,
			space);
	}
	nfsappend_pathcall_end(&c);
	return r;
}

int nfsappend_path_exists(int dirfd, const char *path, bool follow)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		follow ? NFSAPPEND_FOLLOW : 0);

	nfsappend_pathcall_end(&c);
	return r;
}

int nfsappend_path_real(const char *path, char *out)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, AT_FDCWD, path, NFSAPPEND_FOLLOW);

	if (r == 0)
		r = nfsappend_place_path(c.place, out, PATH_MAX);
	if (c.above)
		r = path_above(&c, out);
	nfsappend_pathcall_end(&c);
	return r;
}

int nfsappend_path_enterable(const char *path, char *out)
{
	struct nfsappend_pathcall c;
	uint32_t granted = 0;
	int r = nfsappend_pathcall_begin(&c, AT_FDCWD, path, NFSAPPEND_FOLLOW);

	if (r == 0 && c.place->attr.type != NFSAPPEND_DIR)
		r = -ENOTDIR;
	if (r == 0)
		NFSAPPEND_CALL(c.place->server, &c.w, r, access, &c.place->fh,
			NFSAPPEND_ACCESS_LOOKUP, &granted);
	if (r == 0 && !(granted & NFSAPPEND_ACCESS_LOOKUP))
		r = -EACCES;
	if (r == 0)
		r = nfsappend_place_path(c.place, out, PATH_MAX);
	if (c.above)
		r = path_above(&c, out);
	nfsappend_pathcall_end(&c);
	return r;
}
