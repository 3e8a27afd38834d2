/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/config_env.h"
#include "core/cwd.h"
#include "core/log.h"
#include "core/process.h"

#define MARK "/.nfsappend-cwd-" /* and 16 hexadecimal digits */
#define MARK_LEN (sizeof MARK - 1 + 16)
static const char deleted[] = " (deleted)";

/* A hint that saves asking. Once MAYBE it stays so: the working directory is
 * all threads', and a vfork child shares this word but not the directory. */
enum { UNKNOWN, NEVER, MAYBE };
static int hint;

int nfsappend_cwd_path(char *out, size_t room)
{
	char link[PATH_MAX];
	const char *mark;
	long n;
	size_t len;

	/* The kernel's getcwd() fails exactly for a removed directory. */
	if (sys_getcwd(link, sizeof link) != -ENOENT)
		return -ENOENT;
	n = sys_readlinkat(AT_FDCWD, "/proc/self/cwd", link, sizeof link - 1);
	if (n <= (long)sizeof deleted)
		return -ENOENT;
	link[n] = '\0';
	n -= (long)sizeof deleted - 1;
	mark = strstr(link, MARK);
	if (mark == NULL || strcmp(link + n, deleted) != 0 ||
		mark + MARK_LEN >= link + n || mark[MARK_LEN] != '/')
		return -ENOENT;
	len = (size_t)(link + n - (mark + MARK_LEN));
	if (out == NULL)
		return (int)len;
	if (len >= room)
		return -ENAMETOOLONG;
	memcpy(out, mark + MARK_LEN, len);
	out[len] = '\0';
	return (int)len;
}

bool nfsappend_cwd_mapped(void)
{
	int seen = __atomic_load_n(&hint, __ATOMIC_RELAXED);
	bool mapped;

	if (seen == NEVER)
		return false;
	mapped = nfsappend_cwd_path(NULL, 0) >= 0;
	if (seen == UNKNOWN && !nfsappend_in_vfork_child())
		__atomic_compare_exchange_n(&hint, &seen,
			mapped ? MAYBE : NEVER, false, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED);
	return mapped;
}

/* Makes every directory of path, from its first n bytes on. */
static long make_all(char *path, size_t n)
{
	long r = 0;

	for (char *s = path + n; r == 0; s++) {
		char c = *s;

		if (c != '/' && c != '\0')
			continue;
		*s = '\0';
		r = sys_mkdirat(AT_FDCWD, path, 0700);
		*s = c;
		if (c == '\0')
			break;
	}
	return r;
}

/* Removes them again, the deepest first. */
static void remove_all(char *path, size_t n)
{
	while (strlen(path) >= n) {
		sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
		*strrchr(path, '/') = '\0';
	}
}

/* A descriptor of a directory made under parent for path, and removed. */
static long stand_in(const char *parent, const char *path)
{
	char full[PATH_MAX];
	uint64_t id;
	size_t n;
	long fd, r;

	if (nfsappend_sys(SYS_getrandom, (long)&id, sizeof id, GRND_NONBLOCK, 0,
		    0, 0) != sizeof id)
		id = (uint64_t)nfsappend_now() ^ (uint64_t)sys_gettid() << 40;
	n = strlen(parent) + MARK_LEN;
	if (n + strlen(path) + sizeof deleted + 1 > sizeof full)
		return -ENAMETOOLONG;
	snprintf(full, sizeof full, "%s" MARK "%016llx%s", parent,
		(unsigned long long)id, path);
	r = make_all(full, n);
	fd = r == 0 ? sys_openat(AT_FDCWD, full,
			      O_PATH | O_DIRECTORY | O_CLOEXEC, 0)
		    : r;
	remove_all(full, n);
	return fd;
}

int nfsappend_cwd_open(const char *path)
{
	const char *const parents[] = {nfsappend_config.runtime, "/dev/shm",
		"/tmp", "/var/tmp", "/run"};
	long r = -ENOENT;

	for (unsigned i = 0; i < sizeof parents / sizeof *parents; i++) {
		if (parents[i] == NULL)
			continue;
		r = stand_in(parents[i], path);
		if (r >= 0 || r == -ENAMETOOLONG)
			return (int)r;
	}
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_UNSUPPORTED,
		"%s cannot be the working directory: no directory can be made "
		"in /dev/shm, /tmp, /var/tmp or NFSAPPEND_RUNTIME; the program "
		"gets EACCES",
		path);
	return -EACCES;
}

int nfsappend_cwd_enter(const char *path)
{
	int fd = nfsappend_cwd_open(path);
	long r;

	if (fd < 0)
		return fd;
	/* Before the change: no thread may miss it. */
	__atomic_store_n(&hint, MAYBE, __ATOMIC_RELAXED);
	r = nfsappend_sys(SYS_fchdir, fd, 0, 0, 0, 0, 0);
	sys_close(fd);
	return (int)r;
}
