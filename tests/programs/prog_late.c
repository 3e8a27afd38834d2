/*
 * prog_late FILE COUNT MS [open]: appends COUNT records of 100 bytes to FILE,
 * MS milliseconds apart, opening it anew for each with "open", while a child
 * that had opened it before polls for them every millisecond. Prints how many
 * milliseconds after its write() the first, the last, the median and the
 * latest record were seen, and how many NUL bytes. Ends with 3 when one was
 * not seen in 30 s.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "prog.h"

#define MAX 10000

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int by_size(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static int watch(int fd, long count, volatile long *written)
{
	static long late[MAX];
	static char buf[1 << 16];
	long seen = 0, bytes = 0, nuls = 0, first, last;
	long end = now_ms() + 30000;

	while (seen < count) {
		ssize_t n = read(fd, buf, sizeof buf);
		long now = now_ms();

		for (ssize_t i = 0; i < n; i++)
			nuls += buf[i] == '\0';
		bytes += n > 0 ? n : 0;
		for (; seen < count && bytes >= (seen + 1) * 100; seen++)
			late[seen] =
				written[seen] != 0 ? now - written[seen] : 0;
		if (n > 0)
			end = now + 30000;
		else if (now > end)
			return 3;
		usleep(1000);
	}
	first = late[0];
	last = late[count - 1];
	qsort(late, (size_t)count, sizeof *late, by_size);
	printf("first %ld last %ld median %ld latest %ld ms, %ld NUL\n", first,
		last, late[count / 2], late[count - 1], nuls);
	return nuls > 0;
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[2]) : 0;
	int each = argc > 4, in, fd = -1, status;
	long *written = mmap(NULL, MAX * sizeof *written,
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char record[101];
	pid_t child;

	if (count < 1 || count > MAX || written == MAP_FAILED)
		return 2;
	in = open(argv[1], O_RDONLY | O_CREAT, 0644);
	if (in < 0)
		fail("open");
	lseek(in, 0, SEEK_END);
	child = fork();
	if (child == 0) {
		status = watch(in, count, written);
		fflush(stdout);
		_exit(status);
	}
	close(in);
	usleep(20000);
	for (long i = 0; i < count; i++) {
		if (fd < 0)
			fd = open_append(argv[1]);
		memset(record, 'a' + (int)(i % 26), 100);
		record[99] = '\n';
		append(fd, record, 100);
		written[i] = now_ms();
		if (each) {
			close(fd);
			fd = -1;
		}
		if (i + 1 < count)
			usleep((useconds_t)atol(argv[3]) * 1000);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}
