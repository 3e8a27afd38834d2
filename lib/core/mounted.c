/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/errname.h"
#include "core/handle.h"
#include "core/log.h"
#include "core/mounted.h"
#include "core/mounts.h"
#include "core/opening.h"
#include "core/path.h"
#include "core/proxy.h"
#include "core/state.h"
#include "core/table.h"
#include "core/unused.h"

#define STAT_MASK                                                              \
	(STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID | STATX_INO |         \
		STATX_SIZE | STATX_MNT_ID)
#define FIRST_CONTACT_S 3 /* of silence, until the kernel serves */

/* One descriptor on its way to be ours. */
struct taking {
	int fd;
	uint32_t accmode;
	int flags; /* of open(); 0: inherited */
	int64_t began; /* open(): CLOCK_MONOTONIC ns */
	bool created;
	bool keep; /* the descriptor: as it is */
	struct statx stx;
	struct nfsappend_mount mount;
	struct nfsappend_fh fh;
	uint32_t lookup_rpcs;
	struct nfsappend_file *file;
	int error; /* -errno for fallback "fail" */
	char why[400];
	char path[PATH_MAX]; /* as the kernel tells it */
};

static int stat_fd(int fd, struct statx *stx)
{
	return (int)sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		STAT_MASK, stx);
}

static int path_of(int fd, char *out, size_t room)
{
	char link[40];
	long n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = sys_readlinkat(AT_FDCWD, link, out, room - 1);
	if (n < 0)
		return (int)n;
	out[n] = '\0';
	return out[0] == '/' ? 0 : -ENOENT;
}

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

/* Handle by path, where the kernel does not give it: v4.0 mounts, a seccomp
 * filter, a layout that we do not know. */
static int look_up(struct taking *t, struct nfsappend_server *server)
{
	struct nfsappend_waiting w;
	struct nfsappend_attr attr = {.type = 0};
	const char *s = t->path + strlen(t->mount.point);
	char name[NFSAPPEND_NAME_MAX + 1];
	int r;

	if (strncmp(t->path, t->mount.point, strlen(t->mount.point)) != 0)
		return -EXDEV;
	nfsappend_wait_start(&w, NULL, FIRST_CONTACT_S);
	r = nfsappend_server_contact(server, &w);
	if (r != 0) {
		snprintf(t->why, sizeof t->why, "%s", server->why);
		return r;
	}
	t->fh = server->contact.root;
	for (s += strspn(s, "/"); r == 0 && *s != '\0'; s += strspn(s, "/")) {
		struct nfsappend_fh dir = t->fh;
		size_t n = strcspn(s, "/");

		if (n > NFSAPPEND_NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, s, n);
		name[n] = '\0';
		s += n;
		NFSAPPEND_CALL(server, &w, r, lookup, &dir, name, &t->fh,
			&attr);
	}
	if (r == 0 && attr.fileid != t->stx.stx_ino)
		r = -ESTALE; /* renamed or replaced meanwhile */
	t->lookup_rpcs = w.wait.rpcs;
	return r;
}

static uint32_t timeout_s(const struct nfsappend_mount *m)
{
	/* A soft mount gives up after retrans times timeo (nfs(5), TCP). */
	if (nfsappend_config.timeout_given || !m->soft)
		return nfsappend_config.timeout_s;
	return (m->timeo * (m->retrans + 1) + 9) / 10;
}

static int find_handle(struct taking *t, struct nfsappend_server **server)
{
	struct nfsappend_cred cred;
	int r = nfsappend_handle_of(t->fd, t->stx.stx_ino, &t->fh);

	nfsappend_cred_now(&cred, &t->mount.target);
	*server = nfsappend_server_get(&t->mount.target, &cred,
		r == 0 ? &t->mount.contact : NULL);
	if (*server == NULL) {
		snprintf(t->why, sizeof t->why, "the nfs module or memory is "
						"missing");
		return -ENOMEM;
	}
	return r == 0 ? 0 : look_up(t, *server);
}

