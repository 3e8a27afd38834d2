/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/errname.h"
#include "core/handover.h"
#include "core/log.h"
#include "core/mounted.h"
#include "core/opening.h"
#include "core/proxy.h"
#include "core/served.h"
#include "core/table.h"

#define PROBE_S 3 /* of silence */

struct dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

/* Calls fn for every open descriptor of this process. */
static void each_descriptor(void (*fn)(int fd, void *), void *arg)
{
	char entries[1024] __attribute__((aligned(8)));
	long dir = sys_openat(AT_FDCWD, "/proc/self/fd",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long n;

	if (dir < 0)
		return;
	while ((n = sys_getdents64((int)dir, entries, sizeof entries)) > 0) {
		for (long at = 0; at < n;) {
			struct dirent64 *e = (struct dirent64 *)(entries + at);
			int fd = atoi(e->name);

			at += e->reclen;
			if (e->name[0] != '.' && fd != dir)
				fn(fd, arg);
		}
	}
	sys_close((int)dir);
}

/* Is it, or would it be adopted as, a descriptor of a file on a mount? */
static bool on_mount(int fd)
{
	uintptr_t v = nfsappend_table_peek(fd);
	struct nfsappend_open *o;

	if (v == NFSAPPEND_FD_UNMANAGED)
		return false;
	if (v > NFSAPPEND_FD_UNSURE) {
		int error;
		bool is;

		o = nfsappend_table_get(fd, &error);
		if (o == NULL)
			return false;
		is = o->file != NULL && nfsappend_file_mounted(o->file);
		nfsappend_open_put(o);
		return is;
	}
	if (nfsappend_placeholder_marked(fd))
		return sys_fcntl(fd, F_GET_SEALS, 0) < 0; /* no memfd */
	return nfsappend_mounted_named(fd);
}

static ssize_t convert(void *file)
{
	return nfsappend_kernel_convert(file);
}

static void convert_file(struct nfsappend_file *f, const char *who)
{
	bool was = nfsappend_file_by_kernel(f);
	ssize_t r = nfsappend_needs_proxy() ? nfsappend_proxy(convert, f)
					    : nfsappend_kernel_convert(f);

	if (was)
		return;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_WITHOUT_US,
		"%s: %s, so the kernel serves the file from now on, with "
		"O_SYNC; appends of other hosts are not kept apart from that "
		"program's",
		f->path, who);
	if (r != 0)
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_IN_DOUBT,
			"%s: a record without an answer could not be settled "
			"before; it may be missing or overwritten",
			f->path);
}

/* The file behind it, counted. NULL: not one on a mount. */
static struct nfsappend_file *file_of(int fd, uint32_t *accmode)
{
	struct nfsappend_file *f = NULL;

	if (!on_mount(fd) || nfsappend_mounted_adopt(fd, true, &f, accmode) != 0)
		return NULL;
	return f;
}

void nfsappend_hand_over(int fd, const char *who)
{
	uint32_t accmode;
	struct nfsappend_file *f = file_of(fd, &accmode);
	int r;

	if (f == NULL)
		return;
	convert_file(f, who);
	r = nfsappend_mounted_writable(f, fd, accmode);
	if (r != 0)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_NOT_WRITABLE,
			"%s cannot be opened for writing any more (%s), and "
			"%s: its writes fail with EBADF",
			f->path, nfsappend_strerror(-r), who);
	nfsappend_file_put(f);
}

struct search {
	bool all, found;
};

static void look(int fd, void *arg)
{
	struct search *s = arg;

	if (s->found || (!s->all && sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC))
		return;
	s->found = on_mount(fd);
}

bool nfsappend_hands_on(bool all)
{
	struct search s = {all, false};

	each_descriptor(look, &s);
	return s.found;
}

static void hand_on(int fd, void *who)
{
	if (!(sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC))
		nfsappend_hand_over(fd, who);
}

static void hand_on_file(int fd, void *who)
{
	uint32_t accmode;
	struct nfsappend_file *f = file_of(fd, &accmode);

	if (f == NULL)
		return;
	convert_file(f, who);
	nfsappend_file_put(f);
}

#define WHO(who, path, why)                                                    \
	snprintf((who), sizeof(who), "the program %.200s %s", (path), (why))

void nfsappend_hand_on(const char *path, const char *why)
{
	char who[400];

	WHO(who, path, why);
	each_descriptor(hand_on, who);
}

void nfsappend_hand_on_files(const char *path, const char *why)
{
	char who[400];

	WHO(who, path, why);
	each_descriptor(hand_on_file, who);
}

/* One request from a port that any user may have. */
static bool answers_unprivileged(struct nfsappend_file *f)
{
	struct nfsappend_server *s = f->key.server;
	struct nfsappend_target target = s->target;
	struct nfsappend_session *session;
	struct nfsappend_waiting w;
	struct nfsappend_attr attr;
	int r;

	if (atomic_load(&s->unprivileged) != 0)
		return atomic_load(&s->unprivileged) == 1;
	target.unprivileged = 1;
	session = nfsappend_backend->session(&target, &s->contact, &s->cred);
	if (session == NULL)
		return true;
	nfsappend_wait_start(&w, NULL, PROBE_S);
	r = nfsappend_backend->getattr(session, &w.wait, &f->key.fh, &attr);
	/* Silence is no answer: it is as it is for those who are root. */
	if (r <= 0)
		atomic_store(&s->unprivileged,
			r == -EPERM || r == -EACCES ? 2 : 1);
	return r != -EPERM && r != -EACCES;
}

static bool in_groups(uint32_t gid)
{
	gid_t groups[256];
	long n = nfsappend_sys(SYS_getgroups, 256, (long)groups, 0, 0, 0, 0);

	for (long i = 0; i < n; i++)
		if (groups[i] == gid)
			return true;
	return (uint32_t)nfsappend_sys(SYS_getegid, 0, 0, 0, 0, 0, 0) == gid;
}

/* By mode and owner; an ACL may know better, and then it is asked again when
 * the descriptor is opened. */
static bool may_write(int fd, uint32_t uid)
{
	struct statx stx;

	if (sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		    STATX_MODE | STATX_UID | STATX_GID, &stx) != 0)
		return false;
	return stx.stx_mode &
		(stx.stx_uid == uid		 ? S_IWUSR
				: in_groups(stx.stx_gid) ? S_IWGRP
							 : S_IWOTH);
}

struct user {
	uint32_t uid;
	char who[200];
};

static void hand_over_to_user(int fd, void *arg)
{
	struct user *u = arg;
	uint32_t accmode;
	struct nfsappend_file *f = file_of(fd, &accmode);

	if (f == NULL)
		return;
	if (!may_write(fd, u->uid) &&
		(nfsappend_file_by_kernel(f) || !answers_unprivileged(f)))
		nfsappend_hand_over(fd, u->who);
	nfsappend_file_put(f);
}

void nfsappend_hand_over_to_user(uint32_t uid)
{
	struct user u = {.uid = uid};

	snprintf(u.who, sizeof u.who,
		"the process becomes user %u, who may not open it, and whose "
		"ports the server refuses (export it with 'insecure')",
		(unsigned)uid);
	each_descriptor(hand_over_to_user, &u);
}
