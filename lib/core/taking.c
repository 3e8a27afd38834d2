/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which file a descriptor on a kernel mount is on the server, whether it can be
 * served our way, and what to do where not.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/config_env.h"
#include "core/errname.h"
#include "core/handle.h"
#include "core/log.h"
#include "core/mounted.h"
#include "core/opening.h"
#include "core/proxy.h"
#include "core/state.h"
#include "core/taking.h"
#include "core/unused.h"

#define FIRST_CONTACT_S 3 /* of silence, until the kernel serves */

int nfsappend_taking_stat(int fd, struct statx *stx)
{
	return (int)sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		NFSAPPEND_TAKING_MASK, stx);
}

int nfsappend_taking_path(int fd, char *out, size_t room)
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

/* Handle by path, where the kernel does not give it: v4.0 mounts, a seccomp
 * filter, a layout that we do not know. */
static int look_up(struct nfsappend_taking *t, struct nfsappend_server *server)
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

static int find_handle(struct nfsappend_taking *t, struct nfsappend_server **server)
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
static void find_name(struct nfsappend_taking *t)
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
	if (nfsappend_taking_stat((int)fd, &stx) == 0 &&
		nfsappend_handle_of((int)fd, stx.stx_ino, &dir) == 0)
		nfsappend_file_name(f, &dir, slash + 1);
	sys_close((int)fd);
}

/* The object, from descriptor and mount alone. 0 or -errno; why is set. */
static int get_file(struct nfsappend_taking *t)
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
	NFSAPPEND_COUNT(t->file, rpcs, t->lookup_rpcs);
	NFSAPPEND_COUNT(t->file, lookup_rpcs, t->lookup_rpcs);
	return 0;
}

static void explain(struct nfsappend_taking *t, int r)
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
static int first_contact(struct nfsappend_taking *t)
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
	NFSAPPEND_COUNT(f, rpcs, w.wait.rpcs);
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
static int begin_serving(struct nfsappend_taking *t)
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
	if (r != 0 && !nfsappend_segment_alone(&f->segment))
		return 0; /* as above */
	if (r != 0)
		snprintf(t->why, sizeof t->why,
			"it cannot be opened for appending by NFSv4.0: %s",
			nfsappend_strerror(-r));
	return r;
}

/* Neither the object nor its segment are there, or none may be: each write is
 * durable, and that is all that can be done. */
static int leave_to_kernel(struct nfsappend_taking *t)
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
static int fall_back(struct nfsappend_taking *t)
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
static int may_write(struct nfsappend_taking *t)
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

int nfsappend_take(struct nfsappend_taking *t)
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
	nfsappend_file_tell(f, t->flags != 0 ? NFSAPPEND_INFO : NFSAPPEND_DEBUG,
		t->why);
	return 0;
}