/* NFSv4.0 opens by name: that of now, and the handle of its directory. */
static void find_name(struct taking *t)
{
	struct nfsappend_file *f = t->file;
	struct nfsappend_fh dir;
	struct statx stx;
	char *slash = strrchr(t->path, '/');
	long fd;

	if (f->name[0] != '\0' && strcmp(f->path, t->path) == 0)
		return;
	if (strlen(slash + 1) > NFSAPPEND_NAME_MAX || t->stx.stx_nlink == 0)
		return;
	*slash = '\0';
	fd = sys_openat(AT_FDCWD, slash == t->path ? "/" : t->path,
		O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	*slash = '/';
	if (fd < 0)
		return;
	if (stat_fd((int)fd, &stx) == 0 &&
		nfsappend_handle_of((int)fd, stx.stx_ino, &dir) == 0)
		nfsappend_file_name(f, &dir, slash + 1);
	sys_close((int)fd);
}

/* The object, from descriptor and mount alone. 0 or -errno; why is set. */
static int get_file(struct taking *t)
{
	struct nfsappend_server *server;
	uint64_t device = makedev(t->stx.stx_dev_major, t->stx.stx_dev_minor);
	int r;

	/* A copy of a descriptor that this process has: as that one, though
	 * the process may have become another user. */
	if (t->flags == 0)
		t->file = nfsappend_file_on_mount(device, t->stx.stx_ino);
	if (t->file != NULL) {
		atomic_store(&t->file->some_fd, t->fd);
		return 0;
	}
	if (t->mount.target.version == 0) {
		snprintf(t->why, sizeof t->why,
			"its mount's version or address is not known to us");
		return -EPROTONOSUPPORT;
	}
	if (!t->mount.sys) {
		snprintf(t->why, sizeof t->why,
			"it is mounted with sec=%s, and only sec=sys is spoken",
			t->mount.sec);
		return -EACCES;
	}
	r = find_handle(t, &server);
	if (r == 0)
		r = nfsappend_file_get(server, &t->fh, NULL,
			nfsappend_config_sharing(server->target.version),
			timeout_s(&t->mount), t->stx.stx_ino, t->path,
			&t->file);
	if (r != 0) {
		if (t->why[0] == '\0')
			snprintf(t->why, sizeof t->why,
				"its file handle cannot be found out: %s",
				nfsappend_strerror(-r));
		return r;
	}
	t->file->device = device;
	t->file->local_lock = t->mount.local_lock;
	atomic_store(&t->file->some_fd, t->fd);
	nfsappend_count(&t->file->stats.rpcs, t->lookup_rpcs);
	nfsappend_count(&t->file->stats.lookup_rpcs, t->lookup_rpcs);
	return 0;
}

static void explain(struct taking *t, int r)
{
	const struct nfsappend_server *s = t->file->key.server;
	const char *host = s->target.host;
	unsigned port = ntohs(s->contact.address.sin6_port);

	switch (r) {
	case -EPERM:
	case -EACCES:
		snprintf(t->why, sizeof t->why,
			"the server %s refuses us (%s), perhaps because this "
			"user may not use a port below 1024: export it with "
			"'insecure', or give the program CAP_NET_BIND_SERVICE",
			host, nfsappend_strerror(-r));
		break;
	case -EPROTONOSUPPORT:
		snprintf(t->why, sizeof t->why,
			"the server %s does not speak NFSv4.0, which we need "
			"beside an NFSv4 mount: allow it there (vers4.0=y), "
			"or mount with vers=3",
			host);
		break;
	case NFSAPPEND_UNSENT:
	case NFSAPPEND_LOST:
	case NFSAPPEND_TIMED_OUT:
		snprintf(t->why, sizeof t->why,
			"port %u of the server %s cannot be reached from this "
			"process: check firewall, route and network namespace",
			port, host);
		break;
	case -EXDEV:
		snprintf(t->why, sizeof t->why,
			"the server %s, as this process reaches it, has "
			"another file under that handle (another network "
			"namespace?)",
			host);
		break;
	default:
		snprintf(t->why, sizeof t->why,
			"the server %s does not take the kernel's file "
			"handle: %s",
			host, nfsappend_strerror(-r));
	}
}

/* Does the server know the file by our handle? Once for a segment, since it
 * is the same question for all. 0, -errno or an outcome. */
static int first_contact(struct taking *t)
{
	struct nfsappend_file *f = t->file;
	struct nfsappend_server *s = f->key.server;
	struct nfsappend_waiting w;
	struct nfsappend_attr attr;
	unsigned tries = 0;
	int r;

	nfsappend_wait_start(&w, s->name,
		nfsappend_config.fallback_fails ? f->timeout_s
						: FIRST_CONTACT_S);
	do {
		r = nfsappend_backend->getattr(s->session, &w.wait, &f->key.fh,
			&attr);
		if (r == NFSAPPEND_UNSENT || r == NFSAPPEND_TIMED_OUT)
			break; /* refused, no route: an answer */
	} while (r > 0 && nfsappend_server_again(s, &w, &r, &tries));
	nfsappend_count(&f->stats.rpcs, w.wait.rpcs);
	if (r == 0 && (attr.fileid != t->stx.stx_ino ||
			      attr.type != NFSAPPEND_REG))
		r = -EXDEV;
	if (r == 0) {
		atomic_store(&f->segment.shared->checked, 1);
		nfsappend_attr_remember(f, &attr);
	} else {
		explain(t, r);
	}
	return r > 0 ? -EIO : r;
}

/* Can it be served our way? 0 or -errno; why is set. */
static int begin_serving(struct taking *t)
{
	struct nfsappend_file *f = t->file;
	struct nfsappend_segment *s = f->segment.shared;
	int r = 0;

	/* What other programs of this host have written to the page cache
	 * must not land on top of our appends later. */
	nfsappend_sys(SYS_fsync, t->fd, 0, 0, 0, 0, 0);
	if (!atomic_load(&s->checked) && !nfsappend_needs_proxy()) {
		r = first_contact(t);
		/* Whom others are serving stays ours: we queue with them. */
		if (r != 0 && atomic_load(&s->checked))
			r = 0;
	}
	if (r != 0 || f->sharing != NFSAPPEND_LOCKED)
		return r;
	find_name(t);
	/* A vfork child may take no lock; the append itself opens, too. */
	r = nfsappend_needs_proxy() ? 0 : nfsappend_state_prepare(f, NULL);
	if (r != 0)
		snprintf(t->why, sizeof t->why,
			"it cannot be opened for appending by NFSv4.0: %s",
			nfsappend_strerror(-r));
	return r;
}

/* Neither the object nor its segment are there, or none may be: each write is
 * durable, and that is all that can be done. */
static int leave_to_kernel(struct taking *t)
{
	int r;

	if (t->keep)
		return NFSAPPEND_NOT_OURS;
	if (nfsappend_config.fallback_fails)
		return t->error;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_KERNEL_SERVES,
		"%s is left to the kernel, with O_SYNC: %s", t->path, t->why);
	r = nfsappend_mounted_reopen(t->fd, (int)t->accmode | O_SYNC,
		t->accmode);
	sys_fcntl(t->fd, F_SETSIG, 0);
	return r != 0 ? r : NFSAPPEND_NOT_OURS;
}

