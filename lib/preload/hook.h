/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every hook begins and ends with. Hooks translate libc's names to
 * core's functions; they decide nothing.
 */
#ifndef NFSAPPEND_PRELOAD_HOOK_H
#define NFSAPPEND_PRELOAD_HOOK_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/process.h"
#include "core/table.h"
#include "preload/real.h"
#include "preload/start.h"

#define NFSAPPEND_HOOK __attribute__((visibility("default")))
/* The part of a hook that is for managed descriptors only. */
#define NFSAPPEND_APART __attribute__((noinline))

/* A hook that the address sanitizer's runtime calls before it can be asked for
 * anything: it is not instrumented, and must do with a system call then. */
#define NFSAPPEND_UNSANITIZED                                                  \
	__attribute__((no_sanitize("address", "undefined")))

/* Of that runtime, where there is one: 0 until then. */
extern uintptr_t __asan_shadow_memory_dynamic_address __attribute__((weak));

NFSAPPEND_UNSANITIZED static inline bool nfsappend_sanitizer_starts(void)
{
	return &__asan_shadow_memory_dynamic_address != NULL &&
		__asan_shadow_memory_dynamic_address == 0;
}

/* A managed descriptor in use by a call. */
struct nfsappend_use {
	struct nfsappend_guard guard;
	struct nfsappend_open *open; /* NULL: error tells why */
	int error;
	int fd;
};

/* Slow half of nfsappend_use_begin(). */
bool nfsappend_use_slowly(struct nfsappend_use *, int fd);

/* false: not ours, call the real function. true: end it, whatever comes. */
static inline bool nfsappend_use_begin(struct nfsappend_use *use, int fd)
{
	if (!nfsappend_active ||
		nfsappend_table_peek(fd) == NFSAPPEND_FD_UNMANAGED)
		return false;
	return nfsappend_use_slowly(use, fd);
}

/* The same for what POSIX calls a cancellation point (write, read, open):
 * a loop of appends can be cancelled, between two of them. */
static inline bool nfsappend_use_begin_cancellable(struct nfsappend_use *use,
	int fd)
{
	if (!nfsappend_active ||
		nfsappend_table_peek(fd) == NFSAPPEND_FD_UNMANAGED)
		return false;
	if (nfsappend_depth == 0)
		pthread_testcancel();
	return nfsappend_use_slowly(use, fd);
}

void nfsappend_use_end(struct nfsappend_use *);

/* The same for what the kernel does itself to a file on a kernel mount, whose
 * placeholder is the file: false for those, and their attributes are asked
 * for again. */
bool nfsappend_use_begin_mapped(struct nfsappend_use *, int fd);

/* After a write that the kernel refused: was it to a placeholder that a raw
 * system call of the program's has put under the number? Its seals answer
 * EPERM, one on a kernel mount EBADF, so nothing is lost and nothing need be
 * asked before. */
bool nfsappend_escaped(int fd);

/* -errno to -1 and errno. */
static inline ssize_t nfsappend_result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

/* May fd be one of ours? For hooks that only keep books. */
static inline bool nfsappend_may_be_ours(int fd)
{
	return nfsappend_active &&
		nfsappend_table_peek(fd) != NFSAPPEND_FD_UNMANAGED;
}

/* The hooks proper, for those of other names (stdio, syscall). */
ssize_t nfsappend_hook_write(int fd, const void *buf, size_t n);

#endif
