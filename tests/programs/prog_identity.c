/*
 * prog_identity FILE MODE COUNT HOW [UID | PROGRAM]: opens FILE (made with
 * MODE, octal) as root, and appends COUNT records of 100 bytes; then again what
 * a child does that has become less by HOW: one of setuid, setreuid, setresuid
 * to UID, or capset, which gives up all, each by its libc name, or by
 * syscall(2) with "raw-" before it; or raw-execve: the child runs PROGRAM with
 * FILE as descriptor 1, the name HOW and COUNT.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "prog.h"

extern int capset(cap_user_header_t, cap_user_data_t);
extern char **environ;

static int become(const char *how, const char *arg)
{
	struct __user_cap_header_struct to = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}};
	uid_t uid = (uid_t)atol(arg);

	if (strcmp(how, "setuid") == 0)
		return setuid(uid);
	if (strcmp(how, "setreuid") == 0)
		return setreuid(uid, uid);
	if (strcmp(how, "setresuid") == 0)
		return setresuid(uid, uid, uid);
	if (strcmp(how, "capset") == 0)
		return capset(&to, none);
	if (strcmp(how, "raw-setuid") == 0)
		return (int)syscall(SYS_setuid, uid);
	if (strcmp(how, "raw-setreuid") == 0)
		return (int)syscall(SYS_setreuid, uid, uid);
	if (strcmp(how, "raw-setresuid") == 0)
		return (int)syscall(SYS_setresuid, uid, uid, uid);
	if (strcmp(how, "raw-capset") == 0)
		return (int)syscall(SYS_capset, &to, none);
	return -1;
}

int main(int argc, char **argv)
{
	int fd, status = 0;
	long count;

	if (argc < 5)
		return 2;
	count = atol(argv[3]);
	fd = open_append(argv[1]);
	if (fchmod(fd, (mode_t)strtol(argv[2], NULL, 8)) != 0)
		fail("fchmod");
	if (append_records(fd, "root", count) != 0)
		return 1;
	fflush(stdout);
	if (fork() == 0) {
		const char *arg = argc > 5 ? argv[5] : "0";

		if (strcmp(argv[4], "raw-execve") == 0) {
			char *args[] = {argv[5], argv[4], argv[3], NULL};

			dup2(fd, 1);
			syscall(SYS_execve, arg, args, environ);
			return 4;
		}
		if (become(argv[4], arg) != 0)
			return 3;
		return append_records(fd, argv[4], count);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}
