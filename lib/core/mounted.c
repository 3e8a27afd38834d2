/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/mounted.h"
#include "core/opening.h"
#include "core/path.h"
#include "core/proxy.h"
#include "core/readers.h"
#include "core/table.h"
#include "core/taking.h"

int nfsappend_mounted_reopen(int fd, int flags, uint32_t accmode)
{
	char link[40];
	long old = sys_fcntl(fd, F_GETFL, 0), cloexec = sys_fcntl(fd, F_GETFD, 0);
	long at = sys_lseek(fd, 0, SEEK_CUR), new, r;

	if (old < 0)
		return (int)old;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	new = sys_openat(AT_FDCWD, link,
		flags | O_CLOEXEC | (int)(old & (O_APPEND | O_NONBLOCK)), 0);
	if (new < 0)
		return (int)new;
	if (at > 0)
		sys_lseek((int)new, at, SEEK_SET);
	sys_fcntl((int)new, F_SETSIG,
		accmode == O_RDWR ? NFSAPPEND_MARKER_RDWR : NFSAPPEND_MARKER);
	r = nfsappend_sys(SYS_dup3, new, fd,
		cloexec > 0 && cloexec & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0);
	sys_close((int)new);
	return r < 0 ? (int)r : 0;
}

int nfsappend_mounted_writable(struct nfsappend_file *f, int fd,
	uint32_t accmode)
{
	long fl = sys_fcntl(fd, F_GETFL, 0);

	if (fl >= 0 && (fl & O_ACCMODE) != O_RDONLY)
		return 0;
	/* First the word, then the deed: nobody appends in between without
	 * the poke. */
	atomic_store(&f->segment.shared->held_writable, 1);
	return nfsappend_mounted_reopen(fd, (int)accmode | O_SYNC, accmode);
}

/* The directory that path is in, in room bytes. */
static void parent_of(const char *path, char *out, size_t room)
{
	const char *slash = strrchr(path, '/');

	snprintf(out, room, "%.*s.",
		slash != NULL ? (int)(slash + 1 - path) : 0, path);
}

/* The path that the program uses, as text. false: it can't be told. */
static bool lexical(struct nfsappend_taking *t, int dirfd, const char *path)
{
	char *text = t->text;
	long n = 0;

	if (path[0] != '/') {
		if (dirfd == AT_FDCWD) {
			n = sys_getcwd(text, PATH_MAX);
			n = n > 0 ? n - 1 : -1;
		} else if (nfsappend_taking_path(dirfd, text, PATH_MAX) == 0) {
			n = (long)strlen(text);
		} else {
			n = -1;
		}
		if (n <= 0 || text[0] != '/')
			return false;
		text[n++] = '/';
	}
	if (strlen(path) >= PATH_MAX)
		return false;
	strcpy(text + n, path);
	return nfsappend_path_normalise(text, t->path, sizeof t->path) > 0;
}

/* The same with the links followed, as the kernel tells it. absent: the file
 * is not there yet, its directory is. */
