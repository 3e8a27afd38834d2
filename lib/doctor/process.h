/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that runs already: what process.c and descriptors.c share. */
#ifndef NFSAPPEND_DOCTOR_PROCESS_H
#define NFSAPPEND_DOCTOR_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct doctor_process {
	pid_t pid;
	unsigned euid;
	bool shimmed;
	char *environment; /* NUL between entries, two at the end; or NULL */
};

/* Of the environment that it was started with; NULL: not set. */
const char *doctor_variable(const struct doctor_process *, const char *name);

/* descriptors.c: which are managed, and why the others are not. */
void doctor_descriptors(const struct doctor_process *);

#endif