/* By the kernel, but with us: under the leader lock, known to all. */
static int fall_back(struct taking *t)
{
	struct nfsappend_file *f = t->file;

	if (nfsappend_config.fallback_fails) {
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_KERNEL_SERVES,
			"%s is refused with %s (NFSAPPEND_FALLBACK=fail): %s",
			t->path, nfsappend_strerror(-t->error), t->why);
		return t->error;
	}
	if (atomic_exchange(&f->segment.shared->kernel_served, 1) == 0)
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_KERNEL_SERVES,
			"%s is served by the kernel, each write with O_SYNC: "
			"%s",
			t->path, t->why);
	return 0;
}

/* The permission to write, which open(O_RDONLY) did not ask for. Asked once
 * for a mode and owner. */
static int may_write(struct taking *t)
{
	char link[40];
	uint64_t is = UINT64_C(1) << 63 | ((uint64_t)t->stx.stx_mode << 40 ^
		(uint64_t)t->stx.stx_uid << 20 ^ t->stx.stx_gid);
	long r;

	if (t->file != NULL && atomic_load(&t->file->may_write) == is)
		return 0;
#ifdef SYS_faccessat2
	r = nfsappend_sys(SYS_faccessat2, t->fd, (long)"", W_OK,
		AT_EACCESS | AT_EMPTY_PATH, 0, 0);
#else
	r = -ENOSYS;
#endif
	if (r == -ENOSYS || r == -EPERM || r == -EINVAL) {
		/* As the real user, which is nearly always the same one. */
		snprintf(link, sizeof link, "/proc/self/fd/%d", t->fd);
		r = nfsappend_sys(SYS_faccessat, AT_FDCWD, (long)link, W_OK,
			0, 0, 0);
	}
	if (r == 0 && t->file != NULL)
		atomic_store(&t->file->may_write, is);
	return (int)r;
}

