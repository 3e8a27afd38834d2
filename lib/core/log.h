/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages to the administrator. One line each: program, pid, the cause, the
 * cure, and an identifier that nfsappend(1) explains. They go to fd 2 only
 * while it is still the file it was at start and not one of ours, else to
 * syslog; never through stdio; never into a descriptor that would block.
 */
#ifndef NFSAPPEND_CORE_LOG_H
#define NFSAPPEND_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum nfsappend_level {
	NFSAPPEND_OFF,
	NFSAPPEND_ERROR,
	NFSAPPEND_WARN,
	NFSAPPEND_INFO,
	NFSAPPEND_DEBUG,
};

/* Printed as N101...; never renumbered, since manuals and scripts quote
 * them. Configuration, first contact, append, descriptors, start-up. */
enum nfsappend_message {
	NFSAPPEND_MSG_BAD_CONFIG = 101,
	NFSAPPEND_MSG_BAD_MAP = 102,
	NFSAPPEND_MSG_BAD_PATHS = 103,
	NFSAPPEND_MSG_SINGLE_ALONE = 105,
	NFSAPPEND_MSG_NOT_LOCKED = 106,
	NFSAPPEND_MSG_MIXED_SHARING = 107,
	NFSAPPEND_MSG_CONTACT = 201,
	NFSAPPEND_MSG_NOT_RESPONDING = 202,
	NFSAPPEND_MSG_RESPONDING = 203,
	NFSAPPEND_MSG_CONNECTION = 204,
	NFSAPPEND_MSG_PORT = 205,
	NFSAPPEND_MSG_GROUPS = 206,
	NFSAPPEND_MSG_GRACE = 207,
	NFSAPPEND_MSG_APPEND_FAILED = 301,
	NFSAPPEND_MSG_IN_DOUBT = 302,
	NFSAPPEND_MSG_MAYBE_TWICE = 303,
	NFSAPPEND_MSG_OTHER_WRITER = 304,
	NFSAPPEND_MSG_BAD_REPLY = 305,
	NFSAPPEND_MSG_PREDECESSOR = 306,
	NFSAPPEND_MSG_APP_LOCK = 307,
	NFSAPPEND_MSG_NO_LOCKS = 308,
	NFSAPPEND_MSG_STATE = 309,
	NFSAPPEND_MSG_RENAMED = 310,
	NFSAPPEND_MSG_DEPOSED = 311,
	NFSAPPEND_MSG_UNSUPPORTED = 401,
	NFSAPPEND_MSG_SERVED = 402,
	NFSAPPEND_MSG_OPEN_FAILED = 403,
	NFSAPPEND_MSG_ADOPT_FAILED = 404,
	NFSAPPEND_MSG_NO_ROOM = 405,
	NFSAPPEND_MSG_KERNEL_SERVES = 406,
	NFSAPPEND_MSG_NOT_WRITABLE = 407,
	NFSAPPEND_MSG_NOT_NFS = 408,
	NFSAPPEND_MSG_WITHOUT_US = 409,
	NFSAPPEND_MSG_MODULE = 501,
	NFSAPPEND_MSG_STDIO = 502,
	NFSAPPEND_MSG_SEGMENT = 503,
	NFSAPPEND_MSG_STATS = 504,
};

/* Remembers what fd 2 is. Before any hook can have changed it. */
void nfsappend_log_start(void);
/* level and an absolute path (NULL: fd 2 or syslog); the string is kept. */
void nfsappend_log_configure(enum nfsappend_level, const char *file);
bool nfsappend_log_wanted(enum nfsappend_level);

void nfsappend_log(int level, int id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The program's name as in /proc/self/comm; refreshed after exec only. */
const char *nfsappend_program(void);

/* Writes one line to a file by path, or to fd 2 for "stderr". 0 or -errno. */
int nfsappend_write_line(const char *file, const char *line, size_t n);

#endif
