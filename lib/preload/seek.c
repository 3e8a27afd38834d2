/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "core/io.h"
#include "preload/hook.h"

extern off64_t llseek(int, off64_t, int);

static bool seek_ours(int fd, off64_t offset, int whence, off64_t *result)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, fd))
		return false;
	*result = use.error != 0 ? use.error
				 : nfsappend_io_seek(use.open, fd, offset,
					   whence);
	nfsappend_use_end(&use);
	*result = nfsappend_result(*result);
	return true;
}

NFSAPPEND_HOOK off_t lseek(int fd, off_t offset, int whence)
{
	off64_t r;

	return seek_ours(fd, offset, whence, &r)
		? r
		: NFSAPPEND_REAL(lseek)(fd, offset, whence);
}

NFSAPPEND_HOOK off64_t lseek64(int fd, off64_t offset, int whence)
{
	return lseek(fd, offset, whence);
}

NFSAPPEND_HOOK off64_t llseek(int fd, off64_t offset, int whence)
{
	return lseek(fd, offset, whence);
}
