/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stddef.h>

#include "core/errname.h"

const char *nfsappend_strerror(int error)
{
	static const struct {
		int error;
		const char *text;
	} table[] = {
		{EPERM, "EPERM, operation not permitted"},
		{ENOENT, "ENOENT, no such file or directory"},
		{EIO, "EIO, input/output error"},
		{ENXIO, "ENXIO, no such device"},
		{EBADF, "EBADF, bad file descriptor"},
		{ENOMEM, "ENOMEM, out of memory"},
		{EACCES, "EACCES, permission denied"},
		{EEXIST, "EEXIST, file exists"},
		{ENOTDIR, "ENOTDIR, not a directory"},
		{EISDIR, "EISDIR, is a directory"},
		{EINVAL, "EINVAL, invalid argument"},
		{ENFILE, "ENFILE, too many open files in the system"},
		{EMFILE, "EMFILE, too many open files"},
		{EFBIG, "EFBIG, file too large"},
		{ENOSPC, "ENOSPC, no space left on device"},
		{EROFS, "EROFS, read-only file system"},
		{EMLINK, "EMLINK, too many links"},
		{ENAMETOOLONG, "ENAMETOOLONG, name too long"},
		{ELOOP, "ELOOP, too many symbolic links"},
		{ENOSYS, "ENOSYS, not implemented"},
		{EDQUOT, "EDQUOT, disk quota exceeded"},
		{ESTALE, "ESTALE, stale file handle"},
		{EOPNOTSUPP, "EOPNOTSUPP, operation not supported"},
		{EAFNOSUPPORT, "EAFNOSUPPORT, address family not supported"},
		{ECONNREFUSED, "ECONNREFUSED, connection refused"},
		{ECONNRESET, "ECONNRESET, connection reset"},
		{EHOSTUNREACH, "EHOSTUNREACH, no route to host"},
		{ENETUNREACH, "ENETUNREACH, network unreachable"},
		{ETIMEDOUT, "ETIMEDOUT, timed out"},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].error == error)
			return table[i].text;
	return "an error without a name";
}
