/* Errors reach the stream's user, and what was written before is counted. */
#include "battery.h"

#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit_size(rlim_t size)
{
	struct rlimit limit = {size, size};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		die("setrlimit");
}

static int run_efbig(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	limit_size(1000);
	setvbuf(f, NULL, _IONBF, 0);
	for (int i = 0; i < 40; i++)
		note_call("fprintf", fprintf(f, "%-29d\n", i));
	note_call("ferror", ferror(f));
	clearerr(f);
	note_call("ferror", ferror(f));
	note_call("fputs", fputs("x", f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_efbig_buffered(const char *dir)
{
	char block[5000];
	FILE *f = stream_in(dir, "log", "a");

	limit_size(3000);
	memset(block, 'b', sizeof(block));
	note_call("fwrite", fwrite(block, 1, sizeof(block), f));
	note_call("fflush", fflush(f));
	note_call("ferror", ferror(f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_efbig_at_exit(const char *dir)
{
	redirect(1, dir, "log");
	limit_size(10);
	printf("more than ten bytes\n");
	return 0;
}

static int run_sigxfsz(const char *dir)
{
	struct rlimit limit = {4100, 4100};
	char block[4096];
	FILE *f = stream_in(dir, "log", "a");

	memset(block, 'l', sizeof(block));
	fwrite(block, 1, sizeof(block), f);
	signal(SIGXFSZ, SIG_DFL);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		die("setrlimit");
	fprintf(f, "four");
	note_call("fflush", fflush(f));
	fprintf(f, "five");
	note_call("fflush", fflush(f));
	return 0;
}

/* Until the file system is full: its size is not part of the notes. */
static int run_enospc(const char *dir)
{
	static char block[65536];
	FILE *f = stream_in(dir, "full", "a");
	int rounds;

	memset(block, 'e', sizeof(block));
	errno = 0;
	for (rounds = 0; rounds < 100000; rounds++)
		if (fwrite(block, 1, sizeof(block), f) != sizeof(block))
			break;
	note("fwrite failed %d: %s", rounds < 100000, strerror(errno));
	note_call("ferror", ferror(f));
	clearerr(f);
	note_call("ftruncate", ftruncate(fileno(f), 0));
	__fpurge(f);
	note_call("fputs", fputs("room again\n", f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_dev_full(const char *dir)
{
	FILE *f = fopen("/dev/full", "a"), *log = stream_in(dir, "log", "a");

	if (!f)
		die("/dev/full");
	fprintf(f, "nobody reads this\n");
	fprintf(log, "but this\n");
	note_call("fflush", fflush(f));
	note_call("fclose", fclose(f));
	note_call("fclose", fclose(log));
	return 0;
}

static int run_ebadf(const char *dir)
{
	FILE *f;

	seed(dir, "log", "seed\n");
	f = stream_in(dir, "log", "a");
	note_call("fgetc", fgetc(f));
	note_call("ferror", ferror(f));
	clearerr(f);
	fprintf(f, "still writable\n");
	note_call("fclose", fclose(f));
	return 0;
}

const struct battery_case battery_error[] = {
	{"error-efbig", run_efbig, 0},
	{"error-efbig-buffered", run_efbig_buffered, 0},
	{"error-efbig-at-exit", run_efbig_at_exit, 0},
	{"error-sigxfsz", run_sigxfsz, 0},
	{"error-enospc", run_enospc, 0},
	{"error-dev-full", run_dev_full, 0},
	{"error-ebadf", run_ebadf, 0},
	{NULL, NULL, 0},
};
