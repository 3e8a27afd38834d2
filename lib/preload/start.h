/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_START_H
#define NFSAPPEND_PRELOAD_START_H

#include <stdbool.h>

#include "core/table.h"

extern int nfsappend_start_state; /* start.c's; STARTED at the end */
#define NFSAPPEND_STARTED 2

bool nfsappend_start_now(void);

/*
 * Once per process, by the first hook that needs it: reads the environment.
 * The answer is nfsappend_active from then on. Not in the constructor, which
 * runs before libc and sanitizers are ready for anything.
 */
static inline bool nfsappend_start(void)
{
	return __atomic_load_n(&nfsappend_start_state, __ATOMIC_ACQUIRE) ==
			NFSAPPEND_STARTED
		? nfsappend_active
		: nfsappend_start_now();
}

/* The path of a file that lies beside this library. In a static buffer, for
 * use at once. */
const char *nfsappend_beside(const char *name);

#endif
