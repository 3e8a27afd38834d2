/*
 * calls MS DIR: what calls cost that nfsappend hooks but does not serve. Each
 * call runs in batches for MS milliseconds; one line a call: name, median and
 * minimum of the batches' ns per call. DIR: a local directory for a file.
 * CALLS_KEEP: a file to append to at first and to keep open.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH 500
#define BATCHES 20000

static char path[4096];
static int null_fd, file_fd;
static FILE *stream;
static const char record[100] = "x";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void check(int good)
{
	if (!good) {
		perror("calls");
		exit(1);
	}
}

static void call_write(void)
{
	check(write(null_fd, record, sizeof record) == sizeof record);
}

static void call_pwrite(void)
{
	check(pwrite(null_fd, record, sizeof record, 0) == sizeof record);
}

static void call_read(void)
{
	char c;

	check(read(null_fd, &c, 1) == 0);
}

static void call_open_close(void)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	check(fd >= 0 && close(fd) == 0);
}

static void call_fopen_fclose(void)
{
	FILE *f = fopen(path, "a");

	check(f != NULL && fclose(f) == 0);
}

static void call_fprintf_fflush(void)
{
	check(fprintf(stream, "a line of %d\n", 100) > 0 && !fflush(stream));
}

static void call_lseek(void)
{
	check(lseek(file_fd, 0, SEEK_CUR) == 0);
}

static void call_fstat(void)
{
	struct stat st;

	check(fstat(file_fd, &st) == 0);
}

static void call_stat(void)
{
	struct stat st;

	check(stat(path, &st) == 0);
}

static void call_dup_close(void)
{
	int fd = dup(file_fd);

	check(fd >= 0 && close(fd) == 0);
}

static void call_fcntl(void)
{
	check(fcntl(file_fd, F_GETFL) >= 0);
}

static void call_mmap_munmap(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file_fd, 0);

	check(p != MAP_FAILED && munmap(p, 4096) == 0);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{"write", call_write},
	{"pwrite", call_pwrite},
	{"read", call_read},
	{"open+close", call_open_close},
	{"fopen+fclose", call_fopen_fclose},
	{"fprintf+fflush", call_fprintf_fflush},
	{"lseek", call_lseek},
	{"fstat", call_fstat},
	{"stat", call_stat},
	{"dup+close", call_dup_close},
	{"fcntl F_GETFL", call_fcntl},
	{"mmap+munmap", call_mmap_munmap},
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const char *name, void (*call)(void), double ns)
{
	static double each[BATCHES];
	double end = now() + ns, from = now(), to;
	int n = 0;

	do {
		for (int i = 0; i < BATCH; i++)
			call();
		to = now();
		each[n++] = (to - from) / BATCH;
		from = to;
	} while (to < end && n < BATCHES);
	qsort(each, (size_t)n, sizeof *each, ascending);
	printf("%s\t%.2f\t%.2f\n", name, each[n / 2], each[0]);
}

static void *sleeper(void *unused)
{
	pause();
	return unused;
}

static void keep(const char *kept)
{
	int fd = open(kept, O_WRONLY | O_APPEND | O_CREAT, 0600);

	check(fd >= 0 && write(fd, "kept\n", 5) == 5);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	snprintf(path, sizeof path, "%s/calls.%d", argv[2], (int)getpid());
	null_fd = open("/dev/null", O_RDWR);
	file_fd = open(path, O_RDWR | O_CREAT, 0600);
	stream = fopen("/dev/null", "w");
	if (getenv("CALLS_KEEP") != NULL)
		keep(getenv("CALLS_KEEP"));
	check(null_fd >= 0 && file_fd >= 0 && stream != NULL &&
		ftruncate(file_fd, 4096) == 0);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		measure(calls[i].name, calls[i].call, atof(argv[1]) * 1e6);
	/* The C library's own write() is another one with threads. */
	check(pthread_create(&thread, NULL, sleeper, NULL) == 0);
	measure("write, threads", call_write, atof(argv[1]) * 1e6);
	unlink(path);
	return 0;
}
