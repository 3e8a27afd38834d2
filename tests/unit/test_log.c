/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages: one line each, never into a file of the program's. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/log.h"
#include "core/placeholder.h"
#include "core/process.h"
#include "rig.h"

static char path[100], other[100];

/* fd 2 is a file; core starts with it. */
static void start(void)
{
	int fd;

	snprintf(path, sizeof path, "%s/stderr", unit_dir);
	snprintf(other, sizeof other, "%s/data", unit_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0);
	CHECK_INT(dup2(fd, 2), 2);
	close(fd);
	nfsappend_log_start();
	CHECK_INT(nfsappend_process_start(), 0);
}

static char *text_of(const char *file)
{
	static char *text;

	free(text);
	text = unit_read_file(file, NULL);
	return text;
}

static void line(void)
{
	char want[200];

	CHECK_INT(prctl(PR_SET_NAME, "the program"), 0);
	start();
	nfsappend_log(NFSAPPEND_ERROR, 123, "a %s of %d", "message", 7);
	snprintf(want, sizeof want,
		"nfsappend: the program[%d]: a message of 7 [N123]\n",
		(int)getpid());
	CHECK_STR(text_of(path), want);
}

static void levels(void)
{
	start();
	nfsappend_log(NFSAPPEND_INFO, 1, "info");
	nfsappend_log(NFSAPPEND_DEBUG, 2, "debug");
	CHECK_STR(text_of(path), "");
	CHECK(nfsappend_log_wanted(NFSAPPEND_WARN));
	CHECK(!nfsappend_log_wanted(NFSAPPEND_INFO));
	nfsappend_log(NFSAPPEND_WARN, 3, "warn");
	CHECK_HAS(text_of(path), "warn [N3]");
	nfsappend_log_configure(NFSAPPEND_OFF, NULL);
	nfsappend_log(NFSAPPEND_ERROR, 4, "off");
	CHECK_HAS_NOT(text_of(path), "off");
	nfsappend_log_configure(NFSAPPEND_DEBUG, NULL);
	nfsappend_log(NFSAPPEND_DEBUG, 5, "all");
	CHECK_HAS(text_of(path), "all [N5]");
}

/* Names come from outside: no second line, no terminal sequence. */
static void control_characters(void)
{
	char *text;

	start();
	nfsappend_log(NFSAPPEND_ERROR, 1, "a\nb\033[2J\177\xc3\xa9");
	CHECK_HAS(text_of(path), "a?b?[2J?\xc3\xa9 [N1]\n");
	text = text_of(path);
	CHECK(strchr(text, '\n') == text + strlen(text) - 1);
}

static void long_message(void)
{
	char *text = unit_alloc(5000);

	start();
	memset(text, 'x', 4999);
	text[4999] = '\0';
	nfsappend_log(NFSAPPEND_ERROR, 1, "%s", text);
	free(text);
	text = text_of(path);
	CHECK(strlen(text) < 1024);
	CHECK_HAS(text, "xxx [N1]\n");
}

static void rate(void)
{
	unsigned n = 0;

	start();
	for (int i = 1; i <= 25; i++) {
		nfsappend_log(NFSAPPEND_ERROR, 7, "often %d", i);
		nfsappend_log(NFSAPPEND_ERROR, 8, "seldom");
		if (i == 5)
			nfsappend_log(NFSAPPEND_ERROR, 9, "once");
	}
	CHECK_HAS(text_of(path),
		"often 10 [N7] (more of these are not shown for a minute)\n");
	CHECK_HAS(text_of(path), "often 9 [N7]\n");
	CHECK_HAS_NOT(text_of(path), "often 11");
	CHECK_HAS(text_of(path), "once [N9]\n");
	for (const char *s = text_of(path); (s = strchr(s, '\n')); s++)
		n++;
	CHECK_INT(n, 21);
	/* Whoever asks for debug messages wants all of them. */
	nfsappend_log_configure(NFSAPPEND_DEBUG, NULL);
	for (int i = 1; i <= 25; i++)
		nfsappend_log(NFSAPPEND_DEBUG, 10, "debug %d", i);
	CHECK_HAS(text_of(path), "debug 25 [N10]\n");
}

/* More identifiers than the limiter has room for: said rather than lost. */
static void many_identifiers(void)
{
	start();
	for (int id = 1; id <= 100; id++)
		nfsappend_log(NFSAPPEND_ERROR, id, "x");
	CHECK_HAS(text_of(path), "[N1]\n");
	CHECK_HAS(text_of(path), "[N100]\n");
}

