/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "core/file.h"
#include "core/placeholder.h"
#include "preload/hook.h"

bool nfsappend_use_slowly(struct nfsappend_use *use, int fd)
{
	/* libnfs, or core by a libc name of its own: straight through. */
	if (nfsappend_depth != 0)
		return false;
	if (!nfsappend_start())
		return false;
	if (nfsappend_table_glance(fd))
		return false;
	nfsappend_guard_enter(&use->guard);
	use->fd = fd;
	use->open = nfsappend_table_get(fd, &use->error);
	if (use->open != NULL || use->error != 0)
		return true;
	nfsappend_guard_leave(&use->guard);
	return false;
}

bool nfsappend_use_begin_mapped(struct nfsappend_use *use, int fd)
{
	if (!nfsappend_use_begin(use, fd))
		return false;
	if (use->open == NULL || use->open->file == NULL ||
		!nfsappend_file_mounted(use->open->file))
		return true;
	nfsappend_attr_forget(use->open->file);
	nfsappend_use_end(use);
	return false;
}

bool nfsappend_escaped(int fd)
{
	if ((errno != EPERM && errno != EBADF) || !nfsappend_active || nfsappend_depth != 0 ||
		!nfsappend_placeholder_marked(fd))
		return false;
	nfsappend_table_unsure(fd);
	return true;
}

void nfsappend_use_end(struct nfsappend_use *use)
{
	if (use->open != NULL)
		nfsappend_open_put(use->open);
	nfsappend_guard_leave(&use->guard);
}
