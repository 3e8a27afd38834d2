/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nfsappend-doctor: looks at everything that an append by nfsappend depends
 * on, and says in plain words what is wrong, why, and what to do.
 *
 * Each argument is examined in a process of its own, which its parent ends
 * when it takes too long: the kernel may hang in any call on a mount whose
 * server is silent. Nothing that is examined is ever executed.
 */
#ifndef NFSAPPEND_DOCTOR_DOCTOR_H
#define NFSAPPEND_DOCTOR_DOCTOR_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/sys.h"

#define DOCTOR_MS INT64_C(1000000)
#define DOCTOR_SECOND (1000 * DOCTOR_MS)

/* Seconds that one argument may take; -t. */
extern unsigned doctor_seconds;
/* A signal asks for the end; set by the handler. */
extern volatile sig_atomic_t doctor_interrupted;

/* report.c: what was found. The order is that of the exit status. */
enum doctor_level {
	DOCTOR_OK,
	DOCTOR_NOTE, /* worth knowing, nothing is wrong */
	DOCTOR_WARN, /* works, but ... */
	DOCTOR_FAIL, /* does not work */
};

void doctor_title(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void doctor_found(enum doctor_level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Of what was found last: what to do. */
void doctor_cure(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The last line, and the exit status 0, 1 or 2. */
int doctor_verdict(void);
/* What is being done, for the one who ends us when it takes too long. */
void doctor_step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* limited.c: in a child, for that many seconds at most. Shared memory, so
 * that the parent knows how far it came. */
struct doctor_shared {
	_Atomic int warnings, failures;
	char step[256];
	/* The file that is made in a directory of a kernel mount; "": none. */
	char temporary[PATH_MAX];
};
extern struct doctor_shared *doctor_shared;
bool doctor_limited_start(void);
/* false: it took too long, and was told as a failure. */
bool doctor_limited(void (*)(void *), void *, unsigned seconds);
/* Without a word: is 0 returned in that time? */
bool doctor_answers(int (*)(void *), void *, unsigned seconds);
/* Ends like the signal that asked for it, if one did. */
void doctor_end_if_interrupted(void);

/* library.c, host.c: what all programs need. */
void doctor_library(void *);
void doctor_host(void *);
/* This program, run with the library in it: prints what it sees. */
int doctor_probe(void);

/* command.c, process.c: programs. */
void doctor_command(const char *name);
void doctor_process(pid_t);
/* Why the program will run without us, with what to do: true if it will.
 * path: an ELF file or a script. */
bool doctor_program(const char *path, enum doctor_level);

/* path.c, url.c: places. */
void doctor_path(const char *path);
void doctor_url(const char *url);

#endif
