/* pwrite on O_APPEND appends, and leaves the offset alone. */
#include "semantics.h"
#include <sys/uio.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct iovec iov[2] = {{"pwritev ", 8}, {"appends\n", 8}};
	int log;

	seed(dir, "log", "0123456789\n");
	log = open_log(dir, "log", 0);
	note_call("pwrite", pwrite(log, "pwrite\n", 7, 0));
	note_call("offset", position(log));
	append(log, "write\n");
	note_call("offset", position(log));
	note_call("pwrite64", pwrite64(log, "pwrite64\n", 9, 1L << 33));
	note_call("offset", position(log));
	note_call("pwritev", pwritev(log, iov, 2, 3));
	note_call("pwritev64", pwritev64(log, iov, 2, 5));
	note_call("offset", position(log));
	note_call("negative", pwrite(log, "x", 1, -1));
	note_call("negative", pwritev(log, iov, 2, -7));
	note_call("empty", pwrite(log, "", 0, 0));
	note_call("end", lseek(log, 0, SEEK_END));
	return 0;
}
