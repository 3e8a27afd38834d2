/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall(2): the numbers that have a hook by name (node closes this way). */
#include "config.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef SYS_close_range /* glibc before 2.32 does not know it */
#define SYS_close_range 436
#endif

#include "core/config_env.h"
#include "preload/hook.h"
#include "preload/identity.h"
#include "preload/syscall.h"

extern int close_range(unsigned, unsigned, int);

/* Offsets of the v-calls come in two halves (pwritev(2), C library/kernel
 * differences); on 64-bit hosts the low one has it all. */
NFSAPPEND_HOOK long syscall(long number, ...)
{
	va_list ap;
	long a[6], result;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!nfsappend_active || nfsappend_depth != 0)
		goto real;
	switch (number) {
	case SYS_close:
		return close((int)a[0]);
	case SYS_close_range:
		return close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
	case SYS_dup:
		return dup((int)a[0]);
#ifdef SYS_dup2
	case SYS_dup2:
		return dup2((int)a[0], (int)a[1]);
#endif
	case SYS_dup3:
		return dup3((int)a[0], (int)a[1], (int)a[2]);
	case SYS_fcntl:
		return fcntl((int)a[0], (int)a[1], (void *)a[2]);
	case SYS_write:
		return write((int)a[0], (void *)a[1], (size_t)a[2]);
	case SYS_pwrite64:
		return pwrite((int)a[0], (void *)a[1], (size_t)a[2], a[3]);
	case SYS_writev:
		return writev((int)a[0], (void *)a[1], (int)a[2]);
	case SYS_pwritev:
		return pwritev((int)a[0], (void *)a[1], (int)a[2], a[3]);
	case SYS_pwritev2:
		return pwritev2((int)a[0], (void *)a[1], (int)a[2], a[3],
			(int)a[5]);
	case SYS_read:
		return read((int)a[0], (void *)a[1], (size_t)a[2]);
	case SYS_pread64:
		return pread((int)a[0], (void *)a[1], (size_t)a[2], a[3]);
	case SYS_readv:
		return readv((int)a[0], (void *)a[1], (int)a[2]);
	case SYS_preadv:
		return preadv((int)a[0], (void *)a[1], (int)a[2], a[3]);
	case SYS_preadv2:
		return preadv2((int)a[0], (void *)a[1], (int)a[2], a[3],
			(int)a[5]);
	case SYS_fstat:
		return fstat((int)a[0], (void *)a[1]);
	case SYS_ftruncate:
		return ftruncate((int)a[0], a[1]);
	case SYS_fallocate:
		return fallocate((int)a[0], (int)a[1], a[2], a[3]);
	case SYS_sendfile:
		return sendfile((int)a[0], (int)a[1], (void *)a[2],
			(size_t)a[3]);
	case SYS_copy_file_range:
		return copy_file_range((int)a[0], (void *)a[1], (int)a[2],
			(void *)a[3], (size_t)a[4], (unsigned)a[5]);
	case SYS_recvmsg:
		return recvmsg((int)a[0], (void *)a[1], (int)a[2]);
	case SYS_sendmsg:
		return sendmsg((int)a[0], (void *)a[1], (int)a[2]);
	case SYS_sendmmsg:
		return sendmmsg((int)a[0], (void *)a[1], (unsigned)a[2],
			(int)a[3]);
	case SYS_setuid:
		nfsappend_becomes((uid_t)a[0]);
		break;
	case SYS_setreuid:
	case SYS_setresuid:
		nfsappend_becomes((uid_t)a[1]);
		break;
	case SYS_capset:
		nfsappend_gives_up((void *)a[1]);
		break;
	case SYS_fchmod:
		return fchmod((int)a[0], (mode_t)a[1]);
	case SYS_fchown:
		return fchown((int)a[0], (uid_t)a[1], (gid_t)a[2]);
	case SYS_lseek:
		return lseek((int)a[0], a[1], (int)a[2]);
	case SYS_fsync:
		return fsync((int)a[0]);
	case SYS_fdatasync:
		return fdatasync((int)a[0]);
	case SYS_splice: /* the kernel would copy the placeholder's text */
		return splice((int)a[0], (void *)a[1], (int)a[2],
			(void *)a[3], (size_t)a[4], (unsigned)a[5]);
	case SYS_prlimit64:
		return prlimit64((pid_t)a[0], (enum __rlimit_resource)a[1],
			(void *)a[2], (void *)a[3]);
	case SYS_setrlimit:
		return setrlimit((__rlimit_resource_t)a[0], (void *)a[1]);
	case SYS_mmap:
		return (long)mmap((void *)a[0], (size_t)a[1], (int)a[2],
			(int)a[3], (int)a[4], a[5]);
	case SYS_io_uring_setup:
		/* A ring writes past every hook; who gets ENOSYS falls back
		 * to system calls. */
		if (nfsappend_start() &&
			nfsappend_config.nmaps + nfsappend_config.npaths > 0) {
			errno = ENOSYS;
			return -1;
		}
		break;
	default:
		if (nfsappend_syscall_path(number, a, &result))
			return result;
		break;
	}
real:
	return NFSAPPEND_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4],
		a[5]);
}
