/* What can be done to the files of the export. */
#include "store.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

/* The path of a name in a directory, or NULL and the status. */
static char *child(struct node *dir, const char *name, uint32_t *status)
{
	struct statx st;
	char *path;

	*status = store_check_name(name);
	if (*status)
		return NULL;
	*status = store_stat(dir, &st);
	if (!*status && !S_ISDIR(st.stx_mode))
		*status = ST_NOTDIR;
	if (*status)
		return NULL;
	if (!strcmp(dir->path, "."))
		path = strdup(name);
	else if (asprintf(&path, "%s/%s", dir->path, name) < 0)
		path = NULL;
	*status = path ? ST_OK : ST_SERVERFAULT;
	return path;
}

uint32_t store_set(struct node *n, const struct wish *w)
{
	struct timespec times[2] = {w->atime, w->mtime};
	int fd, at = store_dirfd();

	n->changes++;
	if (w->set_size) {
		if (w->size > INT64_MAX)
			return ST_FBIG;
		fd = store_open_node(n, O_WRONLY);
		if (fd < 0)
			return status_of_errno(errno);
		if (ftruncate(fd, w->size)) {
			int e = errno;

			close(fd);
			return status_of_errno(e);
		}
		close(fd);
	}
	if ((w->set_uid || w->set_gid) &&
		fchownat(at, n->path, w->set_uid ? w->uid : (uid_t)-1,
			w->set_gid ? w->gid : (gid_t)-1, AT_SYMLINK_NOFOLLOW))
		return status_of_errno(errno);
	if (w->set_mode && fchmodat(at, n->path, w->mode & 07777, 0))
		return status_of_errno(errno);
	if ((w->atime.tv_nsec != UTIME_OMIT ||
		    w->mtime.tv_nsec != UTIME_OMIT) &&
		utimensat(at, n->path, times, AT_SYMLINK_NOFOLLOW))
		return status_of_errno(errno);
	return ST_OK;
}

/* RFC 1813 section 3.3.8: the verifier of an exclusive create is kept in the
 * times, which the client then sets. */
static void times_of(uint64_t verifier, struct wish *w)
{
	w->atime = (struct timespec){.tv_sec = verifier >> 33};
	w->mtime = (struct timespec){.tv_sec = verifier & 0x7fffffff};
}

static bool times_match(const struct node *n, uint64_t verifier)
{
	struct statx st;
	struct wish w;

	times_of(verifier, &w);
	return !store_stat(n, &st) && st.stx_atime.tv_sec == w.atime.tv_sec &&
	       st.stx_mtime.tv_sec == w.mtime.tv_sec;
}

