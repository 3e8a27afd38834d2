/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "core/config_env.h"
#include "core/errname.h"
#include "core/log.h"
#include "core/queue.h"
#include "core/segment.h"
#include "core/unused.h"

#define MAGIC (UINT64_C(0x3330676573616e) + sizeof(pthread_mutex_t) + \
	(sizeof(struct nfsappend_segment) << 16) +                             \
	(sizeof(struct nfsappend_queue) << 32))
#define PAGE 4096
/* Header and the first of the stage, the rest of the stage, the queue. */
#define STAGE_END (PAGE + NFSAPPEND_STAGE_MAX)
#define QUEUE_BYTES                                                            \
	((sizeof(struct nfsappend_queue) + PAGE - 1) / PAGE * PAGE)
#define SEGMENT_BYTES (STAGE_END + QUEUE_BYTES)
#define FIRST_STAGE (PAGE - sizeof(struct nfsappend_segment))
#define LINGER_S 60 /* after its last user, as a lease */
#define SWEEP_MAX 64
#define DIRECTORY_MAX 256

_Static_assert(sizeof(struct nfsappend_segment) + 2048 <= PAGE,
	"a common record fits the first page");

/* Boot id, pid namespace, word size: what else must be the same for two
 * processes to meet. Always the same text, so a race writes it twice. */
static char host[96];
static _Atomic bool host_known;

static void read_host(void)
{
	struct statx stx = {0};
	char boot[40] = "";
	long fd;

	if (atomic_load(&host_known))
		return;
	fd = sys_openat(AT_FDCWD, "/proc/sys/kernel/random/boot_id",
		O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		sys_read(fd, boot, sizeof boot - 1);
		sys_close(fd);
	}
	boot[36] = '\0';
	sys_statx(AT_FDCWD, "/proc/self/ns/pid", 0, STATX_INO, &stx);
	snprintf(host, sizeof host, "%s.%llu.%u", boot,
		(unsigned long long)stx.stx_ino, (unsigned)sizeof(void *));
	atomic_store(&host_known, true);
}

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

static long open_segment(const char *path, int flags)
{
	return sys_openat(AT_FDCWD, path, O_CLOEXEC | O_NOFOLLOW | flags,
		0600);
}

static void initialise(struct nfsappend_segment *s, const void *key,
	size_t keylen)
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
	s->magic = MAGIC;
	s->ready = 1;
}

