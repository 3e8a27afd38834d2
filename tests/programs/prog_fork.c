/* prog_fork FILE: writes before fork, in the child, in a grandchild, after
   wait, and in a program that inherits the descriptor over exec. */
#include "prog.h"
#include <sys/wait.h>

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("fork");
	if (status)
		_exit(1);
}

int main(int argc, char **argv)
{
	char number[16];
	pid_t pid;
	int fd;

	if (argc == 3 && !strcmp(argv[1], "--inherited")) {
		append(atoi(argv[2]), "after exec\n", 11);
		return 0;
	}
	if (argc < 2)
		return 2;
	fd = open_append(argv[1]);
	append(fd, "before fork\n", 12);
	pid = fork();
	if (pid == 0) {
		append(fd, "child\n", 6);
		pid = fork();
		if (pid == 0) {
			append(fd, "grandchild\n", 11);
			_exit(0);
		}
		wait_for(pid);
		append(fd, "child again\n", 12);
		_exit(0);
	}
	wait_for(pid);
	append(fd, "parent\n", 7);
	printf("offset %ld\n", (long)lseek(fd, 0, SEEK_CUR));
	fflush(stdout);
	snprintf(number, sizeof(number), "%d", fd);
	execl(argv[0], argv[0], "--inherited", number, (char *)NULL);
	fail("exec");
}
