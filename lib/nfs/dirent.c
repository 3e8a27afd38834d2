/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <string.h>

#include "nfs/dirent.h"

bool nfsappend_dirents_add(struct nfsappend_dirents *d, uint64_t fileid,
	uint64_t cookie, unsigned type, const char *name, size_t len)
{
	struct nfsappend_dirent *e;
	size_t size = (sizeof *e + len + 1 + 7) & ~(size_t)7;

	if (d->full)
		return false;
	if (len == 0 || len > NFSAPPEND_NAME_MAX ||
		memchr(name, '/', len) != NULL || memchr(name, 0, len) != NULL)
		return false;
	if (size > d->room - d->used) {
		d->full = true;
		return false;
	}
	e = (struct nfsappend_dirent *)(d->buf + d->used);
	e->fileid = fileid;
	e->cookie = cookie;
	e->reclen = (uint16_t)size;
	e->type = (uint8_t)(type <= NFSAPPEND_FIFO ? type : 0);
	memcpy(e->name, name, len);
	e->name[len] = '\0';
	d->used += (uint32_t)size;
	return true;
}
