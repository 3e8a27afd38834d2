/* O_APPEND set by F_SETFL on a file that was opened without it. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int fd, flags, copy;

	seed(dir, "log", "0123456789\n");
	fd = open(path_in(dir, "log"), O_WRONLY);
	if (fd < 0)
		die("open");
	append(fd, "over");
	copy = dup(fd);
	flags = fcntl(fd, F_GETFL);
	note_call("F_SETFL", fcntl(fd, F_SETFL, flags | O_APPEND));
	append(copy, "appended\n");
	note_call("offset", position(fd));
	flags = fcntl(copy, F_GETFL);
	note("append %d", !!(flags & O_APPEND));
	append(fd, "again\n");
	note_call("F_SETFL", fcntl(copy, F_SETFL, flags & ~O_APPEND));
	note_call("seek", lseek(fd, 5, SEEK_SET));
	append(fd, "five");
	return 0;
}
