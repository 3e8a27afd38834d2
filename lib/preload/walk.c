/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ftw() and nftw(), which open, read and stat inside libc: walked here where
 * the tree meets a map, by glibc's where it does not.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/config_env.h"
#include "core/query.h"
#include "preload/path.h"
#include "preload/walk.h"

bool nfsappend_walk_meets_map(const char *path)
{
	char real[PATH_MAX];
	size_t n;
	int saved = errno;
	bool meets = false;

	if (!nfsappend_active || nfsappend_depth != 0 || path == NULL ||
		!nfsappend_start() || nfsappend_config.nmaps == 0)
		return false;
	if (nfsappend_path_exists(AT_FDCWD, path, true) != NFSAPPEND_NOT_OURS) {
		meets = true;
	} else if (nfsappend_config.any_local &&
		realpath(path, real) != NULL) {
		n = strcmp(real, "/") == 0 ? 0 : strlen(real);
		for (unsigned i = 0; i < nfsappend_config.nmaps; i++) {
			const char *dir = nfsappend_config.maps[i].dir;

			meets |= strncmp(dir, real, n) == 0 && dir[n] == '/';
		}
	}
	errno = saved;
	return meets;
}

/* Directories that have been entered, where links are followed. */
struct seen {
	dev_t dev;
	ino_t ino;
};

struct walk {
	__nftw_func_t nftw; /* one of the two */
	__ftw_func_t ftw;
	int flags;
	dev_t dev; /* FTW_MOUNT */
	struct seen *seen;
	size_t nseen, room;
	char path[PATH_MAX];
};

static int visit(struct walk *w, const struct stat *st, int type, size_t base,
	int level)
{
	/* ftw() knows no links and no second visit. */
	static const int plain[] = {[FTW_F] = FTW_F,
		[FTW_D] = FTW_D,
		[FTW_DNR] = FTW_DNR,
		[FTW_NS] = FTW_NS,
		[FTW_SL] = FTW_F,
		[FTW_DP] = FTW_D,
		[FTW_SLN] = FTW_NS};
	struct FTW ftw = {(int)base, level};

	if (w->nftw != NULL)
		return w->nftw(w->path, st, type, &ftw);
	return w->ftw(w->path, st, plain[type]);
}

/* true: for the first time. */
static bool enter(struct walk *w, const struct stat *st)
{
	for (size_t i = 0; i < w->nseen; i++)
		if (w->seen[i].dev == st->st_dev && w->seen[i].ino == st->st_ino)
			return false;
	if (w->nseen == w->room) {
		size_t room = w->room == 0 ? 64 : 2 * w->room;
		struct seen *more = realloc(w->seen, room * sizeof *more);

		if (more == NULL)
			return true;
		w->seen = more;
		w->room = room;
	}
	w->seen[w->nseen++] = (struct seen){st->st_dev, st->st_ino};
	return true;
}

static int one(struct walk *, size_t base, int level);

static void free_names(struct dirent **names, int n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}

/* What is in the directory at w->path. */
static int children(struct walk *w, struct dirent **names, int n, int level)
{
	size_t len = strlen(w->path);
	size_t base = len + (w->path[len - 1] != '/');
	int r = 0;

	for (int i = 0; i < n && r == 0; i++) {
		const char *name = names[i]->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (base + strlen(name) >= sizeof w->path) {
			errno = ENAMETOOLONG;
			r = -1;
			break;
		}
		if (w->flags & FTW_CHDIR) {
			w->path[len] = '\0';
			r = chdir(w->path);
		}
		w->path[base - 1] = '/';
		strcpy(w->path + base, name);
		if (r == 0)
			r = one(w, base, level + 1);
		w->path[len] = '\0';
		if (w->flags & FTW_ACTIONRETVAL && r == FTW_SKIP_SIBLINGS)
			return 0;
		if (w->flags & FTW_ACTIONRETVAL && r == FTW_SKIP_SUBTREE)
			r = 0;
	}
	return r;
}

