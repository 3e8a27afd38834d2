/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>

#include "core/alter.h"
#include "core/file.h"
#include "core/proxy.h"

int nfsappend_path_setattr(int dirfd, const char *path, bool follow,
	unsigned set, const struct nfsappend_attr *attr)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		follow ? NFSAPPEND_FOLLOW : 0);

	if (r == 0 && c.place->attr.type == NFSAPPEND_LNK &&
		set & NFSAPPEND_SET_MODE)
		r = -EOPNOTSUPP; /* as glibc's fchmodat() */
	if (r == 0 && set != 0) {
		NFSAPPEND_CALL(c.place->server, &c.w, r, setattr,
			&c.place->fh, set, attr);
		nfsappend_file_changed(c.place->server, &c.place->fh);
	}
	nfsappend_pathcall_end(&c);
	return r;
}

static int truncate_found(struct nfsappend_place *p, const char *path,
	off64_t length)
{
	struct nfsappend_attr size = {.size = (uint64_t)length};
	struct nfsappend_file *file;
	int r;

	if (p->attr.type == NFSAPPEND_DIR)
		return -EISDIR;
	if (p->attr.type != NFSAPPEND_REG)
		return -EINVAL;
	r = nfsappend_file_get(p->server, &p->fh, &p->attr,
		nfsappend_config_sharing(p->map->target.version),
		nfsappend_config.timeout_s, p->attr.fileid, path, &file);
	if (r != 0)
		return r;
	nfsappend_file_name(file, &p->dir, p->name);
	r = nfsappend_file_setattr(file, NFSAPPEND_SET_SIZE, &size);
	nfsappend_file_changed(p->server, &p->fh);
	nfsappend_file_put(file);
	return r;
}

struct truncate_call {
	struct nfsappend_place *place;
	const char *path;
	off64_t length;
};

static ssize_t truncate_there(void *arg)
{
	struct truncate_call *c = arg;

	return truncate_found(c->place, c->path, c->length);
}

int nfsappend_path_truncate(const char *path, off64_t length)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, AT_FDCWD, path, NFSAPPEND_FOLLOW);

	if (r == 0 && length < 0) {
		r = -EINVAL;
	} else if (r == 0) {
		struct truncate_call call = {c.place, path, length};

		r = nfsappend_needs_proxy()
			? (int)nfsappend_proxy(truncate_there, &call)
			: truncate_found(c.place, path, length);
	}
	nfsappend_pathcall_end(&c);
	return r;
}
