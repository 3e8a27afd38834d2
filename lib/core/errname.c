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
		{EPERM, "EPERM (Operation not permitted)"},
		{ENOENT, "ENOENT (No such file or directory)"},
		{EIO, "EIO (Input/output error)"},
		{ENXIO, "ENXIO (No such device)"},
		{EBADF, "EBADF (Bad file descriptor)"},
		{ENOMEM, "ENOMEM (Out of memory)"},
		{EACCES, "EACCES (Permission denied)"},
		{EEXIST, "EEXIST (File exists)"},
		{ENOTDIR, "ENOTDIR (Not a directory)"},
		{EISDIR, "EISDIR (Is a directory)"},
		{EINVAL, "EINVAL (Invalid argument)"},
		{ENFILE, "ENFILE (Too many open files in the system)"},
		{EMFILE, "EMFILE (Too many open files)"},
		{EFBIG, "EFBIG (File too large)"},
		{ENOSPC, "ENOSPC (No space left on device)"},
		{EROFS, "EROFS (Read-only file system)"},
		{EMLINK, "EMLINK (Too many links)"},
		{ENAMETOOLONG, "ENAMETOOLONG (Name too long)"},
		{ELOOP, "ELOOP (Too many symbolic links)"},
		{ENOSYS, "ENOSYS (Not implemented)"},
		{EDQUOT, "EDQUOT (Disk quota exceeded)"},
		{ESTALE, "ESTALE (Stale file handle)"},
		{EREMOTE, "EREMOTE (The file system has moved to another "
			  "server)"},
		{EPROTONOSUPPORT,
			"EPROTONOSUPPORT (Protocol not supported)"},
		{EOPNOTSUPP, "EOPNOTSUPP (Operation not supported)"},
		{EAFNOSUPPORT, "EAFNOSUPPORT (Address family not supported)"},
		{ECONNREFUSED, "ECONNREFUSED (Connection refused)"},
		{ECONNRESET, "ECONNRESET (Connection reset)"},
		{EHOSTUNREACH, "EHOSTUNREACH (No route to host)"},
		{ENETUNREACH, "ENETUNREACH (Network unreachable)"},
		{ETIMEDOUT, "ETIMEDOUT (Timed out)"},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].error == error)
			return table[i].text;
	return "an error without a name";
}

const char *nfsappend_cure(int error)
{
	switch (error) {
	case ENOENT:
		return "create the directory on the server or correct the "
		       "path";
	case EACCES:
	case EPERM:
		return "correct owner or mode on the server, or the export's "
		       "options (root_squash, ro, secure)";
	case EISDIR:
		return "name a file, not a directory";
	case ENOTDIR:
		return "a part of the path is a file: correct the path";
	case ELOOP:
		return "symbolic links lead in a circle: correct the link";
	case ENAMETOOLONG:
		return "shorten the name: 255 bytes a component, as a rule";
	case ENOSPC:
	case EDQUOT:
		return "free space on the server or raise the quota";
	case EROFS:
		return "export the file system read-write";
	case EFBIG:
		return "the file has reached the server's limit: rotate it";
	case ESTALE:
		return "the file is gone on the server: open it again";
	default:
		return "see the server's log";
	}
}
