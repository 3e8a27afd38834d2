/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies between our memory and the caller's buffers that report EFAULT as
 * a system call would, instead of faulting while a lock is held.
 */
#ifndef NFSAPPEND_CORE_USERCOPY_H
#define NFSAPPEND_CORE_USERCOPY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Up to n bytes from position skip of the buffers on. How many (fewer where
 * a buffer ends in a hole or they end), or -EFAULT when none. */
ssize_t nfsappend_copy_in(const struct iovec *, int iovcnt, size_t skip,
	uint8_t *to, size_t n);
ssize_t nfsappend_copy_out(const struct iovec *, int iovcnt, size_t skip,
	const uint8_t *from, size_t n);

#endif
