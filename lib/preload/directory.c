/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Directory streams. glibc's opendir() opens inside, so a stream on a mapped
 * directory is one of ours, told from glibc's by its first word: there glibc
 * has the descriptor, which is never negative.
 */
#include "config.h"

/* Programs call them all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "core/listing.h"
#include "preload/directory.h"
#include "preload/open.h"
#include "preload/path.h"

#define TAG INT32_C(-0x6e667361) /* "nfsa" */
#define DIRECTORY_FLAGS                                                        \
	(O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_LARGEFILE | O_CLOEXEC)

struct stream {
	int32_t tag;
	int fd;
	pthread_mutex_t lock; /* of all below */
	struct dirent entry;
	struct nfsappend_listing listing;
};

static struct stream *ours(DIR *d)
{
	struct stream *s = (struct stream *)d;

	return s != NULL && s->tag == TAG ? s : NULL;
}

/* fd is one of ours; closed on failure. */
static DIR *make_stream(int fd)
{
	struct nfsappend_directory dir;
	struct nfsappend_guard guard;
	struct stream *s = NULL;
	bool found;

	nfsappend_guard_enter(&guard);
	found = nfsappend_directory_behind(fd, &dir);
	if (found)
		s = nfsappend_pages(sizeof *s);
	if (s != NULL) {
		s->tag = TAG;
		s->fd = fd;
		pthread_mutex_init(&s->lock, NULL);
		nfsappend_listing_start(&s->listing, &dir);
	}
	nfsappend_guard_leave(&guard);
	if (s == NULL)
		errno = found ? ENOMEM : ENOTDIR;
	return (DIR *)s;
}

static DIR *opened(int fd)
{
	DIR *d = fd >= 0 ? make_stream(fd) : NULL;
	int saved = errno;

	if (fd >= 0 && d == NULL)
		close(fd);
	errno = saved;
	return d;
}

bool nfsappend_opendir_ours(int dirfd, const char *path, bool sought,
	DIR **result)
{
	int fd;

	if (!sought) {
		if (!nfsappend_open_before(dirfd, path, DIRECTORY_FLAGS, 0,
			    &fd))
			return false;
	} else {
		int before = errno;

		fd = nfsappend_open_after(dirfd, path, DIRECTORY_FLAGS, 0, -1);
		if (fd < 0 && errno == before)
			return false;
	}
	*result = opened(fd);
	return true;
}

NFSAPPEND_HOOK DIR *opendir(const char *path)
{
	DIR *d;

	if (nfsappend_opendir_ours(AT_FDCWD, path, false, &d))
		return d;
	path = NFSAPPEND_PATH_OUT(AT_FDCWD, path);
	d = NFSAPPEND_REAL(opendir)(path);
	if (d != NULL) {
		if (nfsappend_active)
			nfsappend_table_opened(NFSAPPEND_REAL(dirfd)(d));
		return d;
	}
	return nfsappend_opendir_ours(AT_FDCWD, path, true, &d) ? d : NULL;
}

NFSAPPEND_HOOK DIR *fdopendir(int fd)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, fd))
		return NFSAPPEND_REAL(fdopendir)(fd);
	nfsappend_use_end(&use);
	return make_stream(fd);
}

NFSAPPEND_HOOK int dirfd(DIR *d)
{
	struct stream *s = ours(d);

	return s != NULL ? s->fd : NFSAPPEND_REAL(dirfd)(d);
}

static unsigned char type_of(uint8_t type)
{
	static const unsigned char types[] = {[NFSAPPEND_REG] = DT_REG,
		[NFSAPPEND_DIR] = DT_DIR,
		[NFSAPPEND_BLK] = DT_BLK,
		[NFSAPPEND_CHR] = DT_CHR,
		[NFSAPPEND_LNK] = DT_LNK,
		[NFSAPPEND_SOCK] = DT_SOCK,
		[NFSAPPEND_FIFO] = DT_FIFO};

	return type < sizeof types ? types[type] : DT_UNKNOWN;
}

static void lock(struct stream *s, struct nfsappend_guard *guard)
{
	nfsappend_guard_enter(guard);
	pthread_mutex_lock(&s->lock);
}

static void unlock(struct stream *s, struct nfsappend_guard *guard)
{
	pthread_mutex_unlock(&s->lock);
	nfsappend_guard_leave(guard);
}

/* 1, 0 at the end, -errno. */
static int next(struct stream *s, struct dirent *to)
{
	struct nfsappend_guard guard;
	struct nfsappend_entry e;
	int r;

	lock(s, &guard);
	r = nfsappend_listing_next(&s->listing, &e);
	if (r == 1) {
		to->d_ino = e.fileid;
		to->d_off = e.position;
		to->d_type = type_of(e.type);
		strcpy(to->d_name, e.name);
		to->d_reclen = (unsigned short)((offsetof(struct dirent,
							 d_name) +
							strlen(e.name) + 8) &
			~(size_t)7);
	}
	unlock(s, &guard);
	return r;
}

NFSAPPEND_HOOK struct dirent *readdir(DIR *d)
{
	struct stream *s = ours(d);
	int r;

	if (s == NULL)
		return NFSAPPEND_REAL(readdir)(d);
	r = next(s, &s->entry);
	if (r < 0)
		errno = -r;
	return r == 1 ? &s->entry : NULL;
}

NFSAPPEND_HOOK struct dirent64 *readdir64(DIR *d)
{
	return (struct dirent64 *)readdir(d);
}

/* The program's room may be smaller than the struct, as long as the name of
 * its file system's longest entry fits. */
NFSAPPEND_HOOK int readdir_r(DIR *d, struct dirent *to,
	struct dirent **result)
{
	struct stream *s = ours(d);
	struct dirent e;
	int r;

	if (s == NULL)
		return NFSAPPEND_REAL(readdir_r)(d, to, result);
	r = next(s, &e);
	*result = r == 1 ? to : NULL;
	if (r == 1)
		memcpy(to, &e, e.d_reclen);
	return r < 0 ? -r : 0;
}

NFSAPPEND_HOOK int readdir64_r(DIR *d, struct dirent64 *to,
	struct dirent64 **result)
{
	return readdir_r(d, (struct dirent *)to, (struct dirent **)result);
}

NFSAPPEND_HOOK void rewinddir(DIR *d)
{
	struct stream *s = ours(d);

	if (s == NULL)
		NFSAPPEND_REAL(rewinddir)(d);
	else
		seekdir(d, NFSAPPEND_LISTING_START);
}

NFSAPPEND_HOOK void seekdir(DIR *d, long position)
{
	struct stream *s = ours(d);
	struct nfsappend_guard guard;

	if (s == NULL) {
		NFSAPPEND_REAL(seekdir)(d, position);
		return;
	}
	lock(s, &guard);
	nfsappend_listing_seek(&s->listing, position);
	unlock(s, &guard);
}

NFSAPPEND_HOOK long telldir(DIR *d)
{
	struct stream *s = ours(d);

	return s != NULL ? s->listing.position : NFSAPPEND_REAL(telldir)(d);
}

NFSAPPEND_HOOK int closedir(DIR *d)
{
	struct stream *s = ours(d);
	int fd;

	if (s == NULL)
		return NFSAPPEND_REAL(closedir)(d);
	fd = s->fd;
	sys_munmap(s, sizeof *s);
	return close(fd);
}
