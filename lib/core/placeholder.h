/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel descriptor that a program holds in place of a mapped file: a
 * sealed memfd that says what it stands for. It survives dup, fork and exec
 * by itself, carries the shared offset and the status flags (O_APPEND,
 * O_NONBLOCK), and a write that escapes us fails with EPERM instead of
 * vanishing. Any process that inherits it can serve it from its text alone.
 */
#ifndef NFSAPPEND_CORE_PLACEHOLDER_H
#define NFSAPPEND_CORE_PLACEHOLDER_H

#include <stdbool.h>

#include "core/backend.h"
#include "core/sys.h"

/* F_SETSIG value: belongs to the open file description, so dup, fork and
 * exec keep it. SIGRTMAX-1; sent by nobody while O_ASYNC is not set. */
#define NFSAPPEND_MARKER 63
/* On a kernel mount the placeholder is the file itself, opened O_RDONLY: this
 * one says that the program has opened it O_RDWR. */
#define NFSAPPEND_MARKER_RDWR 62

#define NFSAPPEND_SHOWN_MAX 1024 /* of a path for messages, with its NUL */

struct nfsappend_placeholder {
	char text[128]; /* for people: cat /proc/PID/fd/N */
	uint64_t magic;
	uint32_t size; /* of this struct */
	uint32_t directory; /* 1: it stands for one, not for a file */
	uint32_t accmode;
	uint32_t sync; /* O_SYNC, O_DSYNC, O_DIRECTORY: for F_GETFL only */
	uint32_t sharing; /* of a directory: the path is cut short */
	uint32_t timeout_s;
	uint64_t fileid;
	struct nfsappend_target target;
	struct nfsappend_contact contact;
	struct nfsappend_cred cred;
	struct nfsappend_fh fh;
	struct nfsappend_fh dir;
	char name[NFSAPPEND_NAME_MAX + 1]; /* in dir */
	char path[NFSAPPEND_SHOWN_MAX]; /* as resolved; may be cut short */
};

/* A new placeholder. status_flags: what F_SETFL can set, O_CLOEXEC. The
 * descriptor or -errno. */
int nfsappend_placeholder_make(const struct nfsappend_placeholder *,
	int status_flags);

static inline bool nfsappend_is_marker(long sig)
{
	return sig == NFSAPPEND_MARKER || sig == NFSAPPEND_MARKER_RDWR;
}

static inline bool nfsappend_placeholder_marked(int fd)
{
	return nfsappend_is_marker(sys_fcntl(fd, F_GETSIG, 0));
}

/* Marks another open of the same memfd (/dev/stdout, /proc/self/fd/N). */
void nfsappend_placeholder_mark(int fd);

/* 0 and the checked content, or -errno when fd is none of ours. */
int nfsappend_placeholder_read(int fd, struct nfsappend_placeholder *);

#endif
