/*
 * append-WAY [-c COUNT] [-s SIZE] [-t THREADS | -p PROCESSES] [-w WARM-UP]
 *            [-r] [-x] TARGET
 *
 * COUNT records of SIZE bytes in all, after WARM-UP for each worker that are
 * not measured; -r opens and closes the file around each; -x lets four threads
 * append as much as the warm-up before all else, so that a queue is there. One JSON object on
 * standard output: seconds from the first to the last append, and quantiles
 * of the time that one took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

#define CROWD 4

struct run {
	struct shared shared;
	pthread_barrier_t ready;
	_Atomic int64_t first, last;
	_Atomic long resident; /* KiB, the most of any process */
	int64_t ns[]; /* of each append */
};

static long count = 10000, warm_up = 100;
static size_t size = 100;
static int workers = 1;
static bool processes, reopen, crowd;
static const char *target;
static struct run *run;

void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(1);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Not ru_maxrss, which is a parent's until exec. */
static void note_resident(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kb;

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "VmHWM: %ld kB", &kb) == 1 && kb > run->resident)
			run->resident = kb;
	if (f != NULL)
		fclose(f);
}

static void one(struct way *way, char *record, long i)
{
	/* As prog_append's: numbered, ends in a newline, whole at any size. */
	if (size > 10)
		record[snprintf(record, 10, "%08ld", i % 100000000)] = ' ';
	if (reopen)
		way_open(way);
	way_append(way, record, size);
	if (reopen)
		way_close(way);
}

static void *worker(void *arg)
{
	long me = (long)arg, mine = count / workers;
	struct way *way = way_begin(target, &run->shared);
	char *record = malloc(size);
	int64_t before, after;

	memset(record, 'a' + (int)me % 26, size);
	record[size - 1] = '\n';
	if (!reopen)
		way_open(way);
	for (long i = 0; i < warm_up; i++)
		one(way, record, i);
	pthread_barrier_wait(&run->ready);
	before = now();
	run->first = before;
	for (long i = 0; i < mine; i++) {
		one(way, record, i);
		after = now();
		run->ns[me * mine + i] = after - before;
		before = after;
	}
	for (int64_t last = run->last; before > last;)
		if (__atomic_compare_exchange_n((int64_t *)&run->last, &last,
			    before, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			break;
	note_resident();
	if (!reopen)
		way_close(way);
	free(record);
	return NULL;
}

static void *one_of_crowd(void *arg)
{
	struct way *way = way_begin(target, &run->shared);
	char *record = malloc(size);

	memset(record, 'x', size);
	record[size - 1] = '\n';
	way_open(way);
	for (long i = 0; i < warm_up; i++) {
		if (reopen && i > 0)
			way_open(way);
		way_append(way, record, size);
		if (reopen)
			way_close(way);
	}
	if (!reopen)
		way_close(way);
	free(record);
	return arg;
}

static void run_crowd(void)
{
	pthread_t threads[CROWD];

	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], NULL, one_of_crowd, NULL) != 0)
			die("pthread_create");
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

static void run_threads(void)
{
	pthread_t threads[workers];

	for (long i = 1; i < workers; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0)
			die("pthread_create");
	worker(NULL);
	for (long i = 1; i < workers; i++)
		pthread_join(threads[i], NULL);
}

static void run_processes(void)
{
	int status;

	for (long i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (pid == 0) {
			worker((void *)i);
			exit(0);
		}
	}
	for (int i = 0; i < workers; i++)
		if (wait(&status) < 0 || status != 0)
			die("a worker failed");
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double us(long of_1000)
{
	long i = count * of_1000 / 1000;

	return (double)run->ns[i < count ? i : count - 1] / 1000;
}

static void report(void)
{
	double seconds = (double)(run->last - run->first) / 1e9;

	qsort(run->ns, (size_t)count, sizeof *run->ns, ascending);
	printf("{\"records\":%ld,\"warm_up\":%ld,\"seconds\":%.6f,"
	       "\"records_s\":%.1f,\"min_us\":%.2f,\"p50_us\":%.2f,"
	       "\"p90_us\":%.2f,\"p99_us\":%.2f,\"max_us\":%.2f,"
	       "\"max_rss_kb\":%ld}\n",
		count, warm_up * (workers + (crowd ? CROWD : 0)), seconds, count / seconds, us(0),
		us(500), us(900), us(990), us(1000),
		run->resident);
}

static void usage(void)
{
	die("usage: append-WAY [-c COUNT] [-s SIZE] [-t THREADS | "
	    "-p PROCESSES] [-w WARM-UP] [-r] [-x] TARGET");
}

static void options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "c:s:t:p:w:rx")) != -1) {
		switch (o) {
		case 'c':
			count = atol(optarg);
			break;
		case 's':
			size = strtoul(optarg, NULL, 10);
			break;
		case 'p':
			processes = true; /* fall through */
		case 't':
			workers = atoi(optarg);
			break;
		case 'w':
			warm_up = atol(optarg);
			break;
		case 'r':
			reopen = true;
			break;
		case 'x':
			crowd = true;
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || size < 1 || workers < 1 || count < workers)
		usage();
	target = argv[optind];
	count -= count % workers;
}

int main(int argc, char **argv)
{
	pthread_barrierattr_t attr;

	options(argc, argv);
	run = mmap(NULL, sizeof *run + (size_t)count * sizeof *run->ns,
		PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (run == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&run->ready, &attr, (unsigned)workers);
	if (crowd)
		run_crowd();
	if (processes)
		run_processes();
	else
		run_threads();
	report();
	return 0;
}
