/* Started without standard descriptors: the log becomes 0, 1, 2. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);

	notes_fd = 100;
	if (argc < 3) {
		if (dup2(1, 100) != 100)
			return 99;
		close(0);
		close(1);
		close(2);
		execl(argv[0], argv[0], dir, "again", (char *)NULL);
		die("execl");
	}
	note_call("write to 1", write(1, "x", 1));
	note_call("write to 2", write(2, "x", 1));
	note_call("first", open_log(dir, "in", 0));
	note_call("second", open_log(dir, "out", 0));
	note_call("third", open_log(dir, "err", 0));
	printf("printf\n");
	fflush(stdout);
	errno = ENOENT;
	perror("perror");
	append(0, "by 0\n");
	append(1, "by 1\n");
	append(2, "by 2\n");
	note_call("system", system("echo child; echo child >&2"));
	close(2);
	note_call("a local file", open_local());
	append(2, "to the local file");
	note_local(2);
	return 0;
}
