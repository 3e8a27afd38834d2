/*
 * prog_drop FILE COUNT UID: opens FILE (mode 0600) as root, as nginx and rsyslog
 * do, and appends COUNT records of 100 bytes: as root, as a child that has
 * become UID while the parent appends too, and as UID itself.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "prog.h"

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[2]) : 0;
	int fd, status = 0, bad;
	uid_t uid;
	pid_t child;

	if (argc < 4)
		return 2;
	uid = (uid_t)atol(argv[3]);
	umask(077);
	fd = open_append(argv[1]);
	bad = append_records(fd, "root", count);
	child = fork();
	if (child == 0) {
		if (setgid(uid) != 0 || setuid(uid) != 0)
			return 3;
		return append_records(fd, "worker", count);
	}
	bad |= append_records(fd, "master", count);
	waitpid(child, &status, 0);
	if (setgid(uid) != 0 || setuid(uid) != 0)
		return 3;
	bad |= append_records(fd, "user", count);
	return bad || status != 0;
}
