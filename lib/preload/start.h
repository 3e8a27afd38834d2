/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_START_H
#define NFSAPPEND_PRELOAD_START_H

#include <stdbool.h>

/*
 * Once per process, by the first hook that needs it: reads the environment.
 * The answer is nfsappend_active from then on. Not in the constructor, which
 * runs before libc and sanitizers are ready for anything.
 */
bool nfsappend_start(void);

/* The path of a file that lies beside this library. In a static buffer, for
 * use at once. */
const char *nfsappend_beside(const char *name);

#endif
