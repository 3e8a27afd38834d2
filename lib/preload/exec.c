/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a process image: the statistics line goes out before exec() and
 * exit. Descriptors live on by themselves. A program below a map is refused.
 */
#include "config.h"

#include <alloca.h>
#include <fcntl.h>
#include <spawn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/handover.h"
#include "core/log.h"
#include "core/program.h"
#include "core/query.h"
#include "core/stats.h"
#include "preload/foreign.h"
#include "preload/path.h"
#include "preload/start.h"
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

/* A program that will run without us cannot use our placeholders: where it
 * inherits some of files on kernel mounts, the kernel serves those. path: as
 * execveat(2) has it. */
static void hand_on(int dirfd, const char *path, char *const envp[])
{
	struct nfsappend_guard guard;
	const char *why;

	if (!nfsappend_active || nfsappend_depth != 0 || path == NULL ||
		!nfsappend_start())
		return;
	nfsappend_guard_enter(&guard);
	if (nfsappend_hands_on(false)) {
		why = nfsappend_program_without_us(dirfd, path, envp);
		if (why != NULL)
			nfsappend_hand_on(path, why);
	}
	nfsappend_guard_leave(&guard);
}

/* Apart: its frame is large. */
static NFSAPPEND_APART void find_and_hand_on(const char *file,
	char *const envp[])
{
	char path[PATH_MAX];

	if (nfsappend_program_find(file, environ, path, sizeof path))
		hand_on(AT_FDCWD, path, envp);
}

static void hand_on_found(const char *file, char *const envp[])
{
	if (nfsappend_active)
		find_and_hand_on(file, envp);
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

static int refuse(const char *path)
{
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_UNSUPPORTED,
		"%s: a program under NFSAPPEND_MAP cannot be run, since the "
		"kernel does not see it; the program that tried gets EACCES; "
		"copy it to a local disk",
		path);
	return -EACCES;
}

/* The kernel cannot load what only we can read. */
static int refuse_program(int dirfd, const char *path)
{
	int r = nfsappend_path_access(dirfd, path, X_OK, AT_EACCESS);

	return r != 0 ? r : refuse(path);
}

static bool refuse_descriptor(int fd)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, fd))
		return false;
	nfsappend_use_end(&use);
	errno = -refuse("the file of the descriptor");
	return true;
}

static void warn_foreign(const char *path)
{
	if (nfsappend_active)
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_UNSUPPORTED,
			"%s: a program of another C library runs without "
			"nfsappend; what it writes to mapped files fails; use "
			"one that is linked against glibc",
			path);
}

/* envp for the program: as it is, or without us. */
#define ENVIRONMENT_FOR(dirfd, path, search, envp)                             \
	do {                                                                   \
		size_t room_ = nfsappend_foreign_room(envp);                   \
		if (room_ > 0 && nfsappend_foreign((dirfd), (path), (search))) { \
			warn_foreign(path);                                    \
			(envp) = nfsappend_foreign_environment((envp),         \
				alloca(room_));                                \
		}                                                              \
	} while (0)

NFSAPPEND_HOOK int execve(const char *path, char *const argv[],
	char *const envp[])
{
	hand_on(AT_FDCWD, path, envp);
	image_ends();
	ENVIRONMENT_FOR(AT_FDCWD, path, false, envp);
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		refuse_program(AT_FDCWD, path),
		NFSAPPEND_REAL(execve)(path, argv, envp));
}

NFSAPPEND_HOOK int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

/* Without a slash it is looked for in $PATH, by glibc. */
NFSAPPEND_HOOK int execvpe(const char *file, char *const argv[],
	char *const envp[])
{
	hand_on_found(file, envp);
	image_ends();
	ENVIRONMENT_FOR(AT_FDCWD, file, true, envp);
	if (strchr(file, '/') == NULL)
		return NFSAPPEND_REAL(execvpe)(file, argv, envp);
	NFSAPPEND_PATH_CALL(AT_FDCWD, file, false,
		refuse_program(AT_FDCWD, file),
		NFSAPPEND_REAL(execvpe)(file, argv, envp));
}

NFSAPPEND_HOOK int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

NFSAPPEND_HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
	hand_on(fd, "", envp);
	image_ends();
	return refuse_descriptor(fd) ? -1
				     : NFSAPPEND_REAL(fexecve)(fd, argv, envp);
}

