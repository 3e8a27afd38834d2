/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RLIMIT_FSIZE is the kernel's; only that it changes must be seen. */
#include "config.h"

#include <stdarg.h>
#include <sys/resource.h>
#include <ulimit.h>

#include "core/sizelimit.h"
#include "preload/hook.h"

static int changed(int resource, int result)
{
	if (resource == RLIMIT_FSIZE)
		nfsappend_size_limit_changed();
	return result;
}

static int set(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return changed((int)resource, NFSAPPEND_REAL(setrlimit)(resource, limit));
}

/* The address sanitizer wants no core files. */
NFSAPPEND_UNSANITIZED NFSAPPEND_HOOK int setrlimit(
	__rlimit_resource_t resource, const struct rlimit *limit)
{
	if (nfsappend_sanitizer_starts()) {
		long r = nfsappend_sys(SYS_prlimit64, 0, (long)resource,
			(long)limit, 0, 0, 0);

		if (r < 0)
			errno = (int)-r;
		return r < 0 ? -1 : 0;
	}
	return set(resource, limit);
}

NFSAPPEND_HOOK int setrlimit64(__rlimit_resource_t resource,
	const struct rlimit64 *limit)
{
	return changed((int)resource,
		NFSAPPEND_REAL(setrlimit64)(resource, limit));
}

NFSAPPEND_HOOK int prlimit(pid_t pid, enum __rlimit_resource resource,
	const struct rlimit *limit, struct rlimit *old)
{
	return changed((int)resource,
		NFSAPPEND_REAL(prlimit)(pid, resource, limit, old));
}

NFSAPPEND_HOOK int prlimit64(pid_t pid, enum __rlimit_resource resource,
	const struct rlimit64 *limit, struct rlimit64 *old)
{
	return changed((int)resource,
		NFSAPPEND_REAL(prlimit64)(pid, resource, limit, old));
}

/* In units of 512 bytes (ulimit(3)). */
NFSAPPEND_HOOK long ulimit(int command, ...)
{
	va_list ap;
	long limit, result;

	va_start(ap, command);
	limit = va_arg(ap, long);
	va_end(ap);
	result = NFSAPPEND_REAL(ulimit)(command, limit);
	nfsappend_size_limit_changed();
	return result;
}