static bool physical(struct nfsappend_taking *t, int dirfd, const char *path)
{
	const size_t room = sizeof t->path;
	bool absent = t->created;
	char *out = t->path, *parent = t->parent;
	const char *name = strrchr(path, '/');
	long fd;
	bool ok;

	if (strlen(path) >= sizeof t->parent)
		return false;
	name = name != NULL ? name + 1 : path;
	snprintf(parent, sizeof t->parent, "%.*s.", (int)(name - path), path);
	fd = sys_openat(dirfd, absent ? parent : path, O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	ok = nfsappend_taking_path((int)fd, out, room) == 0;
	sys_close((int)fd);
	if (ok && absent) {
		size_t n = strlen(out);

		ok = (size_t)snprintf(out + n, room - n, "%s%s",
			     n > 1 ? "/" : "", name) < room - n;
	}
	return ok;
}

/* Before the file is opened: is it (or will it be) on an NFS mount, and one
 * of NFSAPPEND_PATHS? */
static bool wanted(struct nfsappend_taking *t, int dirfd, const char *path, int flags)
{
	char *parent = t->parent;
	long r = sys_statx(dirfd, path,
		AT_STATX_DONT_SYNC |
			(flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0),
		NFSAPPEND_TAKING_MASK, &t->stx);

	t->created = false;
	if (r == -ENOENT && flags & O_CREAT && strlen(path) < PATH_MAX - 1) {
		parent_of(path, parent, sizeof t->parent);
		r = sys_statx(dirfd, parent, AT_STATX_DONT_SYNC, NFSAPPEND_TAKING_MASK,
			&t->stx);
		t->created = true;
	} else if (r == 0 && !S_ISREG(t->stx.stx_mode)) {
		return false;
	}
	if (r != 0)
		return false;
	if (!nfsappend_mount_find(&t->stx, &t->mount)) {
		if (lexical(t, dirfd, path) &&
			nfsappend_paths_match(t->path))
			nfsappend_log(NFSAPPEND_INFO, NFSAPPEND_MSG_NOT_NFS,
				"%s is named by NFSAPPEND_PATHS but not on an "
				"NFS mount: the kernel serves it as without "
				"nfsappend",
				t->path);
		return false;
	}
	return (lexical(t, dirfd, path) &&
		       nfsappend_paths_match(t->path)) ||
		(physical(t, dirfd, path) &&
			nfsappend_paths_match(t->path));
}

/* After the one open(): the entry in the table. fd, or -errno. */
static int enter(struct nfsappend_taking *t)
{
	struct nfsappend_attr empty = {.size = 0};
	struct nfsappend_open *o;
	int r;

	r = nfsappend_taking_stat(t->fd, &t->stx);
	if (r == 0)
		r = nfsappend_taking_path(t->fd, t->path, sizeof t->path);
	if (r != 0 || !S_ISREG(t->stx.stx_mode) ||
		!nfsappend_mount_find(&t->stx, &t->mount)) {
		/* Replaced since we looked: as the program asked for it. */
		r = nfsappend_mounted_reopen(t->fd,
			t->flags & ~(O_CREAT | O_EXCL), t->accmode);
		sys_fcntl(t->fd, F_SETSIG, 0);
		nfsappend_table_opened(t->fd);
		return r != 0 ? r : t->fd;
	}
	sys_fcntl(t->fd, F_SETSIG,
		t->accmode == O_RDWR ? NFSAPPEND_MARKER_RDWR
				     : NFSAPPEND_MARKER);
	r = nfsappend_take(t);
	if (r == NFSAPPEND_NOT_OURS) {
		if (t->flags & O_TRUNC)
			sys_ftruncate(t->fd, 0);
		nfsappend_table_opened(t->fd);
		return t->fd;
	}
	if (r == 0)
		nfsappend_readers_opened(t->file, t->began);
	if (r == 0 && t->mount.target.version == 3 && t->mount.cto &&
		!t->created && !(t->flags & O_TRUNC)) {
		atomic_store(&t->file->open_size, t->stx.stx_size);
		atomic_store(&t->file->open_time, t->began);
	}
	if (r == 0 && t->flags & O_TRUNC && !t->created)
		r = nfsappend_file_by_kernel(t->file)
			? (int)sys_ftruncate(t->fd, 0)
			: nfsappend_file_setattr(t->file, NFSAPPEND_SET_SIZE,
				  &empty);
	if (r == 0) {
		o = nfsappend_open_new(t->fd, t->accmode,
			(uint32_t)t->flags & (O_SYNC | O_DSYNC), t->file);
		if (o != NULL)
			nfsappend_table_set(t->fd, o);
		else
			r = -ENOMEM;
	}
	if (r != 0 && t->file != NULL)
		nfsappend_file_put(t->file);
	return r != 0 ? r : t->fd;
}

/*
 * The file has been removed by another host, yet the kernel's client could
 * open it once more by its handle (NFSv4.1, CLAIM_FH), because the open state
 * that we keep holds it on the server. When the client learns that the
 * directory has changed, it looks for the name again.
 */
static void look_again(struct nfsappend_taking *t, int dirfd, const char *path)
{
	struct statx stx;

	if (strlen(path) >= sizeof t->parent - 1)
		return;
	parent_of(path, t->parent, sizeof t->parent);
	sys_statx(dirfd, t->parent, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &stx);
}

/* What is opened in place of what the program asked for. */
static int open_placeholder(const struct nfsappend_taking *t, int dirfd,
	const char *path, mode_t mode)
{
	long fd = sys_openat(dirfd, path,
		(t->flags & ~(O_ACCMODE | O_TRUNC)) | O_RDONLY, (int)mode);

	if (fd == -EACCES && !t->created)
		/* Ours to write but not to read. */
		fd = sys_openat(dirfd, path, (t->flags & ~O_TRUNC) | O_SYNC,
			(int)mode);
	return (int)fd;
}

int nfsappend_mounted_open(int dirfd, const char *path, int flags, mode_t mode)
{
	struct nfsappend_guard guard;
	struct nfsappend_taking *t;
	int r;

	nfsappend_guard_enter(&guard);
	t = nfsappend_pages(sizeof *t);
	r = t != NULL && wanted(t, dirfd, path, flags) &&
			/* Its own maker could not open it a second time. */
			!(t->created && !(mode & S_IWUSR))
		? 0
		: NFSAPPEND_NOT_OURS;
	nfsappend_guard_leave(&guard);
	if (r != 0)
		goto out;
	t->flags = flags;
	t->accmode = (uint32_t)flags & O_ACCMODE;
	for (int tries = 0; tries < 2; tries++) {
		/* Without the guard: it may wait for the server, and signals
		 * kill. */
		t->began = nfsappend_now();
		r = t->fd = open_placeholder(t, dirfd, path, mode);
		if (r < 0)
			break;
		nfsappend_guard_enter(&guard);
		r = enter(t);
		if (r == -ESTALE && tries == 0)
			look_again(t, dirfd, path);
		if (r < 0)
			sys_close(t->fd);
		nfsappend_guard_leave(&guard);
		if (r != -ESTALE)
			break;
	}
out:
	if (t != NULL)
		sys_munmap(t, sizeof *t);
	return r;
}

bool nfsappend_mounted_candidate(int fd)
{
	long fl;

	if (nfsappend_config.npaths == 0)
		return false;
	fl = sys_fcntl(fd, F_GETFL, 0);
	return fl >= 0 && fl & O_APPEND && !(fl & O_PATH) &&
		(fl & O_ACCMODE) != O_RDONLY;
}

static int adopt(struct nfsappend_taking *t, bool marked)
{
	int r = nfsappend_taking_stat(t->fd, &t->stx);

	if (r != 0 || !S_ISREG(t->stx.stx_mode) ||
		!nfsappend_mount_find(&t->stx, &t->mount) ||
		nfsappend_taking_path(t->fd, t->path, sizeof t->path) != 0)
		return NFSAPPEND_NOT_OURS;
	if (!marked && (!nfsappend_paths_match(t->path) ||
			       (!t->keep && nfsappend_needs_proxy())))
		return NFSAPPEND_NOT_OURS;
	/* Who may not read it keeps it as it is. */
	if (!marked && t->fd != 2 && !t->keep)
		(void)nfsappend_mounted_reopen(t->fd, O_RDONLY, t->accmode);
	r = nfsappend_take(t);
	if (r == 0 && (sys_fcntl(t->fd, F_GETFL, 0) & O_ACCMODE) != O_RDONLY) {
		atomic_store(&t->file->segment.shared->held_writable, 1);
		if (!marked && !t->keep)
			sys_fcntl(t->fd, F_SETSIG,
				t->accmode == O_RDWR ? NFSAPPEND_MARKER_RDWR
						     : NFSAPPEND_MARKER);
	}
	return r;
}

int nfsappend_mounted_adopt(int fd, bool keep, struct nfsappend_file **out,
	uint32_t *accmode)
{
	struct nfsappend_taking *t = nfsappend_pages(sizeof *t);
	long sig = sys_fcntl(fd, F_GETSIG, 0), fl = sys_fcntl(fd, F_GETFL, 0);
	int r = NFSAPPEND_NOT_OURS;

	if (t == NULL)
		return -ENOMEM;
	t->fd = fd;
	t->keep = keep;
	t->accmode = (uint32_t)fl & O_ACCMODE;
	if (nfsappend_is_marker(sig) && t->accmode == O_RDONLY)
		t->accmode = sig == NFSAPPEND_MARKER_RDWR ? O_RDWR : O_WRONLY;
	if (fl >= 0 && (nfsappend_is_marker(sig) ||
			       nfsappend_mounted_candidate(fd)))
		r = adopt(t, nfsappend_is_marker(sig));
	*out = t->file;
	*accmode = t->accmode;
	sys_munmap(t, sizeof *t);
	return r;
}

/* Apart: its frame is large, and messages ask this. */
static __attribute__((noinline)) bool named(int fd)
{
	char path[PATH_MAX];

	return nfsappend_taking_path(fd, path, sizeof path) == 0 &&
		nfsappend_paths_match(path);
}

bool nfsappend_mounted_named(int fd)
{
	return nfsappend_mounted_candidate(fd) && named(fd);
}

struct seeking {
	uint64_t device, fileid;
	struct nfsappend_file *found;
};

static void seek_file(struct nfsappend_file *f, void *arg)
{
	struct seeking *s = arg;

	if (nfsappend_file_mounted(f) && f->fileid == s->fileid &&
		f->device == s->device && f->segment.shared->touched)
		s->found = f;
}

bool nfsappend_mounted_appended(uint64_t device, uint64_t fileid,
	struct nfsappend_attr *attr)
{
	struct seeking s = {device, fileid, NULL};

	nfsappend_file_each(seek_file, &s);
	return s.found != NULL && !nfsappend_file_by_kernel(s.found) &&
		nfsappend_file_getattr(s.found, attr) == 0;
}
