/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nfsappend-exec PROGRAM ARG0 [ARG]...: opens for writing what it has inherited
 * of our placeholders on kernel NFS mounts, and becomes PROGRAM. The shim runs
 * it in the child of a posix_spawn(), after the file actions, when the program
 * itself would run without the shim. Whoever runs it has made the files the
 * kernel's before.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/placeholder.h"

extern char **environ;

/* By system calls, should the shim be in this program. */
static void open_for_writing(int fd)
{
	long sig = sys_fcntl(fd, F_GETSIG, 0), flags = sys_fcntl(fd, F_GETFL, 0);
	char link[40];
	long new;

	if (!nfsappend_is_marker(sig) || flags < 0 ||
		(flags & O_ACCMODE) != O_RDONLY ||
		sys_fcntl(fd, F_GET_SEALS, 0) >= 0)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	new = sys_openat(AT_FDCWD, link,
		(sig == NFSAPPEND_MARKER_RDWR ? O_RDWR : O_WRONLY) | O_SYNC |
			(int)(flags & (O_APPEND | O_NONBLOCK)),
		0);
	if (new < 0) {
		fprintf(stderr,
			"nfsappend-exec: descriptor %d cannot be opened for "
			"writing: %s\n",
			fd, strerror((int)-new));
		return;
	}
	sys_fcntl((int)new, F_SETSIG, sig);
	nfsappend_sys(SYS_dup3, new, fd, 0, 0, 0, 0);
	sys_close((int)new);
}

int main(int argc, char **argv)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	long r;

	if (argc < 3) {
		fprintf(stderr, "usage: nfsappend-exec PROGRAM ARG0 [ARG]...\n");
		return 125;
	}
	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(dir))
			open_for_writing(atoi(e->d_name));
	if (dir != NULL)
		closedir(dir);
	r = nfsappend_sys(SYS_execve, (long)argv[1], (long)(argv + 2),
		(long)environ, 0, 0, 0);
	fprintf(stderr, "nfsappend-exec: %s: %s\n", argv[1],
		strerror((int)-r));
	return r == -ENOENT ? 127 : 126;
}