/* The descriptor's file, served by us or by the kernel. 0, NOT_OURS (and the
 * descriptor is the kernel's alone), -errno. */
static int take(struct taking *t)
{
	struct nfsappend_file *f;
	int r = get_file(t);

	if (r != 0) {
		t->error = r;
		return leave_to_kernel(t);
	}
	f = t->file;
	if (t->flags != 0 && !t->created)
		r = may_write(t);
	if (r == 0 && !nfsappend_file_by_kernel(f)) {
		r = begin_serving(t);
		if (r != 0) {
			t->error = r;
			r = fall_back(t);
		}
	}
	if (t->keep) {
		;
	} else if (r == 0 && nfsappend_file_by_kernel(f)) {
		/* Whoever cannot open it so will say so when it writes. */
		nfsappend_mounted_writable(f, t->fd, t->accmode);
	} else if (r == 0 && t->fd == 2) {
		/* Crash messages of libc pass by every hook. */
		nfsappend_mounted_writable(f, t->fd, t->accmode);
	}
	if (r != 0) {
		nfsappend_file_put(f);
		t->file = NULL;
		return r;
	}
	nfsappend_unused_close(f->key.server);
	/* Of a copy by dup2() or a child it has been said. */
	nfsappend_log(t->flags != 0 ? NFSAPPEND_INFO : NFSAPPEND_DEBUG,
		NFSAPPEND_MSG_SERVED,
		"%s is served by %s: %s, NFSv%u, sharing %s", f->path,
		nfsappend_file_by_kernel(f) ? "the kernel" : "nfsappend",
		f->key.server->name, f->key.server->target.version,
		f->sharing == NFSAPPEND_SINGLE	    ? "single"
			: f->sharing == NFSAPPEND_GUARDED ? "guarded"
							  : "locked");
	return 0;
}

/* The directory that path is in, in room bytes. */
static void parent_of(const char *path, char *out, size_t room)
{
	const char *slash = strrchr(path, '/');

	snprintf(out, room, "%.*s.",
		slash != NULL ? (int)(slash + 1 - path) : 0, path);
}

