/* writev: many vectors, empty ones, too many. */
#include "semantics.h"
#include <limits.h>
#include <sys/uio.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	static struct iovec iov[1025];
	static char text[1025][8];
	volatile int negative = -1;
	int log = open_log(dir, "log", 0);

	for (int i = 0; i < 1025; i++) {
		snprintf(text[i], sizeof(text[i]), "%06d\n", i);
		iov[i].iov_base = text[i];
		iov[i].iov_len = 7;
	}
	note_call("1024 vectors", writev(log, iov, 1024));
	note_call("offset", position(log));
	note_call("1025 vectors", writev(log, iov, 1025));
	note_call("none", writev(log, iov, 0));
	note_call("-1", writev(log, iov, negative));
	iov[1].iov_len = 0;
	iov[2].iov_base = NULL;
	iov[2].iov_len = 0;
	note_call("with empty ones", writev(log, iov, 5));
	iov[1].iov_len = SSIZE_MAX;
	note_call("too long", writev(log, iov, 3));
	iov[0].iov_len = 0;
	note_call("only empty", writev(log, iov, 1));
	iov[0].iov_len = 1;
	for (int i = 0; i < 100; i++)
		if (writev(log, iov, 1) != 1)
			die("writev");
	note_call("end", lseek(log, 0, SEEK_END));
	return 0;
}