static void stderr_is_something_else(void)
{
	int fd;

	start();
	/* Closed, and the number is a data file of the program. */
	close(2);
	fd = open(other, O_WRONLY | O_CREAT, 0600);
	CHECK_INT(fd, 2);
	nfsappend_log(NFSAPPEND_ERROR, 1, "secret");
	CHECK_STR(text_of(other), "");
	CHECK_STR(text_of(path), "");
	CHECK(nfsappend_write_line("stderr", "x\n", 2) < 0);
	CHECK_STR(text_of(other), "");
	/* Closed only: whatever descriptor log uses is not left behind. */
	close(2);
	nfsappend_log(NFSAPPEND_ERROR, 2, "secret");
	CHECK_INT(fcntl(2, F_GETFD), -1);
	/* The file it was at start again. */
	CHECK_INT(open(path, O_WRONLY | O_APPEND), 2);
	nfsappend_log(NFSAPPEND_ERROR, 3, "again");
	CHECK_HAS(text_of(path), "again [N3]");
}

static void stderr_was_closed_at_start(void)
{
	close(2);
	nfsappend_log_start();
	CHECK_INT(nfsappend_process_start(), 0);
	snprintf(other, sizeof other, "%s/data", unit_dir);
	CHECK_INT(open(other, O_WRONLY | O_CREAT, 0600), 2);
	nfsappend_log(NFSAPPEND_ERROR, 1, "secret");
	CHECK_STR(text_of(other), "");
}

static void stderr_is_one_of_ours(void)
{
	start();
	nfsappend_placeholder_mark(2);
	nfsappend_log(NFSAPPEND_ERROR, 1, "secret");
	CHECK_STR(text_of(path), "");
}

/* A pipe that nobody reads would block the program in our message. */
static void stderr_would_block(void)
{
	char page[4096] = "";
	int p[2];

	CHECK_INT(pipe(p), 0);
	CHECK_INT(dup2(p[1], 2), 2);
	nfsappend_log_start();
	CHECK_INT(nfsappend_process_start(), 0);
	nfsappend_log(NFSAPPEND_ERROR, 1, "first");
	CHECK_INT(fcntl(p[1], F_SETFL, O_NONBLOCK), 0);
	while (write(p[1], page, sizeof page) > 0)
		;
	CHECK_INT(fcntl(p[1], F_SETFL, 0), 0);
	nfsappend_log(NFSAPPEND_ERROR, 2, "second");
	CHECK(read(p[0], page, sizeof page) > 0);
	CHECK_HAS(page, "first [N1]");
}

/* Nobody at the other end: no SIGPIPE of ours kills the program. */
static void stderr_is_a_broken_pipe(void)
{
	int p[2];

	CHECK_INT(pipe(p), 0);
	CHECK_INT(dup2(p[1], 2), 2);
	nfsappend_log_start();
	CHECK_INT(nfsappend_process_start(), 0);
	close(p[0]);
	nfsappend_log(NFSAPPEND_ERROR, 1, "into nothing");
	nfsappend_log(NFSAPPEND_ERROR, 1, "into nothing");
}

static void own_file(void)
{
	start();
	nfsappend_log_configure(NFSAPPEND_WARN, other);
	nfsappend_log(NFSAPPEND_ERROR, 1, "one");
	CHECK_HAS(text_of(other), "one [N1]\n");
	/* Rotated: a new one is made. */
	CHECK_INT(unlink(other), 0);
	nfsappend_log(NFSAPPEND_ERROR, 1, "two");
	CHECK_HAS(text_of(other), "two [N1]\n");
	CHECK_HAS_NOT(text_of(other), "one");
	CHECK_STR(text_of(path), "");
	/* Not to be opened: no message on fd 2 either, but syslog. */
	nfsappend_log_configure(NFSAPPEND_WARN, "/nfsappend-unit/no/file");
	nfsappend_log(NFSAPPEND_ERROR, 2, "three");
	CHECK_STR(text_of(path), "");
}

static void errno_and_descriptors(void)
{
	int probe;

	start();
	probe = open("/dev/null", O_RDONLY);
	close(probe);
	nfsappend_log_configure(NFSAPPEND_WARN, other);
	nfsappend_log(NFSAPPEND_ERROR, 1, "x");
	nfsappend_log_configure(NFSAPPEND_WARN, "/nfsappend-unit/no/file");
	nfsappend_log(NFSAPPEND_ERROR, 1, "x");
	CHECK_INT(open("/dev/null", O_RDONLY), probe);
}

static const struct unit_test tests[] = {
	UNIT_TEST(line),
	UNIT_TEST(levels),
	UNIT_TEST(control_characters),
	UNIT_TEST(long_message),
	UNIT_TEST(rate),
	UNIT_TEST(many_identifiers),
	UNIT_TEST(stderr_is_something_else),
	UNIT_TEST(stderr_was_closed_at_start),
	UNIT_TEST(stderr_is_one_of_ours),
	UNIT_TEST(stderr_would_block),
	UNIT_TEST(stderr_is_a_broken_pipe),
	UNIT_TEST(own_file),
	UNIT_TEST(errno_and_descriptors),
};

UNIT_MAIN(tests)
