/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw system calls. Inside the library nothing may reach a libc name that
 * we (or another preload) interpose, may be a cancellation point, or may
 * touch the program's errno; so everything below the hooks uses these.
 * Every function returns the kernel's value, which is -errno on failure.
 */
#ifndef NFSAPPEND_CORE_SYS_H
#define NFSAPPEND_CORE_SYS_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
static inline long nfsappend_sys(long nr, long a, long b, long c, long d,
	long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			 "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long nfsappend_sys(long nr, long a, long b, long c, long d,
	long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "no raw system calls for this processor"
#endif

static inline long sys_close(int fd)
{
	return nfsappend_sys(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_openat(int dir, const char *path, int flags, int mode)
{
	return nfsappend_sys(SYS_openat, dir, (long)path, flags, mode, 0, 0);
}

static inline long sys_read(int fd, void *buf, size_t n)
{
	return nfsappend_sys(SYS_read, fd, (long)buf, n, 0, 0, 0);
}

static inline long sys_write(int fd, const void *buf, size_t n)
{
	return nfsappend_sys(SYS_write, fd, (long)buf, n, 0, 0, 0);
}

static inline long sys_pread(int fd, void *buf, size_t n, off_t off)
{
	return nfsappend_sys(SYS_pread64, fd, (long)buf, n, off, 0, 0);
}

static inline long sys_pwrite(int fd, const void *buf, size_t n, off_t off)
{
	return nfsappend_sys(SYS_pwrite64, fd, (long)buf, n, off, 0, 0);
}

static inline long sys_lseek(int fd, off_t off, int whence)
{
	return nfsappend_sys(SYS_lseek, fd, off, whence, 0, 0, 0);
}

static inline long sys_fcntl(int fd, int cmd, long arg)
{
	return nfsappend_sys(SYS_fcntl, fd, cmd, arg, 0, 0, 0);
}

static inline long sys_ftruncate(int fd, off_t len)
{
	return nfsappend_sys(SYS_ftruncate, fd, len, 0, 0, 0, 0);
}

static inline long sys_fallocate(int fd, int mode, off_t off, off_t len)
{
	return nfsappend_sys(SYS_fallocate, fd, mode, off, len, 0, 0);
}

static inline long sys_flock(int fd, int op)
{
	return nfsappend_sys(SYS_flock, fd, op, 0, 0, 0, 0);
}

static inline long sys_statx(int dir, const char *path, int flags,
	unsigned mask, struct statx *stx)
{
	return nfsappend_sys(SYS_statx, dir, (long)path, flags, mask,
		(long)stx, 0);
}

static inline long sys_readlinkat(int dir, const char *path, char *buf,
	size_t n)
{
	return nfsappend_sys(SYS_readlinkat, dir, (long)path, (long)buf, n, 0,
		0);
}

static inline long sys_unlinkat(int dir, const char *path, int flags)
{
	return nfsappend_sys(SYS_unlinkat, dir, (long)path, flags, 0, 0, 0);
}

static inline long sys_mkdirat(int dir, const char *path, int mode)
{
	return nfsappend_sys(SYS_mkdirat, dir, (long)path, mode, 0, 0, 0);
}

static inline long sys_getcwd(char *buf, size_t n)
{
	return nfsappend_sys(SYS_getcwd, (long)buf, n, 0, 0, 0, 0);
}

static inline long sys_getdents64(int fd, void *buf, size_t n)
{
	return nfsappend_sys(SYS_getdents64, fd, (long)buf, n, 0, 0, 0);
}

static inline long sys_memfd_create(const char *name, unsigned flags)
{
	return nfsappend_sys(SYS_memfd_create, (long)name, flags, 0, 0, 0, 0);
}

static inline void *sys_mmap(size_t n, int prot, int flags, int fd)
{
	long r = nfsappend_sys(SYS_mmap, 0, n, prot, flags, fd, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

static inline long sys_munmap(void *p, size_t n)
{
	return nfsappend_sys(SYS_munmap, (long)p, n, 0, 0, 0, 0);
}

static inline long sys_madvise(void *p, size_t n, int advice)
{
	return nfsappend_sys(SYS_madvise, (long)p, n, advice, 0, 0, 0);
}

static inline pid_t sys_getpid(void)
{
	return nfsappend_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline pid_t sys_gettid(void)
{
	return nfsappend_sys(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline long sys_kill(pid_t pid, int sig)
{
	return nfsappend_sys(SYS_kill, pid, sig, 0, 0, 0, 0);
}

/* The kernel's signal set: 8 bytes, unlike glibc's sigset_t. */
typedef uint64_t nfsappend_sigset;

static inline long sys_sigprocmask(int how, const nfsappend_sigset *set,
	nfsappend_sigset *old)
{
	return nfsappend_sys(SYS_rt_sigprocmask, how, (long)set, (long)old, 8,
		0, 0);
}

static inline long sys_recv(int fd, void *buf, size_t n, int flags)
{
	return nfsappend_sys(SYS_recvfrom, fd, (long)buf, (long)n, flags, 0, 0);
}

static inline long sys_ppoll(struct pollfd *fds, unsigned n,
	const struct timespec *timeout, const nfsappend_sigset *mask)
{
	struct timespec t = timeout ? *timeout : (struct timespec){0, 0};

	return nfsappend_sys(SYS_ppoll, (long)fds, n, timeout ? (long)&t : 0,
		(long)mask, 8, 0);
}

static inline long sys_process_vm_readv(pid_t pid, const struct iovec *local,
	unsigned nlocal, const struct iovec *remote, unsigned nremote)
{
	return nfsappend_sys(SYS_process_vm_readv, pid, (long)local, nlocal,
		(long)remote, nremote, 0);
}

static inline long sys_getrlimit(int resource, struct rlimit *limit)
{
	return nfsappend_sys(SYS_prlimit64, 0, resource, 0, (long)limit, 0, 0);
}

/* CLOCK_MONOTONIC in ns; the vDSO's clock_gettime is not interposed. */
static inline int64_t nfsappend_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A tick behind at most (4 ms), at a fifth of the price. */
static inline int64_t nfsappend_now_coarse(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A file of /proc, as a string: how long it is, or -errno when it cannot be
 * opened. What does not fit into room is left out. */
static inline long sys_read_text(long dirfd, const char *path, char *text,
	size_t room)
{
	long fd = sys_openat(dirfd, path, O_RDONLY | O_CLOEXEC, 0), n = 0, r;

	if (fd < 0)
		return fd;
	while ((r = sys_read(fd, text + n, room - 1 - (size_t)n)) > 0)
		n += r;
	sys_close(fd);
	text[n] = '\0';
	return n;
}

#endif
