/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program of a run: processes that append to one file, as any program
 * would, with the library in it or without. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

static struct shared {
	_Atomic uint32_t ready, go, stop;
	_Atomic uint64_t tickets; /* drawn, BENCH_RECORDS or more */
	_Atomic uint64_t records; /* acknowledged, warm-up included */
	_Atomic uint64_t measured;
	_Atomic uint32_t us[BENCH_RECORDS]; /* that each took */
} * shared;

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static int failed(const char *what)
{
	printf("%s: %m\n", what);
	fflush(stdout);
	return 1;
}

static int one(int fd, bool flocked, const char *record)
{
	ssize_t n;

	if (flocked && flock(fd, LOCK_EX) != 0)
		return failed("flock");
	n = write(fd, record, BENCH_RECORD);
	if (n != BENCH_RECORD)
		return n < 0 ? failed("write") : failed("a short write");
	if (flocked && flock(fd, LOCK_UN) != 0)
		return failed("flock");
	shared->records++;
	return 0;
}

static int writer(const char *how, const char *path, unsigned me)
{
	bool flocked = strcmp(how, "flock") == 0;
	int flags = strcmp(how, "buffered") == 0 ? 0 : O_SYNC;
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | flags);
	char record[BENCH_RECORD];
	uint64_t ticket;

	if (fd < 0)
		return failed("open");
	memset(record, 'a' + (int)me % 26, sizeof record);
	record[sizeof record - 1] = '\n';
	if (one(fd, flocked, record) != 0)
		return 1;
	shared->ready++;
	while (!shared->go)
		usleep(500);
	while (!shared->stop && (ticket = shared->tickets++) < BENCH_RECORDS) {
		int64_t began = now_us();

		if (one(fd, flocked, record) != 0)
			return 1;
		shared->us[ticket] = (uint32_t)(now_us() - began);
		shared->measured++;
	}
	return close(fd) != 0 ? failed("close") : 0;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int report(const char *path, double seconds, uint64_t in_time)
{
	uint64_t n = shared->measured;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	/* open() asks the server for the size. */
	if (fd < 0 || fstat(fd, &st) != 0)
		return failed("the file cannot be looked at");
	close(fd);
	qsort((void *)shared->us, n, sizeof *shared->us, ascending);
	printf("result %.1f %u %llu %lld\n", (double)in_time / seconds,
		n > 0 ? shared->us[n / 2] : 0,
		(unsigned long long)shared->records,
		(long long)shared->records - st.st_size / BENCH_RECORD);
	return 0;
}

static int append(
	const char *how, const char *path, unsigned writers, unsigned ms)
{
	int64_t began, ended;
	uint64_t in_time;
	unsigned alive = writers;
	int status, bad = 0;
	pid_t pid, parent = getpid();

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return failed("mmap");
	for (unsigned i = 0; i < writers; i++) {
		pid = fork();
		if (pid < 0)
			return failed("fork");
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(getppid() == parent ? writer(how, path, i) : 1);
		}
	}
	while (shared->ready < writers && bad == 0) {
		if (waitpid(-1, &status, WNOHANG) > 0) {
			alive--;
			bad = 1;
		}
		usleep(500);
	}
	if (bad != 0)
		return 1;
	began = now_us();
	ended = began + ms * INT64_C(1000);
	shared->go = 1;
	/* Full is full: a fast way is over before its time. */
	while (now_us() < ended && shared->tickets < BENCH_RECORDS)
		usleep(500);
	in_time = shared->measured;
	ended = now_us();
	shared->stop = 1;
	while (alive-- > 0)
		if (wait(&status) < 0 || status != 0)
			bad = 1;
	return bad != 0 ? 1
			: report(path, (double)(ended - began) / 1e6, in_time);
}

int bench_writer(int argc, char **argv)
{
	const char *path = argv[argc > 3 ? 3 : 2];
	int fd, r;

	if (strcmp(argv[1], "--remove") == 0)
		return unlink(path) == 0 || errno == ENOENT ? 0
							    : failed("unlink");
	fd = open(
		path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return failed("a file cannot be made there");
	close(fd);
	puts("made");
	fflush(stdout);
	r = append(argv[2], path, (unsigned)atoi(argv[4]),
		(unsigned)atoi(argv[5]));
	if (r == 0 && unlink(path) != 0)
		r = failed("unlink");
	return r;
}
