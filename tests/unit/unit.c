/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define SKIPPED 77

char unit_dir[64];
static char in_case[256];
static char (*skip_reason)[128]; /* shared with the test's process */

void unit_case(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(in_case, sizeof in_case, fmt, ap);
	va_end(ap);
}

void unit_skip(const char *why)
{
	snprintf(*skip_reason, sizeof *skip_reason, "%s", why);
	exit(SKIPPED);
}

static void where(const char *file, int line)
{
	const char *base = strrchr(file, '/');

	printf("# %s:%d: ", base != NULL ? base + 1 : file, line);
	if (in_case[0] != '\0')
		printf("(%s) ", in_case);
}

void unit_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	where(file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

void unit_int(const char *file, int line, const char *what, long long got,
	long long want)
{
	if (got != want)
		unit_fail(file, line, "%s is %lld, not %lld", what, got, want);
}

void unit_str(const char *file, int line, const char *what, const char *got,
	const char *want)
{
	if (got == NULL || strcmp(got, want) != 0)
		unit_fail(file, line, "%s is '%s', not '%s'", what,
			got != NULL ? got : "(null)", want);
}

void unit_has(const char *file, int line, const char *text, const char *part,
	bool wanted)
{
	if ((strstr(text, part) != NULL) != wanted)
		unit_fail(file, line, "'%s' is %s in: %s", part,
			wanted ? "not" : "unexpectedly", text);
}

static void show(const char *name, const char *p, size_t n)
{
	printf("#   %s, %zu bytes: \"", name, n);
	for (size_t i = 0; i < n && i < 400; i++) {
		if (p[i] == '\n')
			printf("\\n");
		else if (p[i] < ' ' || p[i] == 0x7f)
			printf("\\%03o", (unsigned char)p[i]);
		else
			putchar(p[i]);
	}
	printf("\"%s\n", n > 400 ? "..." : "");
}

void unit_mem(const char *file, int line, const char *what, const void *got,
	size_t got_len, const void *want, size_t want_len)
{
	size_t same = 0;
	const char *a = got, *b = want;

	while (same < got_len && same < want_len && a[same] == b[same])
		same++;
	if (same == got_len && same == want_len)
		return;
	where(file, line);
	printf("%s differs from byte %zu on\n", what, same);
	show("got", a, got_len);
	show("want", b, want_len);
	exit(1);
}

void *unit_alloc(size_t n)
{
	void *p = calloc(1, n);

	if (p == NULL)
		unit_fail(__FILE__, __LINE__, "no memory");
	return p;
}

char *unit_read_file(const char *path, size_t *len)
{
	size_t n = 0, room = 1 << 16;
	char *text = unit_alloc(room);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t r;

	while (fd >= 0 && (r = read(fd, text + n, room - n - 1)) > 0) {
		n += (size_t)r;
		if (n + 1 == room)
			text = realloc(text, room *= 2);
	}
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	if (len != NULL)
		*len = n;
	return text;
}

void unit_limit_descriptors(unsigned n)
{
	struct rlimit limit;

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = n;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int unit_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

pid_t unit_fork(void (*fn)(void *), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		unit_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
	if (pid == 0) {
		fn(arg);
		exit(0);
	}
	return pid;
}

static int remove_one(
	const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_dir(void)
{
	const char *base = getenv("TMPDIR");

	if (base == NULL || strlen(base) > 32)
		base = "/tmp";
	snprintf(unit_dir, sizeof unit_dir, "%s/nfsappend-unit-XXXXXX", base);
	if (mkdtemp(unit_dir) == NULL) {
		printf("Bail out! mkdtemp %s: %s\n", unit_dir, strerror(errno));
		exit(1);
	}
}

static void run(void *arg)
{
	((const struct unit_test *)arg)->run();
}

int unit_main(const struct unit_test *tests, size_t n)
{
	int failed = 0;

	skip_reason = mmap(NULL, sizeof *skip_reason, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED)
		return 1;
	printf("1..%zu\n", n);
	for (size_t i = 0; i < n; i++) {
		int status;

		make_dir();
		status = unit_wait(unit_fork(run, (void *)&tests[i]));
		if (WIFSIGNALED(status))
			printf("# ended by signal %d\n", WTERMSIG(status));
		if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
			printf("ok %zu %s # SKIP %s\n", i + 1, tests[i].name,
				*skip_reason);
		else
			printf("%sok %zu %s%s\n", status != 0 ? "not " : "",
				i + 1, tests[i].name,
				tests[i].todo ? " # TODO" : "");
		fflush(stdout);
		if (status != 0 && !tests[i].todo &&
			!(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED))
			failed = 1;
		nftw(unit_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
	return failed;
}
