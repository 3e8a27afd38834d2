/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * group_writers WAY KIND WRITERS SECONDS TARGET
 *
 * WRITERS threads or processes (KIND) append records of 100 bytes to one file,
 * each as fast as it can, for SECONDS. WAY:
 *   write     write(2) on a file opened O_APPEND|O_SYNC, TARGET a path
 *   flock     the same with flock() around each
 *   buffered  without O_SYNC: nothing durable
 *   fsync     without O_SYNC, fsync() after each
 *   reopen    open(), write() and close() for each, with O_SYNC
 * Prints
 *   RECORDS-PER-SECOND RECORDS MEDIAN-US P99-US
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE 100
#define MOST 1024
#define BUCKETS 4096 /* of 1/64 of a power of two, us */

static struct {
	_Atomic unsigned ready;
	_Atomic int go, stop;
	_Atomic uint64_t records;
	_Atomic uint64_t took[BUCKETS];
} *shared;

static const char *target;
static int by_flock, by_fsync, by_reopen, flags = O_WRONLY | O_APPEND | O_SYNC;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static unsigned bucket(uint64_t us)
{
	unsigned shift = 0;

	while (us >> shift >= 128)
		shift++;
	return shift * 64 + (unsigned)(us >> shift);
}

static uint64_t bucket_us(unsigned b)
{
	return b < 128 ? b : (uint64_t)(b % 64 + 64) << (b / 64 - 1);
}

static int open_target(void)
{
	int fd = open(target, flags);

	if (fd < 0)
		die(target);
	return fd;
}

static void *writer(void *arg)
{
	char record[SIZE + 1];
	int fd = -1;

	snprintf(record, sizeof record, "%04d %*s", (int)(intptr_t)arg,
		SIZE - 5, "x");
	record[SIZE - 1] = '\n';
	fd = open_target(); /* first contact is not measured */
	if (by_reopen)
		close(fd);
	shared->ready++;
	while (!shared->go)
		usleep(1000);
	while (!shared->stop) {
		uint64_t began = now_us();

		if (by_reopen)
			fd = open_target();
		if (by_flock && flock(fd, LOCK_EX) != 0)
			die("flock");
		if (write(fd, record, SIZE) != SIZE)
			die("write");
		if (by_fsync && fsync(fd) != 0)
			die("fsync");
		if (by_flock && flock(fd, LOCK_UN) != 0)
			die("flock");
		if (by_reopen && close(fd) != 0)
			die("close");
		shared->records++;
		shared->took[bucket(now_us() - began)]++;
	}
	return NULL;
}

/* in_time: records that were done when time was over; the total is exact. */
static void summary(uint64_t in_time, double seconds)
{
	uint64_t n = shared->records, sum = 0;
	uint64_t p50 = 0, p99 = 0;

	for (unsigned b = 0; b < BUCKETS; b++) {
		sum += shared->took[b];
		if (p50 == 0 && sum * 2 >= n)
			p50 = bucket_us(b);
		if (p99 == 0 && sum * 100 >= n * 99)
			p99 = bucket_us(b);
	}
	printf("%.0f %llu %llu %llu\n", (double)in_time / seconds,
		(unsigned long long)n, (unsigned long long)p50,
		(unsigned long long)p99);
}

int main(int argc, char **argv)
{
	unsigned writers = argc == 6 ? (unsigned)atoi(argv[3]) : 0;
	double seconds = argc == 6 ? atof(argv[4]) : 0;
	uint64_t began, in_time;
	double took;
	int threads, status, failed = 0;
	pthread_t id[MOST];

	if (writers == 0 || writers > MOST || seconds <= 0) {
		fprintf(stderr, "usage: %s write|flock|buffered|fsync|reopen "
			"threads|processes WRITERS SECONDS TARGET\n", argv[0]);
		return 2;
	}
	by_flock = !strcmp(argv[1], "flock");
	by_fsync = !strcmp(argv[1], "fsync");
	by_reopen = !strcmp(argv[1], "reopen");
	if (by_fsync || !strcmp(argv[1], "buffered"))
		flags &= ~O_SYNC;
	threads = !strcmp(argv[2], "threads");
	target = argv[5];
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (unsigned i = 0; i < writers; i++) {
		if (threads) {
			if (pthread_create(&id[i], NULL, writer,
				    (void *)(intptr_t)i) != 0)
				die("pthread_create");
		} else if (fork() == 0) {
			writer((void *)(intptr_t)i);
			_exit(0);
		}
	}
	while (shared->ready < writers) {
		if (!threads && waitpid(-1, &status, WNOHANG) > 0)
			return 1;
		usleep(1000);
	}
	shared->go = 1;
	began = now_us();
	usleep((useconds_t)(seconds * 1e6));
	in_time = shared->records;
	took = (double)(now_us() - began) / 1e6;
	shared->stop = 1;
	for (unsigned i = 0; threads && i < writers; i++)
		pthread_join(id[i], NULL);
	while (wait(&status) > 0)
		failed |= status != 0;
	summary(in_time, took);
	return failed;
}
