/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A working directory below a map. The kernel's is then a directory that was
 * made for it and removed at once, and whose name, which the kernel goes on
 * telling, ends in the path that it stands for. So it is inherited by every
 * child whichever way it is made, and what a program without us does with a
 * relative path finds nothing and makes nothing.
 */
#ifndef NFSAPPEND_CORE_CWD_H
#define NFSAPPEND_CORE_CWD_H

#include <stdbool.h>
#include <stddef.h>

/* Is it below a map? No system call while no hook has been there. */
bool nfsappend_cwd_mapped(void);

/* Its path (out may be NULL) and length, or -ENOENT: none of ours. */
int nfsappend_cwd_path(char *out, size_t room);

/* path: absolute, without links. 0 or -errno. */
int nfsappend_cwd_enter(const char *path);
/* The descriptor to give to fchdir() for it (O_CLOEXEC), or -errno. */
int nfsappend_cwd_open(const char *path);

#endif
