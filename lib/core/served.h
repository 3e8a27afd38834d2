/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files on kernel mounts that the kernel writes: by a descriptor of the
 * program's own, O_APPEND and O_SYNC, under the leader lock like every append
 * of ours, and on NFSv4 under the mutex byte, so that the hosts that run
 * nfsappend exclude each other either way.
 */
#ifndef NFSAPPEND_CORE_SERVED_H
#define NFSAPPEND_CORE_SERVED_H

#include "core/op.h"

/* As leader: writes len staged bytes to the end of the file. How many are on
 * stable storage, or -errno; the segment's size is the end behind them. */
ssize_t nfsappend_kernel_send(struct nfsappend_op *, uint32_t len);

/* The same at an offset: a write without O_APPEND. */
ssize_t nfsappend_kernel_send_at(struct nfsappend_op *, uint64_t offset,
	uint32_t len);

/* An open file description's lock on the mutex byte (fcntl(2)): apart from
 * the program's own flock() and fcntl() locks, and like them it makes the
 * kernel's client look at the server afresh. 0 or -errno, at once. */
int nfsappend_kernel_lock_byte(int fd, short type);

/* As leader, when the server has refused us altogether (EPERM): where that is
 * because this process may not use a port below 1024 any more, the kernel
 * serves the file from now on. True: send again. */
bool nfsappend_kernel_takes_over(struct nfsappend_op *);

enum nfsappend_kernel_call { NFSAPPEND_FTRUNCATE, NFSAPPEND_FALLOCATE };
/* As leader's: a call that needs a descriptor open for writing, on one of its
 * own. mode: of fallocate. 0 or -errno. */
int nfsappend_kernel_do(struct nfsappend_file *, int fd,
	enum nfsappend_kernel_call, int mode, off64_t offset, off64_t length);
/* fstat() as the kernel has it, by some descriptor of the file. */
int nfsappend_kernel_getattr(struct nfsappend_file *, struct nfsappend_attr *);

/* A descriptor of the file in this process, or -EBADF. */
int nfsappend_kernel_fd(struct nfsappend_file *);

/* From now on the kernel serves it, in all processes of this host segment:
 * says so, then waits for the leader and settles what is in doubt. Only then
 * may a descriptor of it be opened for writing. 0 or -errno. */
int nfsappend_kernel_convert(struct nfsappend_file *);

#endif
