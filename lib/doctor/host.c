/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The user, what he may do, and where his processes meet. */
#include "config.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

#include "core/config_env.h"
#include "core/log.h"
#include "core/process.h"
#include "core/segment.h"
#include "core/server.h"
#include "core/userns.h"
#include "doctor/nfs.h"

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

static void credentials(void)
{
	struct nfsappend_target target = {.version = 3};
	struct nfsappend_cred cred;
	char groups[256] = "";
	int n = getgroups(0, NULL);
	size_t at = 0;

	nfsappend_cred_now(&cred, &target);
	for (unsigned i = 0; i < cred.ngroups && at < sizeof groups - 12; i++)
		at += (size_t)snprintf(groups + at, sizeof groups - at, "%s%u",
			i > 0 ? "," : "", cred.groups[i]);
	doctor_found(DOCTOR_OK,
		"servers are told (AUTH_SYS): user %u, group %u, further "
		"groups %s",
		cred.uid, cred.gid, groups[0] != '\0' ? groups : "none");
	if (n > NFSAPPEND_GROUPS_MAX) {
		doctor_found(DOCTOR_WARN,
			"you are in %d groups, and AUTH_SYS carries the first "
			"%d: files that only the others may write are refused",
			n, NFSAPPEND_GROUPS_MAX);
		doctor_cure("lessen the groups, or let the server look them up "
			    "itself (manage-gids=y in the [mountd] section of "
			    "its nfs.conf)");
	}
	if (cred.uid != geteuid())
		doctor_found(DOCTOR_NOTE,
			"this is a user namespace: user %u in it is user %u "
			"to the server",
			(unsigned)geteuid(), cred.uid);
	if (getuid() != geteuid() || getgid() != getegid()) {
		doctor_found(DOCTOR_WARN,
			"the real and the effective user or group differ: the "
			"loader ignores LD_PRELOAD for such programs");
		doctor_cure("become the user wholly (setpriv, runuser)");
	}
}

/* 0, or the errno of the last bind(). */
static int bind_low(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in in = {.sin_family = AF_INET};
	int error = EADDRINUSE;

	for (int port = 1023; fd >= 0 && port >= 665 && error == EADDRINUSE;
		port--) {
		in.sin_port = htons((uint16_t)port);
		error = bind(fd, (struct sockaddr *)&in, sizeof in) == 0
				? 0
				: errno;
	}
	if (fd >= 0)
		close(fd);
	return error;
}

bool doctor_low_port(void)
{
	return bind_low() == 0;
}

static void reserved_port(void)
{
	int error = bind_low();

	if (error == 0) {
		doctor_found(DOCTOR_OK, "ports below 1024 may be used, as "
					"'secure' exports demand");
	} else if (error == EADDRINUSE) {
		doctor_found(DOCTOR_WARN,
			"all ports from 665 to 1023 are in use: 'secure' "
			"exports cannot be reached");
		doctor_cure("export with 'insecure', or see who holds them "
			    "(ss -tnp)");
	} else {
		doctor_found(DOCTOR_NOTE,
			"ports below 1024 may not be used (%s): exports need "
			"the option 'insecure' for this user",
			strerror(error));
	}
}

/* Calls that filters of containers and services forbid. */
static void filters(void)
{
	char here[8] = "x", there[8];
	struct iovec local = {there, 1}, remote = {here, 1};
	char handle[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	int id, fd = memfd_create("doctor", MFD_CLOEXEC);

	if (fd < 0) {
		doctor_found(DOCTOR_FAIL,
			"memfd_create() is refused (%s): files under -m cannot "
			"be opened",
			strerror(errno));
		doctor_cure("allow it in the filter of system calls (seccomp) "
			    "of this container or service");
	} else {
		close(fd);
	}
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1) {
		doctor_found(DOCTOR_WARN,
			"process_vm_readv() is refused (%s): a bad buffer "
			"given "
			"to write() ends the program instead of EFAULT",
			strerror(errno));
		doctor_cure("allow it in the filter of system calls (seccomp)");
	}
	memset(handle, 0, sizeof handle);
	((struct file_handle *)(void *)handle)->handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(AT_FDCWD, "/proc", (void *)handle, &id, 0) != 0 &&
		(errno == EPERM || errno == ENOSYS)) {
		doctor_found(DOCTOR_NOTE,
			"name_to_handle_at() is refused (%s): files on mounts "
			"are looked up by name, which takes a few RPCs more",
			strerror(errno));
	}
	if (prctl(PR_GET_MDWE, 0, 0, 0, 0) > 0)
		doctor_found(DOCTOR_NOTE, "MemoryDenyWriteExecute is on "
					  "(PR_SET_MDWE): nfsappend works "
					  "under it");
}

static void tell_lonely(const char *directory)
{
	char path[NFSAPPEND_DIR_MAX];
	struct statvfs fs;
	struct stat st;

	snprintf(path, sizeof path, "%s", directory);
	if (lstat(path, &st) != 0)
		doctor_found(DOCTOR_WARN,
			"host segment directory %s: %s; processes of this host "
			"do not meet, and each appends as a host of its own",
			path, strerror(errno));
	else
		doctor_found(DOCTOR_WARN,
			"host segment directory %s (mode %04o, user %u) cannot "
			"be used; processes of this host do not meet, and each "
			"appends as a host of its own",
			path, (unsigned)st.st_mode & 07777,
			(unsigned)st.st_uid);
	if (statvfs(path, &fs) == 0 && fs.f_bavail == 0)
		doctor_cure("its file system is full: make room (a container's "
			    "/dev/shm: --shm-size)");
	else
		doctor_cure(
			"it has to be a directory of mode 0700 that belongs "
			"to user %u, on a file system with space; name one "
			"with NFSAPPEND_RUNTIME",
			(unsigned)geteuid());
}

static unsigned files_in(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *e;
	unsigned n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return n;
}

/* Makes one, as an append would, and removes it. */
static void segments(void)
{
	struct nfsappend_segment_view view;
	char key[32], directory[NFSAPPEND_DIR_MAX], *slash;
	int n = snprintf(key, sizeof key, "doctor %d", (int)getpid());

	doctor_step("making a host segment");
	if (nfsappend_config.runtime != NULL)
		snprintf(directory, sizeof directory, "%s",
			nfsappend_config.runtime);
	else
		snprintf(directory, sizeof directory, "/dev/shm/nfsappend-%u",
			(unsigned)geteuid());
	/* Its own message says less than ours. */
	nfsappend_log_configure(NFSAPPEND_OFF, NULL);
	if (nfsappend_process_start() != 0 ||
		nfsappend_segment_open(&view, key, (size_t)n) != 0 ||
		view.is_private) {
		tell_lonely(directory);
		return;
	}
	unlink(view.path);
	snprintf(directory, sizeof directory, "%s", view.path);
	slash = strrchr(directory, '/');
	if (slash != NULL)
		*slash = '\0';
	doctor_found(DOCTOR_OK,
		"processes of this user meet in %s (%u segments there)",
		directory, files_in(directory));
}

void doctor_host(void *unused)
{
	(void)unused;
	doctor_step("looking at this user");
	/* The groups are told here. */
	nfsappend_log_configure(NFSAPPEND_OFF, NULL);
	credentials();
	reserved_port();
	filters();
	segments();
}