uint32_t store_create(struct node *dir, const char *name, enum how how,
	const struct wish *wish, uint64_t verifier, struct node **out,
	bool *created)
{
	uint32_t status;
	char *path = child(dir, name, &status);
	struct wish w = *wish;
	int fd;

	*out = NULL;
	*created = false;
	if (!path)
		return status;
	fd = openat(store_dirfd(), path,
		O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	*created = fd >= 0;
	if (fd < 0 && errno != EEXIST)
		status = status_of_errno(errno);
	if (fd >= 0)
		close(fd);
	free(path);
	if (status || (status = store_lookup(dir, name, out)))
		return status;
	if (*created) {
		dir->changes++;
		if (how == HOW_EXCLUSIVE)
			times_of(verifier, &w);
		if (!w.set_mode)
			w.mode = how == HOW_EXCLUSIVE ? 0600 : 0644;
		w.set_mode = true;
		return store_set(*out, &w);
	}
	if (how == HOW_GUARDED)
		return ST_EXIST;
	if (how == HOW_EXCLUSIVE)
		return times_match(*out, verifier) ? ST_OK : ST_EXIST;
	/* RFC 7530 section 16.16.5: an existing file only gets its size. */
	w = NO_WISH;
	w.set_size = wish->set_size;
	w.size = wish->size;
	return w.set_size ? store_set(*out, &w) : ST_OK;
}

uint32_t store_mkdir(struct node *dir, const char *name,
	const struct wish *wish, struct node **out)
{
	uint32_t status;
	char *path = child(dir, name, &status);
	struct wish w = *wish;

	if (!path)
		return status;
	if (mkdirat(store_dirfd(), path, 0700))
		status = status_of_errno(errno);
	free(path);
	if (status || (status = store_lookup(dir, name, out)))
		return status;
	dir->changes++;
	if (!w.set_mode)
		w.mode = 0755;
	w.set_mode = true;
	return store_set(*out, &w);
}

uint32_t store_symlink(struct node *dir, const char *name, const char *target,
	struct node **out)
{
	uint32_t status;
	char *path = child(dir, name, &status);

	if (!path)
		return status;
	if (symlinkat(target, store_dirfd(), path))
		status = status_of_errno(errno);
	free(path);
	dir->changes++;
	return status ? status : store_lookup(dir, name, out);
}

uint32_t store_link(struct node *n, struct node *dir, const char *name)
{
	uint32_t status;
	char *path = child(dir, name, &status);

	if (!path)
		return status;
	if (linkat(store_dirfd(), n->path, store_dirfd(), path, 0))
		status = status_of_errno(errno);
	free(path);
	dir->changes++;
	return status;
}

uint32_t store_remove(struct node *dir, const char *name, bool directory)
{
	uint32_t status;
	char *path = child(dir, name, &status);

	if (!path)
		return status;
	if (unlinkat(store_dirfd(), path, directory ? AT_REMOVEDIR : 0))
		status = status_of_errno(errno);
	free(path);
	dir->changes++;
	return status;
}

uint32_t store_rename(struct node *from, const char *name, struct node *to,
	const char *new_name)
{
	uint32_t status;
	char *old = child(from, name, &status), *new = NULL;

	if (old)
		new = child(to, new_name, &status);
	if (new &&renameat(store_dirfd(), old, store_dirfd(), new))
		status = status_of_errno(errno);
	free(old);
	free(new);
	from->changes++;
	to->changes++;
	return status;
}

uint32_t store_readlink(struct node *n, char *out, size_t size)
{
	ssize_t len = readlinkat(store_dirfd(), n->path, out, size - 1);

	if (len < 0)
		return status_of_errno(errno);
	out[len] = 0;
	return ST_OK;
}

/* What READ and WRITE say to something that is no regular file. */
static int open_regular(struct node *n, int flags, uint32_t *status)
{
	struct statx st;
	int fd = -1;

	*status = store_stat(n, &st);
	if (!*status && S_ISDIR(st.stx_mode))
		*status = ST_ISDIR;
	else if (!*status && !S_ISREG(st.stx_mode))
		*status = ST_INVAL;
	if (!*status && (fd = store_open_node(n, flags)) < 0)
		*status = status_of_errno(errno);
	return fd;
}

uint32_t store_read(
	struct node *n, uint64_t offset, void *out, uint32_t *count, bool *eof)
{
	uint32_t status;
	int fd = open_regular(n, O_RDONLY, &status);
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return status;
	got = offset > INT64_MAX ? 0 : pread(fd, out, *count, offset);
	if (got < 0 || fstat(fd, &st))
		status = status_of_errno(errno);
	*count = got < 0 ? 0 : got;
	*eof = !status && offset + *count >= (uint64_t)st.st_size;
	close(fd);
	return status;
}

uint32_t store_write(struct node *n, uint64_t offset, const void *data,
	uint32_t *count, bool sync)
{
	uint32_t status;
	int fd = open_regular(n, O_WRONLY, &status);
	ssize_t done = 0;

	if (fd < 0)
		return status;
	n->changes++;
	if (offset > (uint64_t)INT64_MAX - *count)
		status = ST_FBIG;
	else if (*count)
		done = pwrite(fd, data, *count, offset);
	if (done < 0 || (sync && fsync(fd)))
		status = status_of_errno(errno);
	*count = done < 0 ? 0 : done;
	close(fd);
	return status;
}

void store_append_other(struct node *n, uint64_t bytes)
{
	int fd = store_open_node(n, O_WRONLY | O_APPEND);
	char line[64];

	n->changes++;
	while (fd >= 0 && bytes) {
		uint64_t some = bytes < sizeof(line) ? bytes : sizeof(line);

		memset(line, 'o', some);
		line[some - 1] = '\n';
		if (write(fd, line, some) != (ssize_t)some)
			break;
		bytes -= some;
	}
	if (fd >= 0)
		close(fd);
}

void store_truncate_other(struct node *n, uint64_t size)
{
	int fd = store_open_node(n, O_WRONLY);

	n->changes++;
	if (fd < 0)
		return;
	if (ftruncate(fd, size))
		warn("truncate-other %s", n->path);
	close(fd);
}

void store_remove_other(struct node *n)
{
	unlinkat(store_dirfd(), n->path, 0);
}
