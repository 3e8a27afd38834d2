/* Until no descriptor is left, and on from there. */
#include "semantics.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct rlimit limit = {64, 64};
	int fds[64], count = 0, log = open_log(dir, "log", 0);

	append(log, "before\n");
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit");
	for (; count < 64; count++) {
		fds[count] = open(path_in(dir, "many"),
			O_WRONLY | O_APPEND | O_CREAT, 0644);
		if (fds[count] < 0)
			break;
	}
	note_call("the last open", fds[count]);
	/* A few are not the program's. */
	note("most of them %d", count >= 50);
	note_call("dup", dup(log));
	append(log, "none left\n");
	for (int i = 0; i < count; i++)
		if (write(fds[i], "", 0))
			die("write");
	append(fds[0], "the first\n");
	append(fds[count - 1], "the last\n");
	close(fds[0]);
	fds[0] = open_log(dir, "many", 0);
	append(fds[0], "opened again\n");
	note_call("one too many",
		open(path_in(dir, "many"), O_WRONLY | O_APPEND));
	for (int i = 0; i < count; i++)
		close(fds[i]);
	append(log, "after\n");
	return 0;
}
