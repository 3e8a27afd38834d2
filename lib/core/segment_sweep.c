/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments that nobody uses any more. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "core/segment_file.h"
#include "core/unused.h"

#define LINGER_S 60 /* after its last user, as a lease */
/* Of another version's nothing can be told but its age. Programs that have it
 * mapped go on with it, as with one that a new version has replaced. */
#define STRANGER_S (24 * 3600)
#define SWEEP_MAX 64

static bool is_old(int fd)
{
	struct timespec now;
	struct statx stx;

	clock_gettime(CLOCK_REALTIME, &now);
	return sys_statx(fd, "", AT_EMPTY_PATH, STATX_MTIME | STATX_TYPE,
		       &stx) == 0 &&
	       S_ISREG(stx.stx_mode) &&
	       now.tv_sec - stx.stx_mtime.tv_sec > STRANGER_S;
}

/* Removes a segment that nobody has used for a while. fd is open on it. */
static void sweep_one(int fd, const char *path)
{
	struct nfsappend_segment *s;

	if (sys_flock(fd, LOCK_EX | LOCK_NB) != 0)
		return;
	if (sys_lseek(fd, 0, SEEK_END) < HEAD_BYTES)
		s = NULL; /* nor one of ours half made: those are locked */
	else if ((s = sys_mmap(HEAD_BYTES, PROT_READ, MAP_SHARED, fd)) == NULL)
		return;
	if (s == NULL || s->magic != NFSAPPEND_SEGMENT_MAGIC) {
		if (is_old(fd))
			sys_unlinkat(AT_FDCWD, path, 0);
	} else if (nfsappend_now() / INT64_C(1000000000) -
				   atomic_load(&s->used_s) >
			   LINGER_S) {
		const char *host = nfsappend_segment_host();
		size_t n = strlen(host);

		if (s->keylen > n && s->keylen <= sizeof s->key)
			nfsappend_unused_note(
				s->key + n, s->keylen - n, &s->slot);
		sys_unlinkat(AT_FDCWD, path, 0);
	}
	if (s != NULL)
		sys_munmap(s, HEAD_BYTES);
}

struct dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

static void sweep_file(const char *directory, const char *name)
{
	char path[DIRECTORY_MAX + 300];
	long fd;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	fd = nfsappend_segment_open_file(path, O_RDWR);
	if (fd < 0)
		return;
	sweep_one((int)fd, path);
	sys_flock((int)fd, LOCK_UN);
	sys_close(fd);
}

/* All where they are few, else those whose names begin with a digit drawn by
 * lot, too. */
void nfsappend_segment_sweep(const char *directory)
{
	char entries[SWEEP_MAX * 64] __attribute__((aligned(8)));
	char digit = "0123456789abcdef"[nfsappend_now() >> 10 & 15];
	long dir = sys_openat(
		AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	unsigned seen = 0;
	long n;

	if (dir < 0)
		return;
	while ((n = sys_getdents64(dir, entries, sizeof entries)) > 0) {
		for (long at = 0; at < n;) {
			struct dirent64 *e = (struct dirent64 *)(entries + at);

			at += e->reclen;
			if (strlen(e->name) == 32 &&
				(seen++ < SWEEP_MAX || e->name[0] == digit))
				sweep_file(directory, e->name);
		}
	}
	sys_close(dir);
}
