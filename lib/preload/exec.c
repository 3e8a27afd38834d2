/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a process image: the statistics line goes out before exec() and
 * exit. Descriptors live on by themselves.
 */
#include "config.h"

#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/file.h"
#include "core/stats.h"
#include "preload/hook.h"
#include "preload/stdio_slots.h"

extern int execveat(int, const char *, char *const[], char *const[], int);

/* A vfork child's figures are its parent's. */
static void image_ends(void)
{
	int saved = errno;

	if (nfsappend_active && nfsappend_file_any() &&
		!nfsappend_in_vfork_child())
		nfsappend_stats_write();
	errno = saved;
}

__attribute__((destructor)) static void destruct(void)
{
	/* Nothing is torn down here: stdio flushes after it. */
	if (nfsappend_active && nfsappend_file_any() &&
		!nfsappend_in_vfork_child())
		nfsappend_stdio_exiting();
}

NFSAPPEND_HOOK void _exit(int status)
{
	image_ends();
	NFSAPPEND_REAL(_exit)(status);
	__builtin_unreachable();
}

NFSAPPEND_HOOK void _Exit(int status)
{
	_exit(status);
}

NFSAPPEND_HOOK int execve(const char *path, char *const argv[],
	char *const envp[])
{
	image_ends();
	return NFSAPPEND_REAL(execve)(path, argv, envp);
}

NFSAPPEND_HOOK int execv(const char *path, char *const argv[])
{
	image_ends();
	return NFSAPPEND_REAL(execv)(path, argv);
}

NFSAPPEND_HOOK int execvp(const char *file, char *const argv[])
{
	image_ends();
	return NFSAPPEND_REAL(execvp)(file, argv);
}

NFSAPPEND_HOOK int execvpe(const char *file, char *const argv[],
	char *const envp[])
{
	image_ends();
	return NFSAPPEND_REAL(execvpe)(file, argv, envp);
}

NFSAPPEND_HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
	image_ends();
	return NFSAPPEND_REAL(fexecve)(fd, argv, envp);
}

NFSAPPEND_HOOK int execveat(int fd, const char *path, char *const argv[],
	char *const envp[], int flags)
{
	image_ends();
	return NFSAPPEND_REAL(execveat)(fd, path, argv, envp, flags);
}

/* The arguments up to the NULL as an array on the stack, as glibc does; no
 * malloc, since a vfork child may call these. Leaves ap behind the NULL. */
#define COLLECT(argv, first, ap)                                               \
	do {                                                                   \
		va_list count_;                                                \
		size_t n_ = 1, i_ = 0;                                         \
		va_copy(count_, ap);                                           \
		while (va_arg(count_, char *) != NULL)                         \
			n_++;                                                  \
		va_end(count_);                                                \
		(argv) = alloca((n_ + 1) * sizeof(char *));                    \
		(argv)[i_++] = (char *)(first);                                \
		do                                                             \
			(argv)[i_] = va_arg(ap, char *);                       \
		while ((argv)[i_++] != NULL);                                  \
	} while (0)

NFSAPPEND_HOOK int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list ap;

	va_start(ap, arg);
	COLLECT(argv, arg, ap);
	va_end(ap);
	return execv(path, argv);
}

NFSAPPEND_HOOK int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list ap;

	va_start(ap, arg);
	COLLECT(argv, arg, ap);
	va_end(ap);
	return execvp(file, argv);
}

NFSAPPEND_HOOK int execle(const char *path, const char *arg, ...)
{
	char **argv, **envp;
	va_list ap;

	va_start(ap, arg);
	COLLECT(argv, arg, ap);
	envp = va_arg(ap, char **);
	va_end(ap);
	return execve(path, argv, envp);
}
