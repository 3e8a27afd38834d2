/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open() of a path that may lie below a map. */
#ifndef NFSAPPEND_CORE_OPENING_H
#define NFSAPPEND_CORE_OPENING_H

#include <sys/types.h>

#define NFSAPPEND_NOT_OURS (-4096) /* no errno: the kernel's to open */

/* A descriptor, -errno, or NFSAPPEND_NOT_OURS. Takes the guard itself. */
int nfsappend_open_path(int dirfd, const char *path, int flags, mode_t mode);

struct nfsappend_open;

/* Another open of a file that the process has open, by /dev/stdout or
 * /proc/self/fd/N: a descriptor or -errno. With the guard held. */
int nfsappend_open_again(struct nfsappend_open *, int flags);

#endif
