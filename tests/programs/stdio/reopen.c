/* freopen, and streams whose descriptor changes under them. */
#include "battery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A local file by name, for freopen; the caller unlinks it. */
static char local_path[64];

static void make_local_path(void)
{
	int fd;

	strcpy(local_path, "/tmp/stdio-battery.XXXXXX");
	fd = mkstemp(local_path);
	if (fd < 0)
		die("mkstemp");
	close(fd);
}

static void note_local_path(void)
{
	FILE *local = fopen(local_path, "r");

	if (!local)
		die("fopen");
	unlink(local_path);
	note_local(local);
}

static FILE *reopen(const char *path, const char *mode, FILE *f)
{
	FILE *again = freopen(path, mode, f);

	if (!again)
		die("freopen");
	return again;
}

static int run_freopen_stdout(const char *dir)
{
	reopen(path_in(dir, "log"), "a", stdout);
	for (int i = 0; i < 300; i++)
		printf("line %d through a reopened stdout\n", i);
	return 0;
}

static int run_freopen_stderr(const char *dir)
{
	reopen(path_in(dir, "log"), "a", stderr);
	fprintf(stderr, "reopened stderr %d\n", 1);
	errno = ENOENT;
	perror("perror");
	return 0;
}

static int run_freopen64(const char *dir)
{
	if (!freopen64(path_in(dir, "log"), "a", stdout))
		die("freopen64");
	printf("freopen64\n");
	return 0;
}

/* From the log to a local file: nothing may follow it there. */
static int run_freopen_away(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	make_local_path();
	fprintf(f, "to the log\n");
	f = reopen(local_path, "w", f);
	fprintf(f, "to the local file\n");
	fflush(f);
	fprintf(f, "twice");
	note_call("fclose", fclose(f));
	note_local_path();
	return 0;
}

static int run_freopen_back(const char *dir)
{
	FILE *f;

	make_local_path();
	f = fopen(local_path, "w");
	if (!f)
		die("fopen");
	fprintf(f, "to the local file");
	f = reopen(path_in(dir, "log"), "a", f);
	fprintf(f, "to the log\n");
	f = reopen(local_path, "a", f);
	fprintf(f, " and again");
	f = reopen(path_in(dir, "log"), "a", f);
	fprintf(f, "to the log again\n");
	note_call("fclose", fclose(f));
	note_local_path();
	return 0;
}

static int run_freopen_other_log(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 10; i++) {
		fprintf(f, "line %d\n", i);
		f = reopen(path_in(dir, i % 2 ? "log" : "other"), "a", f);
	}
	note_call("fclose", fclose(f));
	return 0;
}

/* freopen(NULL): only the mode changes; libc reopens /proc/self/fd/N. */
static int run_freopen_null(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fprintf(f, "before\n");
	f = freopen(NULL, "a", f);
	note("freopen %s", f ? "opened" : strerror(errno));
	if (!f)
		return 0;
	fprintf(f, "after\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_freopen_missing(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fprintf(f, "flushed before the failure\n");
	f = freopen(path_in(dir, "no/such/file"), "a", f);
	note("freopen %s", f ? "opened" : strerror(errno));
	return 0;
}

static int run_freopen_proc(const char *dir)
{
	FILE *f;

	redirect(1, dir, "log");
	printf("through stdout\n");
	fflush(stdout);
	f = fopen("/dev/stdout", "a");
	note("fopen /dev/stdout: %s", f ? "opened" : strerror(errno));
	if (!f)
		return 0;
	fprintf(f, "through /dev/stdout\n");
	note_call("fclose", fclose(f));
	printf("through stdout again\n");
	return 0;
}

/* A local file gets the number that the log had. */
static int run_fclose_number(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a"), *local;
	int fd = fileno(f);

	fprintf(f, "to the log\n");
	note_call("fclose", fclose(f));
	local = local_stream();
	note("same number %d", fileno(local) == fd);
	fprintf(local, "to the local file");
	note_local(local);
	return 0;
}

static int run_fclose_stdout(const char *dir)
{
	FILE *local;

	redirect(1, dir, "log");
	printf("to the log\n");
	note_call("fclose", fclose(stdout));
	local = local_stream();
	note("number %d", fileno(local));
	fprintf(local, "to the local file");
	note_local(local);
	return 0;
}

/* dup2 under a stream: what is still buffered follows the descriptor. */
static int run_dup2_under(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a"), *local = local_stream();

	fprintf(f, "to the log\n");
	fflush(f);
	fprintf(f, "buffered");
	if (dup2(fileno(local), fileno(f)) < 0)
		die("dup2");
	note_call("fflush", fflush(f));
	redirect(fileno(f), dir, "log");
	fprintf(f, "to the log again\n");
	note_call("fclose", fclose(f));
	note_local(local);
	return 0;
}

/* As a shell does for `{ ...; } >>log`: save, redirect, restore. */
static int run_save_restore(const char *dir)
{
	FILE *local = local_stream();
	int saved;

	if (dup2(fileno(local), 1) < 0)
		die("dup2");
	for (int i = 0; i < 5; i++) {
		printf("local %d ", i);
		fflush(stdout);
		saved = fcntl(1, F_DUPFD_CLOEXEC, 10);
		redirect(1, dir, "log");
		printf("log %d\n", i);
		fflush(stdout);
		dup2(saved, 1);
		close(saved);
	}
	note_local(local);
	return 0;
}

static int run_close_under(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fprintf(f, "flushed\n");
	fflush(f);
	fprintf(f, "lost\n");
	note_call("close", close(fileno(f)));
	note_call("fflush", fflush(f));
	note_call("ferror", ferror(f));
	note_call("fclose", fclose(f));
	return 0;
}

const struct battery_case battery_reopen[] = {
	{"freopen-stdout", run_freopen_stdout, 0},
	{"freopen-stderr", run_freopen_stderr, 0},
	{"freopen64", run_freopen64, 0},
	{"freopen-away", run_freopen_away, 0},
	{"freopen-back", run_freopen_back, 0},
	{"freopen-other-log", run_freopen_other_log, 0},
	{"freopen-null", run_freopen_null, 0},
	{"freopen-missing", run_freopen_missing, 0},
	{"fopen-dev-stdout", run_freopen_proc, 0},
	{"fclose-number", run_fclose_number, 0},
	{"fclose-stdout", run_fclose_stdout, 0},
	{"dup2-under", run_dup2_under, 0},
	{"save-restore", run_save_restore, 0},
	{"close-under", run_close_under, 0},
	{NULL, NULL, 0},
};
