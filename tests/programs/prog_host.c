/* prog_host FILE COUNT NAME [SIZE]: COUNT records of SIZE bytes (100) by one
   write each, "NAME NUMBER letters", or all the same when NAME is "same".
   Prints how many were acknowledged when the last one was, or a write failed,
   and how long the longest took; after SIGTERM too, between two writes. */
#include <signal.h>
#include <time.h>

#include "prog.h"

static volatile sig_atomic_t stop;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

int main(int argc, char **argv)
{
	size_t size = argc > 4 ? strtoul(argv[4], NULL, 10) : 100;
	long count = argc > 2 ? atol(argv[2]) : 0, done = 0, longest = 0;
	char *record = malloc(size + 1);
	struct sigaction act = {.sa_handler = on_term, .sa_flags = SA_RESTART};
	int fd, unique;

	if (argc < 4 || size < 30 || !record)
		return 2;
	unique = strcmp(argv[3], "same") != 0;
	sigaction(SIGTERM, &act, NULL);
	fd = open_append(argv[1]);
	for (; done < count && !stop; done++) {
		memset(record, 'a' + (unique ? done % 26 : 0), size);
		record[snprintf(record, size, "%s %08ld", argv[3],
			unique ? done : 0)] = ' ';
		record[size - 1] = '\n';
		long start = now_ms(), took;
		ssize_t n = write(fd, record, size);

		took = now_ms() - start;
		if (took > longest)
			longest = took;

		if (n != (ssize_t)size) {
			report("write", n);
			break;
		}
	}
	printf("acknowledged %ld\nlongest %ld ms\n", done, longest);
	return done == count || stop ? 0 : 1;
}
