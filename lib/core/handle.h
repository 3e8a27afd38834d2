/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server's file handle, out of a kernel descriptor. */
#ifndef NFSAPPEND_CORE_HANDLE_H
#define NFSAPPEND_CORE_HANDLE_H

#include "core/backend.h"

/* Without asking the server; also of an O_PATH descriptor, as any user. fileid:
 * st_ino, which the handle must name as well. 0, -EOPNOTSUPP (a v4.0 mount),
 * -EPERM (seccomp), -EINVAL (another layout than we know). */
int nfsappend_handle_of(int fd, uint64_t fileid, struct nfsappend_fh *);

#endif
