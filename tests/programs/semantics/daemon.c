/* daemon(): its dup2 onto 0, 1 and 2 happens inside libc. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log = open_log(dir, "log", 0), done[2];
	char byte;
	pid_t pid;

	notes_fd = fcntl(1, F_DUPFD_CLOEXEC, 100);
	if (dup2(log, 1) < 0 || dup2(log, 2) < 0 || pipe(done))
		die("dup2");
	append(1, "standard output\n");
	pid = fork();
	if (!pid) {
		if (daemon(1, 0))
			die("daemon");
		/* 1 and 2 are /dev/null now. */
		append(1, "nowhere\n");
		append(2, "nowhere\n");
		printf("nowhere\n");
		fflush(stdout);
		append(log, "the daemon\n");
		dup2(log, 1);
		printf("the daemon, restored\n");
		fflush(stdout);
		note("daemon done");
		_exit(0);
	}
	close(done[1]);
	/* The daemon ends when the pipe does. */
	if (read(done[0], &byte, 1) != 0)
		die("read");
	note_child(pid);
	append(1, "parent\n");
	append(log, "parent\n");
	if (daemon(1, 1))
		die("daemon");
	append(2, "noclose\n");
	note("done");
	return 0;
}
