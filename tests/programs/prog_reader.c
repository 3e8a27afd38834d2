/*
 * prog_reader FILE BYTES [US]: reads FILE as it grows, every US microseconds
 * (0: flat out), until it has had BYTES bytes; writes them to stdout, and to
 * stderr how many NUL bytes there were among them. Ends with 3 after 60 s in
 * which nothing came.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[1 << 16];
	long want = argc > 2 ? atol(argv[2]) : 0, had = 0, nuls = 0;
	useconds_t pause = argc > 3 ? (useconds_t)atol(argv[3]) : 0;
	time_t end = time(NULL) + 60;
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0)
		return 98;
	while (had < want && time(NULL) < end) {
		ssize_t n = read(fd, buf, sizeof buf);

		if (n < 0)
			return 97;
		for (ssize_t i = 0; i < n; i++)
			nuls += buf[i] == '\0';
		if (n > 0 && write(1, buf, (size_t)n) != n)
			return 97;
		had += n;
		if (n > 0)
			end = time(NULL) + 60;
		if (n == 0 && pause > 0)
			usleep(pause);
	}
	fprintf(stderr, "%ld bytes, %ld of them NUL\n", had, nuls);
	return had < want ? 3 : 0;
}
