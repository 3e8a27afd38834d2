/* ftruncate, then appends: they go to the new end. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log = open_log(dir, "log", 0), second = open_log(dir, "log", 0), fd;

	append(log, "0123456789");
	note_call("shorter", ftruncate(log, 4));
	note_call("offset", position(log));
	append(log, "abc");
	note_call("offset", position(log));
	note_call("end", lseek(log, 0, SEEK_END));
	note_call("by another", ftruncate(second, 2));
	append(log, "XYZ");
	note_call("offset", position(log));
	note_call("longer", ftruncate64(log, 20));
	append(second, "behind the zeroes\n");
	note_call("end", lseek(log, 0, SEEK_END));
	note_call("negative", ftruncate(log, -1));
	fd = open(path_in(dir, "log"), O_WRONLY | O_APPEND | O_TRUNC);
	if (fd < 0)
		die("open");
	append(log, "after O_TRUNC\n");
	note_call("offset", position(log));
	append(fd, "by the one that cut\n");
	for (int i = 0; i < 50; i++) {
		if (ftruncate(i % 2 ? log : second, 0))
			die("ftruncate");
		append(log, "round %d\n", i);
	}
	note_call("end", lseek(log, 0, SEEK_END));
	return 0;
}
