/* Streams across processes, threads and the many ways to end. */
#include "battery.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_system(const char *dir)
{
	redirect(1, dir, "log");
	printf("before\n");
	fflush(stdout);
	note_call("system", system("echo child; echo more; exit 3"));
	printf("after\n");
	return 0;
}

static int run_popen_read(const char *dir)
{
	char line[64] = "";
	FILE *pipe;

	redirect(2, dir, "log");
	pipe = popen("echo to the log >&2; echo to the pipe", "r");
	if (!pipe)
		die("popen");
	note("pipe: %s", fgets(line, sizeof(line), pipe) ? line : "nothing");
	note_call("pclose", pclose(pipe));
	fprintf(stderr, "parent\n");
	return 0;
}

static int run_popen_write(const char *dir)
{
	FILE *pipe;

	redirect(1, dir, "log");
	pipe = popen("cat", "w");
	if (!pipe)
		die("popen");
	for (int i = 0; i < 100; i++)
		fprintf(pipe, "line %d for cat\n", i);
	note_call("pclose", pclose(pipe));
	printf("parent\n");
	return 0;
}

/* Both processes flush what was in the buffer. */
static int run_fork_full_buffer(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	pid_t pid;

	fprintf(f, "in the buffer of both\n");
	pid = fork();
	if (!pid) {
		fprintf(f, "child\n");
		exit(5);
	}
	note_child(pid);
	fprintf(f, "parent\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fork_stdout(const char *dir)
{
	redirect(1, dir, "log");
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			printf("child %d\n", i);
			fflush(stdout);
			_exit(0);
		}
		note_child(pid);
		printf("parent %d\n", i);
	}
	return 0;
}

static int run_fclose_in_child(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	pid_t pid;

	fprintf(f, "one\n");
	fflush(f);
	pid = fork();
	if (!pid) {
		fprintf(f, "child\n");
		fclose(f);
		_exit(0);
	}
	note_child(pid);
	fprintf(f, "two\n");
	fflush(f);
	note_call("ftell", ftell(f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_exec_loses(const char *dir)
{
	redirect(1, dir, "log");
	printf("flushed\n");
	fflush(stdout);
	printf("lost with the old program\n");
	execl("/bin/sh", "sh", "-c", "echo the new program", (char *)NULL);
	die("execl");
}

static FILE *exit_stream;

static void at_exit(void)
{
	fprintf(exit_stream, "handler\n");
}

static void at_exit_again(int status, void *arg)
{
	fprintf(exit_stream, "on_exit %d %s\n", status, (const char *)arg);
}

__attribute__((destructor)) static void destructor(void)
{
	if (exit_stream)
		fprintf(exit_stream, "destructor\n");
}

static int run_exit(const char *dir)
{
	exit_stream = stream_in(dir, "log", "a");
	atexit(at_exit);
	on_exit(at_exit_again, "argument");
	fprintf(exit_stream, "body\n");
	exit(6);
}

static int run_return(const char *dir)
{
	exit_stream = stream_in(dir, "log", "a");
	fprintf(exit_stream, "never closed\n");
	return 4;
}

static int run__exit(const char *dir)
{
	exit_stream = stream_in(dir, "log", "a");
	atexit(at_exit);
	fprintf(exit_stream, "flushed\n");
	fflush(exit_stream);
	fprintf(exit_stream, "lost\n");
	_exit(3);
}

static void at_quick(void)
{
	dprintf(fileno(exit_stream), "at_quick_exit\n");
	fflush(exit_stream);
}

static int run_quick_exit(const char *dir)
{
	exit_stream = stream_in(dir, "log", "a");
	atexit(at_exit);
	at_quick_exit(at_quick);
	fprintf(exit_stream, "buffered\n");
	quick_exit(2);
}

static int run_abort(const char *dir)
{
	exit_stream = stream_in(dir, "log", "a");
	fprintf(exit_stream, "flushed\n");
	fflush(exit_stream);
	fprintf(exit_stream, "lost\n");
	abort();
}

static void *exit_thread(void *arg)
{
	fprintf(exit_stream, "thread %s\n", (const char *)arg);
	exit(1);
}

static int run_exit_in_thread(const char *dir)
{
	pthread_t thread;

	exit_stream = stream_in(dir, "log", "a");
	atexit(at_exit);
	if (pthread_create(&thread, NULL, exit_thread, "exits"))
		die("pthread_create");
	pthread_join(thread, NULL);
	return 0;
}

static void *flockfile_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		flockfile(exit_stream);
		fprintf(exit_stream, "thread %d ", (int)(long)arg);
		fputs_unlocked("record ", exit_stream);
		fprintf(exit_stream, "%d", i);
		putc_unlocked('\n', exit_stream);
		funlockfile(exit_stream);
	}
	return NULL;
}

/* Records are whole; their order is the scheduler's. */
static int run_threads(const char *dir)
{
	pthread_t threads[8];

	exit_stream = stream_in(dir, "log", "a");
	setvbuf(exit_stream, NULL, _IOLBF, 0);
	for (long i = 0; i < 8; i++)
		if (pthread_create(
			    &threads[i], NULL, flockfile_thread, (void *)i))
			die("pthread_create");
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void *own_stream_thread(void *arg)
{
	FILE *f = fopen(arg, "a");

	if (!f)
		die("fopen");
	for (int i = 0; i < 50; i++) {
		fprintf(f, "a record of one of many streams, number %d\n", i);
		fflush(f);
	}
	fclose(f);
	return NULL;
}

static int run_thread_streams(const char *dir)
{
	pthread_t threads[8];
	char path[4096];

	snprintf(path, sizeof(path), "%s", path_in(dir, "log"));
	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, own_stream_thread, path))
			die("pthread_create");
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

const struct battery_case battery_process[] = {
	{"system", run_system, 0},
	{"popen-read", run_popen_read, 0},
	{"popen-write", run_popen_write, 0},
	{"fork-full-buffer", run_fork_full_buffer, 0},
	{"fork-stdout", run_fork_stdout, 0},
	{"fclose-in-child", run_fclose_in_child, 0},
	{"exec-loses", run_exec_loses, 0},
	{"exit", run_exit, 0},
	{"return", run_return, 0},
	{"_exit", run__exit, 0},
	{"quick_exit", run_quick_exit, 0},
	{"abort", run_abort, 0},
	{"exit-in-thread", run_exit_in_thread, 0},
	{"threads-flockfile", run_threads, 0},
	{"threads-streams", run_thread_streams, 0},
	{NULL, NULL, 0},
};
