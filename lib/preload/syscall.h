/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_SYSCALL_H
#define NFSAPPEND_PRELOAD_SYSCALL_H

#include <stdbool.h>

/* A call on a path, done by its hook? *result as of syscall(2). */
bool nfsappend_syscall_path(long number, const long arguments[6], long *result);

#endif