bool nfsappend_segment_alone(struct nfsappend_segment_view *v)
{
	struct nfsappend_segment *s = v->shared;

	/* A private one may be a child's too, and its users are not told. */
	if (v->is_private || atomic_load(&s->crowded))
		return false;
	for (int i = 0; i < NFSAPPEND_USERS; i++) {
		int32_t pid = atomic_load(&s->users[i]);

		if (pid != 0 && pid != nfsappend_process->pid &&
			sys_kill(pid, 0) != -ESRCH)
			return false;
	}
	return true;
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

void nfsappend_segment_enter(struct nfsappend_segment_view *v)
{
	struct nfsappend_segment *s = v->shared;
	int32_t me = nfsappend_process->pid;

	v->registered = me;
	atomic_store(&s->used_s, nfsappend_now() / INT64_C(1000000000));
	if (v->is_private)
		return;
	for (int i = 0; i < NFSAPPEND_USERS; i++)
		if (atomic_load(&s->users[i]) == me)
			return;
	for (int i = 0; i < NFSAPPEND_USERS; i++) {
		int32_t pid = atomic_load(&s->users[i]);

		if ((pid == 0 || sys_kill(pid, 0) == -ESRCH) &&
			atomic_compare_exchange_strong(&s->users[i], &pid, me))
			return;
	}
	atomic_store(&s->crowded, 1);
}

/* Removes a segment that nobody has used for a while. fd is open on it. */
static void sweep_one(int fd, const char *path)
{
	struct nfsappend_segment *s;

	if (sys_flock(fd, LOCK_EX | LOCK_NB) != 0)
		return;
	if (sys_lseek(fd, 0, SEEK_END) < PAGE)
		return;
	s = sys_mmap(PAGE, PROT_READ, MAP_SHARED, fd);
	if (s == NULL)
		return;
	if (s->magic == MAGIC &&
		nfsappend_now() / INT64_C(1000000000) -
				atomic_load(&s->used_s) >
			LINGER_S) {
		size_t n = strlen(host);

		if (s->keylen > n && s->keylen <= sizeof s->key)
			nfsappend_unused_note(s->key + n, s->keylen - n,
				&s->slot);
		sys_unlinkat(AT_FDCWD, path, 0);
	}
	sys_munmap(s, PAGE);
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
	fd = open_segment(path, O_RDWR);
	if (fd < 0)
		return;
	sweep_one((int)fd, path);
	sys_flock((int)fd, LOCK_UN);
	sys_close(fd);
}

/* Whoever makes a new segment looks at some of the old ones: all where they
 * are few, else those whose names begin with a digit drawn by lot. */
static void sweep(const char *directory)
{
	char entries[SWEEP_MAX * 64] __attribute__((aligned(8)));
	char digit = "0123456789abcdef"[nfsappend_now() >> 10 & 15];
	long dir = sys_openat(AT_FDCWD, directory,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
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

/* With the opening lock held on fd: 0, -EAGAIN when it was unlinked meanwhile, or
 * -errno. */
static int map_locked(struct nfsappend_segment_view *v, int fd,
	const void *key, size_t keylen, bool *created)
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
		r = sys_fallocate(fd, 0, 0, PAGE); /* no SIGBUS later */
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
	if (s->magic != MAGIC || s->keylen != keylen ||
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

static int open_shared(struct nfsappend_segment_view *v,
	const char *directory, const void *key, size_t keylen)
{
	int r = -EAGAIN;
	bool created = false;

	for (int tries = 0; r == -EAGAIN && tries < 8; tries++) {
		long fd = open_segment(v->path, O_RDWR | O_CREAT);

		if (fd < 0)
			return (int)fd;
		r = lock_opening((int)fd, F_WRLCK);
		if (r == 0)
			r = map_locked(v, fd, key, keylen, &created);
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
		sweep(directory);
	return r;
}

int nfsappend_segment_open(struct nfsappend_segment_view *v, const void *key,
	size_t keylen)
{
	char directory[DIRECTORY_MAX], name[36];
	uint8_t full[NFSAPPEND_SEGMENT_KEY];
	size_t n;
	int r;

	memset(v, 0, sizeof *v);
	read_host();
	n = strlen(host);
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
		"(%s; it must be a directory of mode 0700 that belongs to "
		"this user, see NFSAPPEND_RUNTIME); this process appends as a "
		"host of its own",
		directory, nfsappend_strerror(-r));
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

void nfsappend_segment_close(struct nfsappend_segment_view *v)
{
	int32_t me = nfsappend_process->pid;

	if (v->shared == NULL)
		return;
	atomic_store(&v->shared->used_s,
		nfsappend_now() / INT64_C(1000000000));
	for (int i = 0; !v->is_private && i < NFSAPPEND_USERS; i++) {
		int32_t mine = me;

		if (atomic_compare_exchange_strong(&v->shared->users[i], &mine,
			    0))
			break;
	}
	sys_munmap(v->shared, SEGMENT_BYTES);
	v->shared = NULL;
}

/* Memory first, or a full /dev/shm would be a SIGBUS. */
static int grow(struct nfsappend_segment_view *v, off_t from, off_t len)
{
	struct statx stx;
	long fd = open_segment(v->path, O_RDWR);
	long r;

	if (fd < 0)
		return (int)fd;
	r = sys_statx(fd, "", AT_EMPTY_PATH, STATX_INO, &stx);
	if (r == 0 && stx.stx_ino != v->ino)
		r = -ESTALE; /* replaced: that is no memory of ours */
	if (r == 0)
		r = sys_fallocate(fd, 0, from, len);
	sys_close(fd);
	return (int)r;
}

struct nfsappend_queue *nfsappend_segment_queue(
	struct nfsappend_segment_view *v, bool make)
{
	struct nfsappend_segment *s = v->shared;
	struct nfsappend_queue *q =
		(struct nfsappend_queue *)((char *)s + STAGE_END);

	if (atomic_load_explicit(&s->queue_ready, memory_order_acquire))
		return q;
	/* Zeroes are a queue with all slots free. */
	if (!make || (!v->is_private && grow(v, STAGE_END, QUEUE_BYTES) != 0))
		return NULL;
	atomic_store_explicit(&s->queue_ready, 1, memory_order_release);
	return q;
}

uint32_t nfsappend_segment_stage(struct nfsappend_segment_view *v,
	uint32_t want)
{
	struct nfsappend_segment *s = v->shared;
	uint64_t have = s->allocated;

	if (want > NFSAPPEND_STAGE_MAX)
		want = NFSAPPEND_STAGE_MAX;
	if (have < FIRST_STAGE || have > STAGE_END - sizeof *s)
		have = FIRST_STAGE; /* somebody scribbled on it */
	if (want <= have)
		return want;
	if (grow(v, 0, (off_t)(sizeof *s + want + PAGE - 1) / PAGE * PAGE) ==
		0) {
		s->allocated = want;
		have = want;
	}
	return (uint32_t)have;
}
