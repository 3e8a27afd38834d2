/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small harness that speaks TAP. Every test runs in a process of its own:
 * core keeps state for a process's life, and a crash fails one test only.
 */
#ifndef NFSAPPEND_UNIT_H
#define NFSAPPEND_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unit_test {
	const char *name;
	void (*run)(void);
	bool todo; /* fails, as is known */
};

#define UNIT_TEST(fn)                                                          \
	{                                                                      \
		.name = #fn, .run = fn                                         \
	}
#define UNIT_TODO(fn)                                                          \
	{                                                                      \
		.name = #fn, .run = fn, .todo = true                           \
	}
#define UNIT_COUNT(a) (sizeof(a) / sizeof *(a))

int unit_main(const struct unit_test *, size_t n);

#define UNIT_MAIN(tests)                                                       \
	int main(void)                                                         \
	{                                                                      \
		return unit_main(tests, UNIT_COUNT(tests));                    \
	}

/* A directory of this test alone, mode 0700, removed at its end. */
extern char unit_dir[64];

/* What a failure in a table of cases belongs to; printf-like. "": none. */
void unit_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Ends the test as skipped: for what a kernel, not a defect, refuses. */
void unit_skip(const char *why) __attribute__((noreturn));

void unit_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void unit_int(const char *file, int line, const char *what, long long got,
	long long want);
void unit_str(const char *file, int line, const char *what, const char *got,
	const char *want);
void unit_has(const char *file, int line, const char *text, const char *part,
	bool wanted);
void unit_mem(const char *file, int line, const char *what, const void *got,
	size_t got_len, const void *want, size_t want_len);

/* A failed check ends the test. */
#define CHECK(cond)                                                            \
	((cond) ? (void)0 : unit_fail(__FILE__, __LINE__, "%s", #cond))
#define CHECK_INT(got, want)                                                   \
	unit_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
#define CHECK_STR(got, want) unit_str(__FILE__, __LINE__, #got, got, want)
#define CHECK_MEM(got, got_len, want, want_len)                                \
	unit_mem(__FILE__, __LINE__, #got, got, got_len, want, want_len)
#define CHECK_HAS(text, part) unit_has(__FILE__, __LINE__, text, part, true)
#define CHECK_HAS_NOT(text, part)                                              \
	unit_has(__FILE__, __LINE__, text, part, false)

/* Zeroed; ends the test without memory. */
void *unit_alloc(size_t);
/* All of a file; NUL-terminated, to be freed by the caller. "" if absent. */
char *unit_read_file(const char *path, size_t *len);
/* The soft limit of descriptors from now on. */
void unit_limit_descriptors(unsigned n);
/* The child's wait status. */
int unit_wait(pid_t);
/* Runs fn(arg) in a child, which ends well only when fn returns. */
pid_t unit_fork(void (*fn)(void *), void *arg);

#endif
