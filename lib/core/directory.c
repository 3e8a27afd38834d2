/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/directory.h"
#include "core/log.h"
#include "core/process.h"
#include "core/slab.h"
#include "core/table.h"

static struct nfsappend_slab slab = NFSAPPEND_SLAB(struct nfsappend_directory);

static void after_fork(void)
{
	nfsappend_slab_after_fork(&slab);
}

void nfsappend_directory_start(void)
{
	nfsappend_process_on_child(after_fork);
}

int nfsappend_directory_inherit(const struct nfsappend_placeholder *p,
	struct nfsappend_directory **out)
{
	struct nfsappend_directory *d = nfsappend_slab_take(&slab);

	*out = d;
	if (d == NULL)
		return -ENOMEM;
	d->server = nfsappend_server_get(&p->target, &p->cred, &p->contact);
	d->fh = p->fh;
	d->fileid = p->fileid;
	d->timeout_s = p->timeout_s;
	d->cut = p->sharing; /* not used otherwise */
	memcpy(d->path, p->path, sizeof d->path);
	if (d->server != NULL)
		return 0;
	nfsappend_slab_give(&slab, d);
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_ADOPT_FAILED,
		"an inherited descriptor of %s cannot be served: the nfs "
		"module or memory is missing",
		p->path);
	return -EIO;
}

void nfsappend_directory_put(struct nfsappend_directory *d)
{
	nfsappend_slab_give(&slab, d);
}

/* The placeholder and its entry. */
static int make_descriptor(const struct nfsappend_placeholder *ph, int flags)
{
	struct nfsappend_directory *d;
	struct nfsappend_open *open;
	int fd, r;

	r = nfsappend_directory_inherit(ph, &d);
	if (r != 0)
		return r;
	fd = nfsappend_placeholder_make(ph, flags);
	open = fd >= 0 ? nfsappend_open_directory(fd, ph->sync, d) : NULL;
	if (open == NULL) {
		nfsappend_directory_put(d);
		if (fd < 0)
			return fd;
		sys_close(fd);
		return -ENOMEM;
	}
	nfsappend_table_set(fd, open);
	return fd;
}

int nfsappend_directory_open(const struct nfsappend_place *p, int flags)
{
	struct nfsappend_placeholder ph = {
		.directory = 1,
		.accmode = O_RDONLY,
		.sync = (uint32_t)(flags & O_DIRECTORY),
		.timeout_s = nfsappend_config.timeout_s,
		.fileid = p->attr.fileid,
		.target = p->server->target,
		.contact = p->server->contact,
		.cred = p->server->cred,
		.fh = p->fh,
	};

	ph.sharing = nfsappend_place_path(p, ph.path, sizeof ph.path) != 0;
	return make_descriptor(&ph, flags);
}

int nfsappend_directory_again(const struct nfsappend_directory *d, int flags)
{
	struct nfsappend_placeholder ph = {
		.directory = 1,
		.accmode = O_RDONLY,
		.sync = (uint32_t)(flags & O_DIRECTORY),
		.sharing = d->cut,
		.timeout_s = d->timeout_s,
		.fileid = d->fileid,
		.target = d->server->target,
		.contact = d->server->contact,
		.cred = d->server->cred,
		.fh = d->fh,
	};

	memcpy(ph.path, d->path, sizeof ph.path);
	return make_descriptor(&ph, flags);
}

bool nfsappend_directory_behind(int dirfd, struct nfsappend_directory *out)
{
	struct nfsappend_open *o;
	bool found;
	int error;

	if (nfsappend_table_glance(dirfd))
		return false;
	o = nfsappend_table_get(dirfd, &error);
	if (o == NULL)
		return false;
	found = o->dir != NULL;
	if (found)
		*out = *o->dir;
	nfsappend_open_put(o);
	return found;
}

int nfsappend_directory_getattr(const struct nfsappend_directory *d,
	struct nfsappend_attr *attr)
{
	struct nfsappend_waiting w;
	int r;

	nfsappend_wait_start(&w, d->server->name, d->timeout_s);
	NFSAPPEND_CALL(d->server, &w, r, getattr, &d->fh, attr);
	return r;
}

int nfsappend_directory_setattr(const struct nfsappend_directory *d,
	unsigned set, const struct nfsappend_attr *attr)
{
	struct nfsappend_waiting w;
	int r;

	nfsappend_wait_start(&w, d->server->name, d->timeout_s);
	NFSAPPEND_CALL(d->server, &w, r, setattr, &d->fh, set, attr);
	return r;
}