static int directory(struct walk *w, const struct stat *st, size_t base,
	int level)
{
	struct dirent **names;
	int n, r = 0;

	if (!(w->flags & FTW_PHYS) && !enter(w, st))
		return 0;
	n = scandir(w->path, &names, NULL, NULL);
	if (n < 0)
		return errno == EACCES ? visit(w, st, FTW_DNR, base, level)
				       : -1;
	if (!(w->flags & FTW_DEPTH))
		r = visit(w, st, FTW_D, base, level);
	if (r == 0)
		r = children(w, names, n, level);
	free_names(names, n);
	if (r == 0 && w->flags & FTW_DEPTH)
		r = visit(w, st, FTW_DP, base, level);
	return r;
}

/* w->path and what is below it. */
static int one(struct walk *w, size_t base, int level)
{
	struct stat st;
	int type = FTW_F;

	if ((w->flags & FTW_PHYS ? lstat : stat)(w->path, &st) != 0) {
		if (level == 0)
			return -1;
		if (errno != EACCES && errno != ENOENT)
			return -1;
		type = FTW_NS;
		if (!(w->flags & FTW_PHYS) && lstat(w->path, &st) == 0 &&
			S_ISLNK(st.st_mode))
			type = FTW_SLN;
	} else if (w->flags & FTW_MOUNT && st.st_dev != w->dev) {
		return 0;
	} else if (S_ISDIR(st.st_mode)) {
		return directory(w, &st, base, level);
	} else if (S_ISLNK(st.st_mode)) {
		type = FTW_SL;
	}
	return visit(w, &st, type, base, level);
}

static int walk(struct walk *w, const char *path)
{
	char *back = NULL;
	const char *slash;
	struct stat st;
	int r;

	if (path[0] == '\0' || strlen(path) >= sizeof w->path) {
		errno = path[0] == '\0' ? ENOENT : ENAMETOOLONG;
		return -1;
	}
	strcpy(w->path, path);
	if (w->flags & FTW_CHDIR) {
		back = getcwd(NULL, 0);
		/* Names must stay good while the directory changes. */
		if (path[0] != '/' && realpath(path, w->path) == NULL)
			return -1;
	}
	if (w->flags & FTW_MOUNT && lstat(path, &st) == 0)
		w->dev = st.st_dev;
	for (size_t n = strlen(w->path); n > 1 && w->path[n - 1] == '/'; n--)
		w->path[n - 1] = '\0';
	slash = strrchr(w->path, '/');
	r = one(w, slash != NULL ? (size_t)(slash + 1 - w->path) : 0, 0);
	if (w->flags & FTW_ACTIONRETVAL &&
		(r == FTW_SKIP_SUBTREE || r == FTW_SKIP_SIBLINGS))
		r = 0;
	int saved = errno;

	if (back != NULL && chdir(back) != 0 && r == 0)
		r = -1;
	else
		errno = saved;
	free(back);
	free(w->seen);
	return r;
}

NFSAPPEND_HOOK int nftw(const char *path, __nftw_func_t fn, int nopenfd,
	int flags)
{
	if (!nfsappend_walk_meets_map(path))
		return NFSAPPEND_REAL(nftw)(path, fn, nopenfd, flags);

	struct walk w = {.nftw = fn, .flags = flags};

	return walk(&w, path);
}

NFSAPPEND_HOOK int nftw64(const char *path, __nftw64_func_t fn, int nopenfd,
	int flags)
{
	return nftw(path, (__nftw_func_t)fn, nopenfd, flags);
}

NFSAPPEND_HOOK int ftw(const char *path, __ftw_func_t fn, int nopenfd)
{
	if (!nfsappend_walk_meets_map(path))
		return NFSAPPEND_REAL(ftw)(path, fn, nopenfd);

	struct walk w = {.ftw = fn};

	return walk(&w, path);
}

NFSAPPEND_HOOK int ftw64(const char *path, __ftw64_func_t fn, int nopenfd)
{
	return ftw(path, (__ftw_func_t)fn, nopenfd);
}
