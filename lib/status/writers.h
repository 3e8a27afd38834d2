/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes behind the numbers in a segment, as /proc has them now. */
#ifndef NFSAPPEND_STATUS_WRITERS_H
#define NFSAPPEND_STATUS_WRITERS_H

#include <stdbool.h>
#include <sys/types.h>

enum nfsappend_writer_state {
	NFSAPPEND_WRITER_RUNNING,
	NFSAPPEND_WRITER_STOPPED, /* by a signal or a debugger */
	/* Ended, or the number is another process's, which has not mapped the
	 * segment. */
	NFSAPPEND_WRITER_GONE,
	NFSAPPEND_WRITER_UNKNOWN, /* of another PID namespace */
};

struct nfsappend_writer {
	pid_t pid;
	enum nfsappend_writer_state state;
	bool leads;
	char command[64]; /* as /proc/PID/comm, "" when it is not known */
};

/* segment: the name of its file, without the folder. leader: a thread, 0:
 * none. */
void nfsappend_writer_look(pid_t, const char *segment, pid_t leader,
	struct nfsappend_writer *);
/* What is known of processes is remembered until then. */
void nfsappend_writers_forget(void);

#endif