/* The path that the program uses, as text. false: it can't be told. */
static bool lexical(int dirfd, const char *path, char *out, size_t room)
{
	char text[2 * PATH_MAX];
	long n = 0;

	if (path[0] != '/') {
		if (dirfd == AT_FDCWD) {
			n = sys_getcwd(text, PATH_MAX);
			n = n > 0 ? n - 1 : -1;
		} else if (path_of(dirfd, text, PATH_MAX) == 0) {
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
	return nfsappend_path_normalise(text, out, room) > 0;
}

/* The same with the links followed, as the kernel tells it. absent: the file
 * is not there yet, its directory is. */
static bool physical(int dirfd, const char *path, bool absent, char *out,
	size_t room)
{
	char parent[PATH_MAX];
	const char *name = strrchr(path, '/');
	long fd;
	bool ok;

	if (strlen(path) >= sizeof parent)
		return false;
	name = name != NULL ? name + 1 : path;
	snprintf(parent, sizeof parent, "%.*s.", (int)(name - path), path);
	fd = sys_openat(dirfd, absent ? parent : path, O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	ok = path_of((int)fd, out, room) == 0;
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
static bool wanted(struct taking *t, int dirfd, const char *path, int flags)
{
	char parent[PATH_MAX];
	long r = sys_statx(dirfd, path,
		AT_STATX_DONT_SYNC |
			(flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0),
		STAT_MASK, &t->stx);

	t->created = false;
	if (r == -ENOENT && flags & O_CREAT && strlen(path) < PATH_MAX - 1) {
		parent_of(path, parent, sizeof parent);
		r = sys_statx(dirfd, parent, AT_STATX_DONT_SYNC, STAT_MASK,
			&t->stx);
		t->created = true;
	} else if (r == 0 && !S_ISREG(t->stx.stx_mode)) {
		return false;
	}
	if (r != 0)
		return false;
	if (!nfsappend_mount_find(&t->stx, &t->mount)) {
		if (lexical(dirfd, path, t->path, sizeof t->path) &&
			nfsappend_paths_match(t->path))
			nfsappend_log(NFSAPPEND_INFO, NFSAPPEND_MSG_NOT_NFS,
				"%s is named by NFSAPPEND_PATHS but not on an "
				"NFS mount: the kernel serves it as without "
				"nfsappend",
				t->path);
		return false;
	}
	return (lexical(dirfd, path, t->path, sizeof t->path) &&
		       nfsappend_paths_match(t->path)) ||
		(physical(dirfd, path, t->created, t->path, sizeof t->path) &&
			nfsappend_paths_match(t->path));
}

/* After the one open(): the entry in the table. fd, or -errno. */
static int enter(struct taking *t)
{
	struct nfsappend_attr empty = {.size = 0};
	struct nfsappend_open *o;
	int r;

	r = stat_fd(t->fd, &t->stx);
	if (r == 0)
		r = path_of(t->fd, t->path, sizeof t->path);
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
	r = take(t);
	if (r == NFSAPPEND_NOT_OURS) {
		if (t->flags & O_TRUNC)
			sys_ftruncate(t->fd, 0);
		nfsappend_table_opened(t->fd);
		return t->fd;
	}
	if (r == 0)
		atomic_store(&t->file->opened, t->began);
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
static void look_again(int dirfd, const char *path)
{
	char parent[PATH_MAX];
	struct statx stx;

	if (strlen(path) >= sizeof parent - 1)
		return;
	parent_of(path, parent, sizeof parent);
	sys_statx(dirfd, parent, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &stx);
}

/* What is opened in place of what the program asked for. */
static int open_placeholder(const struct taking *t, int dirfd,
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
	struct taking *t;
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
			look_again(dirfd, path);
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

static int adopt(struct taking *t, bool marked)
{
	int r = stat_fd(t->fd, &t->stx);

	if (r != 0 || !S_ISREG(t->stx.stx_mode) ||
		!nfsappend_mount_find(&t->stx, &t->mount) ||
		path_of(t->fd, t->path, sizeof t->path) != 0)
		return NFSAPPEND_NOT_OURS;
	if (!marked && (!nfsappend_paths_match(t->path) ||
			       (!t->keep && nfsappend_needs_proxy())))
		return NFSAPPEND_NOT_OURS;
	/* Who may not read it keeps it as it is. */
	if (!marked && t->fd != 2 && !t->keep)
		(void)nfsappend_mounted_reopen(t->fd, O_RDONLY, t->accmode);
	r = take(t);
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
	struct taking *t = nfsappend_pages(sizeof *t);
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

bool nfsappend_mounted_named(int fd)
{
	char path[PATH_MAX];

	return nfsappend_mounted_candidate(fd) &&
		path_of(fd, path, sizeof path) == 0 &&
		nfsappend_paths_match(path);
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