NFSAPPEND_HOOK int execveat(int fd, const char *path, char *const argv[],
	char *const envp[], int flags)
{
	hand_on(fd, path, envp);
	image_ends();
	if (flags & AT_EMPTY_PATH && path[0] == '\0' && refuse_descriptor(fd))
		return -1;
	ENVIRONMENT_FOR(fd, path, false, envp);
	NFSAPPEND_PATH_CALL(fd, path, false, refuse_program(fd, path),
		NFSAPPEND_REAL(execveat)(fd, path, argv, envp, flags));
}

/* These return the error; they call execve() inside libc. */
static int refuse_spawn(const char *path)
{
	int saved = errno, r;

	if (strchr(path, '/') == NULL ||
		!nfsappend_path_before(AT_FDCWD, path, false))
		return 0;
	r = refuse_program(AT_FDCWD, path);
	errno = saved;
	return r == NFSAPPEND_NOT_OURS ? 0 : -r;
}

/* The same for a child: its files here, its descriptors there, by a program
 * that runs before the one that is wanted. NULL: not needed. */
static const char *trampoline(const char *path, char *const envp[])
{
	struct nfsappend_guard guard;
	const char *why = NULL;

	if (!nfsappend_active || nfsappend_depth != 0 || path == NULL ||
		!nfsappend_start())
		return NULL;
	nfsappend_guard_enter(&guard);
	if (nfsappend_hands_on(true)) {
		why = nfsappend_program_without_us(AT_FDCWD, path, envp);
		if (why != NULL)
			nfsappend_hand_on_files(path, why);
	}
	nfsappend_guard_leave(&guard);
	return why != NULL ? nfsappend_beside("nfsappend-exec") : NULL;
}

/* As execve(2) would find it, so that a program that is not there is told by
 * posix_spawn() itself. */
static bool executable(const char *path)
{
	return nfsappend_sys(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0, 0,
		       0) == 0;
}

/* trampoline PROGRAM ARGV... */
static int spawn_by(const char *trampoline, pid_t *pid, const char *path,
	const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	size_t n = 0;
	char **args;

	while (argv != NULL && argv[n] != NULL)
		n++;
	args = alloca((n + 3) * sizeof *args);
	args[0] = (char *)trampoline;
	args[1] = (char *)path;
	for (size_t i = 0; i <= n; i++)
		args[2 + i] = argv != NULL ? argv[i] : NULL;
	return NFSAPPEND_REAL(posix_spawn)(pid, trampoline, actions, attr,
		args, envp);
}

NFSAPPEND_HOOK int posix_spawn(pid_t *pid, const char *path,
	const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	const char *by;
	int r = refuse_spawn(path);

	if (r != 0)
		return r;
	ENVIRONMENT_FOR(AT_FDCWD, path, false, envp);
	path = NFSAPPEND_PATH_OUT(AT_FDCWD, path);
	by = executable(path) ? trampoline(path, envp) : NULL;
	if (by != NULL)
		return spawn_by(by, pid, path, actions, attr, argv, envp);
	return NFSAPPEND_REAL(posix_spawn)(pid, path, actions, attr, argv,
		envp);
}

NFSAPPEND_HOOK int posix_spawnp(pid_t *pid, const char *file,
	const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	char *path = nfsappend_active ? alloca(PATH_MAX) : NULL;
	const char *by = NULL;
	int r = refuse_spawn(file);

	if (r != 0)
		return r;
	if (path != NULL &&
		nfsappend_program_find(file, environ, path, PATH_MAX))
		by = trampoline(path, envp);
	if (by != NULL)
		return spawn_by(by, pid, path, actions, attr, argv, envp);
	ENVIRONMENT_FOR(AT_FDCWD, file, true, envp);
	return NFSAPPEND_REAL(posix_spawnp)(pid, file, actions, attr, argv,
		envp);
}

/* These spawn a shell inside libc, with the environment as it is. */
NFSAPPEND_HOOK int system(const char *command)
{
	if (command != NULL)
		hand_on(AT_FDCWD, "/bin/sh", environ);
	return NFSAPPEND_REAL(system)(command);
}

NFSAPPEND_HOOK FILE *popen(const char *command, const char *mode)
{
	hand_on(AT_FDCWD, "/bin/sh", environ);
	return NFSAPPEND_REAL(popen)(command, mode);
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
