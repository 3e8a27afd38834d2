/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open() of a path that may lie below a map. */
#ifndef NFSAPPEND_CORE_OPENING_H
#define NFSAPPEND_CORE_OPENING_H

#include <sys/types.h>

#define NFSAPPEND_NOT_OURS (-4096) /* no errno: the kernel's to open */

/* A descriptor, -errno, or NFSAPPEND_NOT_OURS. Takes the guard itself. */
int nfsappend_open_path(int dirfd, const char *path, int flags, mode_t mode);

#endif
