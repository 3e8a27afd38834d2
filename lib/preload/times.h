/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The times that a program sets, in libc's three forms. */
#ifndef NFSAPPEND_PRELOAD_TIMES_H
#define NFSAPPEND_PRELOAD_TIMES_H

#include <sys/time.h>

#include "core/backend.h"

/* The NFSAPPEND_SET_* bits and the values for them; NULL is now. -EINVAL: not
 * a time. */
int nfsappend_times(const struct timespec times[2], struct nfsappend_attr *);
/* Microseconds in room as timespecs; NULL stays NULL. */
const struct timespec *nfsappend_timespecs(const struct timeval times[2],
	struct timespec room[2]);

#endif
