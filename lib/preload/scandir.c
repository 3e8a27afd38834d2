/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scandir() and scandirat(), which open and read inside libc. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "preload/directory.h"
#include "preload/path.h"

typedef int select_fn(const struct dirent *);
typedef int compare_fn(const struct dirent **, const struct dirent **);

struct list {
	struct dirent **entries;
	size_t n, room;
};

static bool add(struct list *l, const struct dirent *e)
{
	struct dirent *copy;

	if (l->n == l->room) {
		size_t room = l->room == 0 ? 32 : 2 * l->room;
		struct dirent **more =
			realloc(l->entries, room * sizeof *more);

		if (more == NULL)
			return false;
		l->entries = more;
		l->room = room;
	}
	copy = malloc(e->d_reclen);
	if (copy == NULL)
		return false;
	l->entries[l->n++] = memcpy(copy, e, e->d_reclen);
	return true;
}

/* d is closed, NULL included. */
static int scan(DIR *d, struct dirent ***list, select_fn *select,
	compare_fn *compare)
{
	struct list l = {NULL, 0, 0};
	struct dirent *e;
	int saved = errno, error = 0;

	if (d == NULL)
		return -1;
	while (error == 0) {
		errno = 0;
		e = readdir(d);
		if (e == NULL) {
			error = errno;
			break;
		}
		if (select != NULL && !select(e))
			continue;
		if (!add(&l, e))
			error = ENOMEM;
	}
	closedir(d);
	errno = error != 0 ? error : saved;
	if (error != 0) {
		while (l.n > 0)
			free(l.entries[--l.n]);
		free(l.entries);
		return -1;
	}
	if (compare != NULL && l.n > 0)
		qsort(l.entries, l.n, sizeof *l.entries,
			(int (*)(const void *, const void *))compare);
	*list = l.entries;
	return (int)l.n;
}

NFSAPPEND_HOOK int scandirat(int dirfd, const char *path,
	struct dirent ***list, select_fn *select, compare_fn *compare)
{
	DIR *d;
	int r;

	if (nfsappend_opendir_ours(dirfd, path, false, &d))
		return scan(d, list, select, compare);
	path = NFSAPPEND_PATH_OUT(dirfd, path);
	r = NFSAPPEND_REAL(scandirat)(dirfd, path, list, select, compare);
	if (r < 0 && nfsappend_opendir_ours(dirfd, path, true, &d))
		return scan(d, list, select, compare);
	return r;
}

NFSAPPEND_HOOK int scandir(const char *path, struct dirent ***list,
	select_fn *select, compare_fn *compare)
{
	return scandirat(AT_FDCWD, path, list, select, compare);
}

NFSAPPEND_HOOK int scandir64(const char *path, struct dirent64 ***list,
	int (*select)(const struct dirent64 *),
	int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return scandirat(AT_FDCWD, path, (struct dirent ***)list,
		(select_fn *)select, (compare_fn *)compare);
}

NFSAPPEND_HOOK int scandirat64(int dirfd, const char *path,
	struct dirent64 ***list, int (*select)(const struct dirent64 *),
	int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return scandirat(dirfd, path, (struct dirent ***)list,
		(select_fn *)select, (compare_fn *)compare);
}
