/*
 * What libc itself prints on standard error.  Each case frames libc's message
 * with lines of its own.
 */
#include "battery.h"

#include <argp.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <execinfo.h>
#include <getopt.h>
#include <netdb.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

static void say(const char *text)
{
	if (write(2, text, strlen(text)) != (ssize_t)strlen(text))
		die("write");
}

static int run_perror(const char *dir)
{
	redirect(2, dir, "log");
	errno = ENOSPC;
	perror("perror");
	errno = 0;
	perror(NULL);
	return 0;
}

static void call_vwarn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	errno = EPERM;
	vwarn(format, ap);
	va_end(ap);
}

static int run_warn(const char *dir)
{
	redirect(2, dir, "log");
	errno = EACCES;
	warn("warn %d", 1);
	warnx("warnx %s", "text");
	call_vwarn("vwarn %d", 2);
	return 0;
}

static int run_err(const char *dir)
{
	redirect(2, dir, "log");
	errno = EIO;
	err(7, "err %d", 1);
}

static int run_errx(const char *dir)
{
	redirect(2, dir, "log");
	errx(8, "errx");
}

static int run_error(const char *dir)
{
	redirect(1, dir, "out");
	redirect(2, dir, "log");
	printf("flushed by error()\n");
	error(0, EINVAL, "error %d", 1);
	error_at_line(0, 0, "source.c", 12, "at a line");
	error(9, ENOENT, "the last");
	return 0;
}

static int run_assert(const char *dir)
{
	redirect(2, dir, "log");
	assert(dir == NULL);
	return 0;
}

static int run_assert_perror(const char *dir)
{
	redirect(2, dir, "log");
	assert_perror(ENOTDIR);
	return 0;
}

static int run_psignal(const char *dir)
{
	redirect(2, dir, "log");
	psignal(SIGTERM, "psignal");
	psignal(SIGRTMIN + 1, "real time");
	psignal(9999, NULL);
	return 0;
}

static int run_getopt(const char *dir)
{
	static const struct option options[] = {
		{"known", required_argument, NULL, 'k'}, {0}};
	char *argv[] = {"prog", "-q", "--unknown", "--known", NULL};

	redirect(2, dir, "log");
	while (getopt_long(4, argv, "k:", options, NULL) != -1)
		;
	return 0;
}

static int run_argp(const char *dir)
{
	static const struct argp argp = {
		NULL, NULL, "ARG", "documentation", NULL, NULL, NULL};
	char *argv[] = {"prog", "--nonsense", NULL};

	redirect(2, dir, "log");
	argp_parse(&argp, 2, argv, 0, NULL, NULL);
	return 0;
}

static int run_putpwent(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	struct passwd user = {"name", "x", 1, 2, "gecos", "/home", "/bin/sh"};

	note_call("putpwent", putpwent(&user, f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_psiginfo(const char *dir)
{
	siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};

	redirect(2, dir, "log");
	say("before\n");
	psiginfo(&info, "psiginfo");
	say("after\n");
	return 0;
}

static int run_backtrace(const char *dir)
{
	void *frame = (void *)0x1234;

	redirect(2, dir, "log");
	say("before\n");
	backtrace_symbols_fd(&frame, 1, 2);
	say("after\n");
	return 0;
}

static int run_herror(const char *dir)
{
	redirect(2, dir, "log");
	say("before\n");
	h_errno = HOST_NOT_FOUND;
	herror("herror");
	say("after\n");
	return 0;
}

static int run_syslog_perror(const char *dir)
{
	redirect(2, dir, "log");
	say("before\n");
	openlog("battery", LOG_PERROR | LOG_NDELAY, LOG_USER);
	syslog(LOG_DEBUG, "through syslog");
	closelog();
	say("after\n");
	return 0;
}

/* What a fortified call ends in; in libc, but in none of its headers. */
extern void __chk_fail(void) __attribute__((noreturn));

static int run_fortify_abort(const char *dir)
{
	redirect(2, dir, "log");
	say("before\n");
	__chk_fail();
}

static int run_malloc_abort(const char *dir)
{
	void *volatile block = malloc(2000);
	void *volatile guard = malloc(2000);

	redirect(2, dir, "log");
	say("before\n");
	free(block);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wuse-after-free"
	free(block);
#pragma GCC diagnostic pop
	free(guard);
	return 0;
}

const struct battery_case battery_message[] = {
	{"perror", run_perror, 0},
	{"warn", run_warn, 0},
	{"err", run_err, 0},
	{"errx", run_errx, 0},
	{"error", run_error, 0},
	{"assert", run_assert, 0},
	{"assert-perror", run_assert_perror, 0},
	{"psignal", run_psignal, 0},
	{"getopt", run_getopt, 0},
	{"argp", run_argp, 0},
	{"putpwent", run_putpwent, 0},
	{"psiginfo", run_psiginfo, 1},
	{"backtrace-symbols-fd", run_backtrace, 1},
	{"herror", run_herror, 1},
	{"syslog-perror", run_syslog_perror, 1},
	{"fortify-abort", run_fortify_abort, 1},
	{"malloc-abort", run_malloc_abort, 1},
	{NULL, NULL, 0},
};
