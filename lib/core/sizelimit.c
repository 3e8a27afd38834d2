/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <signal.h>
#include <stdatomic.h>

#include "core/log.h"
#include "core/process.h"
#include "core/sizelimit.h"

#define REMEMBER INT64_C(100000000) /* ns */

static _Atomic int64_t none_until; /* CLOCK_MONOTONIC ns, 0: ask */
static _Atomic uint32_t changes;

uint64_t nfsappend_size_limit(void)
{
	struct rlimit limit;
	uint32_t seen = atomic_load(&changes);
	int64_t now = nfsappend_now_coarse();

	if (now < atomic_load(&none_until))
		return INT64_MAX;
	if (sys_getrlimit(RLIMIT_FSIZE, &limit) != 0)
		return INT64_MAX;
	if (limit.rlim_cur != RLIM_INFINITY)
		return limit.rlim_cur;
	atomic_store(&none_until, now + REMEMBER);
	/* Another thread has set one meanwhile? */
	if (atomic_load(&changes) != seen)
		atomic_store(&none_until, 0);
	return INT64_MAX;
}

void nfsappend_size_limit_changed(void)
{
	atomic_fetch_add(&changes, 1);
	atomic_store(&none_until, 0);
}

void nfsappend_too_large(void)
{
	nfsappend_sys(SYS_tgkill, sys_getpid(), sys_gettid(), SIGXFSZ, 0, 0,
		0);
}
