/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding or making the segment of a key: where it lies, what it is called,
 * whether it can be trusted. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "core/config_env.h"
#include "core/errname.h"
#include "core/log.h"
#include "core/segment_file.h"

_Static_assert(sizeof(struct nfsappend_segment) + 2048 <= HEAD_BYTES,
	"a common record fits the first pages");

static uint32_t euid(void)
{
	return (uint32_t)nfsappend_sys(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

/* Makes the directory if need be; ours alone, or not used. */
static int try_directory(const char *path)
{
	struct statx stx;
	long r = sys_mkdirat(AT_FDCWD, path, 0700);

	if (r < 0 && r != -EEXIST)
		return (int)r;
	r = sys_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW,
		STATX_TYPE | STATX_MODE | STATX_UID, &stx);
	if (r < 0)
		return (int)r;
	return S_ISDIR(stx.stx_mode) && !(stx.stx_mode & 0077) &&
			       stx.stx_uid == euid()
		       ? 0
		       : -EPERM;
}

/* The directory for the present effective uid (it may change in a process's
 * life). 0, or -errno with the best candidate in path. */
static int runtime_directory(char *path, size_t room)
{
	const char *xdg;
	char other[DIRECTORY_MAX];
	int r;

	if (nfsappend_config.runtime != NULL) {
		if (snprintf(path, room, "%s", nfsappend_config.runtime) >=
			(int)room)
			return -ENAMETOOLONG;
		return try_directory(path);
	}
	/* /dev/shm first: a login session and a service of one user have
	 * different XDG_RUNTIME_DIRs, but must meet. */
	snprintf(path, room, "/dev/shm/nfsappend-%u", (unsigned)euid());
	r = try_directory(path);
	xdg = getenv("XDG_RUNTIME_DIR");
	if (r != 0 && xdg != NULL && xdg[0] == '/' &&
		snprintf(other, sizeof other, "%s/nfsappend", xdg) <
			(int)sizeof other &&
		strlen(other) < room && try_directory(other) == 0) {
		strcpy(path, other);
		r = 0;
	}
	return r;
}

/* FNV-1a, 128 bits as two of 64: names, not secrets; the key itself is
 * compared in the segment. */
static void name_of(const void *key, size_t len, char out[36])
{
	uint64_t a = UINT64_C(0xcbf29ce484222325), b = ~a;
	const uint8_t *p = key;

	for (size_t i = 0; i < len; i++) {
		a = (a ^ p[i]) * UINT64_C(0x100000001b3);
		b = (b ^ p[i]) * UINT64_C(0x100000001b3);
		b = b << 7 | b >> 57;
	}
	snprintf(out, 36, "%016llx%016llx", (unsigned long long)a,
		(unsigned long long)b);
}

long nfsappend_segment_open_file(const char *path, int flags)
{
	return sys_openat(AT_FDCWD, path, O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static void initialise(
	struct nfsappend_segment *s, const void *key, size_t keylen)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	for (int i = 0; i < NFSAPPEND_LEADS; i++)
		pthread_mutex_init(&s->leaders[i], &attr);
	pthread_mutexattr_destroy(&attr);
	memcpy(s->key, key, keylen);
	s->keylen = (uint32_t)keylen;
	s->allocated = FIRST_STAGE;
	s->figures.made = nfsappend_now();
	s->magic = NFSAPPEND_SEGMENT_MAGIC;
	s->ready = 1;
}

/*
 * Whoever has a segment mapped has it locked, shared: the mapping keeps the
 * open file description, and that the flock(), until exec or the last of the
 * process and its children is gone, however it went. So who gets it for
 * itself is the only user, however many there were before. 0 or -errno.
 */
static int lock_as_user(int fd, bool *first)
{
	int r = (int)sys_flock(fd, LOCK_EX | LOCK_NB);

	*first = r == 0;
	do
		r = (int)sys_flock(fd, LOCK_SH);
	while (r == -EINTR);
	return r;
}

/* One at a time opens a segment. By record, since the other kind of lock says
 * who uses it. */
static int lock_opening(int fd, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
	int r;

	do
		r = (int)sys_fcntl(fd, F_OFD_SETLKW, (long)&l);
	while (r == -EINTR);
	return r;
}

/* With the opening lock held on fd: 0, -EAGAIN when it was unlinked meanwhile, or
 * -errno. */
static int map_locked(struct nfsappend_segment_view *v, int fd, const void *key,
	size_t keylen, bool *created)
{
	struct statx stx;
	struct rlimit limit;
	struct nfsappend_segment *s;
	bool first;
	long r = lock_as_user(fd, &first);

	if (r == 0)
		r = sys_statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx);
	if (r < 0)
		return (int)r;
	if (stx.stx_nlink == 0)
		return -EAGAIN;
	if (!S_ISREG(stx.stx_mode) || (stx.stx_mode & 0077) ||
		stx.stx_uid != euid())
		return -EINVAL;
	if (stx.stx_size != 0 && stx.stx_size != SEGMENT_BYTES)
		return -EINVAL;
	if (stx.stx_size == 0) {
		/* Else SIGXFSZ, for a file that is not the program's. */
		if (sys_getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
			limit.rlim_cur < SEGMENT_BYTES)
			return -EFBIG;
		r = sys_fallocate(fd, 0, 0, HEAD_BYTES); /* no SIGBUS later */
		if (r == 0)
			r = sys_ftruncate(fd, SEGMENT_BYTES);
		if (r < 0) {
			sys_ftruncate(fd, 0);
			return (int)r;
		}
		*created = true;
	}
	s = sys_mmap(SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (s == NULL)
		return -ENOMEM;
	if (s->ready == 0)
		initialise(s, key, keylen);
	if (s->magic != NFSAPPEND_SEGMENT_MAGIC || s->keylen != keylen ||
		memcmp(s->key, key, keylen) != 0 ||
		s->allocated < FIRST_STAGE ||
		s->allocated > STAGE_END - sizeof *s) {
		sys_munmap(s, SEGMENT_BYTES);
		return -EINVAL;
	}
	if (first) {
		/* What they were is of no use any more. */
		for (int i = 0; i < NFSAPPEND_USERS; i++)
			atomic_store(&s->users[i], 0);
		atomic_store(&s->crowded, 0);
		atomic_store(&s->sharing, 0);
	}
	v->shared = s;
	v->ino = stx.stx_ino;
	nfsappend_segment_enter(v);
	return 0;
}

static const char *cure(int error)
{
	switch (-error) {
	case EFBIG:
		return "raise the file size limit, ulimit -f";
	case ENOSPC:
	case EDQUOT:
		return "make room there";
	default:
		return "it must be a directory of mode 0700 that belongs to "
		       "this user, see NFSAPPEND_RUNTIME";
	}
}

static int open_shared(struct nfsappend_segment_view *v, const char *directory,
	const void *key, size_t keylen)
{
	int r = -EAGAIN;
	bool created = false;

	for (int tries = 0; r == -EAGAIN && tries < 8; tries++) {
		long fd =
			nfsappend_segment_open_file(v->path, O_RDWR | O_CREAT);

		if (fd < 0)
			return (int)fd;
		r = lock_opening((int)fd, F_WRLCK);
		if (r == 0)
			r = map_locked(v, (int)fd, key, keylen, &created);
		if (r == -EINVAL) {
			/* Corrupt, of another version, or not ours alone:
			 * replaced, the directory is ours. Who has it mapped
			 * keeps it, as another host would. */
			nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_SEGMENT,
				"%s is not a segment of this version and this "
				"user alone; it is replaced",
				v->path);
			sys_unlinkat(AT_FDCWD, v->path, 0);
			r = -EAGAIN;
		}
		/* By hand: the mapping keeps the open file description. */
		lock_opening((int)fd, F_UNLCK);
		sys_close(fd);
	}
	if (created)
		nfsappend_segment_sweep(directory);
	return r;
}

int nfsappend_segment_open(
	struct nfsappend_segment_view *v, const void *key, size_t keylen)
{
	char directory[DIRECTORY_MAX], name[36];
	uint8_t full[NFSAPPEND_SEGMENT_KEY];
	const char *host = nfsappend_segment_host();
	size_t n = strlen(host);
	int r;

	memset(v, 0, sizeof *v);
	if (n + keylen > sizeof full)
		return -EINVAL;
	memcpy(full, host, n);
	memcpy(full + n, key, keylen);
	n += keylen;
	name_of(full, n, name);
	r = runtime_directory(directory, sizeof directory);
	if (r == 0) {
		snprintf(v->path, sizeof v->path, "%s/%s", directory, name);
		r = open_shared(v, directory, full, n);
	}
	if (r == 0)
		return 0;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_SEGMENT,
		"no shared memory in %s to meet other processes of this host "
		"(%s; %s); this process appends as a host of its own",
		directory, nfsappend_strerror(-r), cure(r));
	v->shared = sys_mmap(SEGMENT_BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (v->shared == NULL)
		return -ENOMEM;
	v->is_private = true;
	initialise(v->shared, full, n);
	v->shared->allocated = STAGE_END - sizeof *v->shared;
	nfsappend_segment_enter(v);
	return 0;
}
