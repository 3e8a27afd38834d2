/* A chain of programs that hand the descriptor on; COUNT of them. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 8);
	char left[24], number[24];
	int log;

	if (argc > 3) {
		log = atoi(argv[3]);
		append(log, "%ld programs to come\n", count);
		note_call("offset", position(log));
		note("append %d", !!(fcntl(log, F_GETFL) & O_APPEND));
	} else {
		log = open_log(dir, "log", 0);
		append(log, "first\n");
		/* This one stays behind. */
		note("hidden %d", open_log(dir, "other", O_CLOEXEC) >= 0);
	}
	if (count == 0) {
		dup2(log, 1);
		execlp("sh", "sh", "-c", "echo sh; exec echo echo", NULL);
		die("execlp");
	}
	snprintf(left, sizeof(left), "%ld", count - 1);
	snprintf(number, sizeof(number), "%d",
		count % 2 ? dup2(log, log + 1) : log);
	switch (count % 3) {
	case 0:
		execl(argv[0], argv[0], dir, left, number, (char *)NULL);
		break;
	case 1:
		execve(argv[0],
			(char *[]){argv[0], argv[1], left, number, NULL},
			environ);
		break;
	default:
		fexecve(open("/proc/self/exe", O_RDONLY),
			(char *[]){argv[0], argv[1], left, number, NULL},
			environ);
	}
	die("exec");
}
