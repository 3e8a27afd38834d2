/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "core/applock.h"

#define NFS_MAGIC 0x6969 /* NFS_SUPER_MAGIC, linux/magic.h */
/* struct nfs_fh behind the two words of the fileid, the type and the length,
 * fs/nfs/export.c */
#define HANDLE_AT 14

/* A line "lock:\t1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0 EOF" of
 * that inode (proc(5))? */
static bool write_lock_in(const char *text, uint64_t inode)
{
	const char *line = text;

	while ((line = strstr(line, "lock:\t")) != NULL) {
		const char *end = strchr(line, '\n');
		const char *write = strstr(line, " WRITE ");
		unsigned long long found;

		if (write != NULL && (end == NULL || write < end) &&
			sscanf(write, " WRITE %*d %*x:%*x:%llu", &found) == 1 &&
			found == inode)
			return true;
		line++;
	}
	return false;
}

/* The kernel's client knows files by the server's handles. Not with NFSv4.0:
 * there the number alone must do. */
static bool other_file(int fd, const struct nfsappend_fh *fh)
{
	struct {
		struct file_handle head;
		uint8_t data[MAX_HANDLE_SZ];
	} h = {.head.handle_bytes = sizeof h.data};
	int mount;
	uint16_t len;

	if (nfsappend_sys(SYS_name_to_handle_at, fd, (long)"", (long)&h.head,
		    (long)&mount, AT_EMPTY_PATH, 0) != 0 ||
		h.head.handle_bytes < HANDLE_AT)
		return false;
	memcpy(&len, h.data + HANDLE_AT - 2, sizeof len);
	return len <= sizeof h.data - HANDLE_AT &&
	       (len != fh->len || memcmp(h.data + HANDLE_AT, fh->data, len) != 0);
}

static bool locked_by(int info, const char *name, const struct nfsappend_file *f)
{
	char text[2048];
	struct statfs fs;
	long fd;

	if (sys_read_text(info, name, text, sizeof text) <= 0 ||
		!write_lock_in(text, f->fileid))
		return false;
	fd = atoi(name);
	return nfsappend_sys(SYS_fstatfs, fd, (long)&fs, 0, 0, 0, 0) == 0 &&
	       fs.f_type == NFS_MAGIC && !other_file((int)fd, &f->key.fh);
}

struct dirent64 {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

bool nfsappend_applock_ours(const struct nfsappend_file *f)
{
	char entries[2048] __attribute__((aligned(8)));
	long dir = sys_openat(AT_FDCWD, "/proc/self/fdinfo",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	bool found = false;
	long n;

	if (dir < 0)
		return false;
	while (!found && (n = sys_getdents64(dir, entries, sizeof entries)) > 0)
		for (long at = 0; !found && at < n;) {
			struct dirent64 *e = (struct dirent64 *)(entries + at);

			at += e->reclen;
			if (e->name[0] != '.')
				found = locked_by((int)dir, e->name, f);
		}
	sys_close(dir);
	return found;
}
