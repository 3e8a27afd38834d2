/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fts_open() and its kin, which open, read and stat inside libc: walked here
 * where one of the trees meets a map, by glibc's where none does. Walked as
 * with FTS_NOCHDIR: fts_accpath is what names a file, as programs must expect.
 * fts_set() is glibc's for both, it only writes into the entry.
 */
#include "config.h"

#include <dirent.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/path.h"
#include "preload/walk.h"

/* In fts_rfd, where glibc has a descriptor or -1. */
#define TAG (-0x6e667361) /* "nfsa" */

typedef int compare_fn(const FTSENT **, const FTSENT **);

struct node {
	struct stat st;
	FTSENT e; /* the name goes on behind it, then the path */
};

enum what { READ, CHILDREN, NAMES };

static struct node *node_of(FTSENT *e)
{
	return (struct node *)((char *)e - offsetof(struct node, e));
}

static void free_node(FTSENT *e)
{
	free(node_of(e));
}

static void free_list(FTSENT *e)
{
	while (e != NULL) {
		FTSENT *next = e->fts_link;

		free_node(e);
		e = next;
	}
}

/* name below parent, or the root of a tree. NULL and errno. */
static FTSENT *make_node(const char *name, FTSENT *parent, int level)
{
	size_t n = strlen(name), before = 0;
	struct node *node;
	char *path;

	if (level > FTS_ROOTLEVEL) {
		before = parent->fts_pathlen;
		while (before > 1 && parent->fts_path[before - 1] == '/')
			before--;
		if (parent->fts_path[before - 1] != '/')
			before++;
	}
	if (n > UINT16_MAX || before + n > UINT16_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	node = calloc(1, sizeof *node + n + 1 + before + n + 1);
	if (node == NULL)
		return NULL;
	memcpy(node->e.fts_name, name, n);
	path = (char *)(node + 1) + n + 1;
	if (before > 0) {
		memcpy(path, parent->fts_path, before - 1);
		path[before - 1] = '/';
	}
	memcpy(path + before, name, n);
	node->e.fts_namelen = (unsigned short)n;
	node->e.fts_path = node->e.fts_accpath = path;
	node->e.fts_pathlen = (unsigned short)(before + n);
	node->e.fts_parent = parent;
	node->e.fts_level = (short)level;
	node->e.fts_instr = FTS_NOINSTR;
	node->e.fts_statp = &node->st;
	node->e.fts_symfd = -1;
	return &node->e;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static unsigned short directory(FTSENT *e)
{
	e->fts_dev = e->fts_statp->st_dev;
	e->fts_ino = e->fts_statp->st_ino;
	e->fts_nlink = e->fts_statp->st_nlink;
	if (e->fts_level > FTS_ROOTLEVEL && is_dots(e->fts_name))
		return FTS_DOT;
	for (FTSENT *up = e->fts_parent; up->fts_level >= FTS_ROOTLEVEL;
		up = up->fts_parent) {
		if (up->fts_ino == e->fts_ino && up->fts_dev == e->fts_dev) {
			e->fts_cycle = up;
			return FTS_DC;
		}
	}
	return FTS_D;
}

/* Its fts_info, by what the file is. */
static unsigned short look(const FTS *fts, FTSENT *e, bool follow)
{
	struct stat *st = e->fts_statp;

	follow |= (fts->fts_options & FTS_LOGICAL) != 0;
	if ((follow ? stat : lstat)(e->fts_accpath, st) != 0) {
		int error = errno;

		if (follow && lstat(e->fts_accpath, st) == 0) {
			errno = 0;
			return FTS_SLNONE;
		}
		e->fts_errno = error;
		memset(st, 0, sizeof *st);
		return FTS_NS;
	}
	return S_ISDIR(st->st_mode)   ? directory(e)
	       : S_ISLNK(st->st_mode) ? FTS_SL
	       : S_ISREG(st->st_mode) ? FTS_F
				      : FTS_DEFAULT;
}

/* A list of n, in the order of the program's function. */
static FTSENT *sort(FTS *fts, FTSENT *list, size_t n)
{
	FTSENT **array;
	size_t i = 0;

	if (fts->fts_compar == NULL || n < 2)
		return list;
	array = malloc(n * sizeof *array);
	if (array == NULL)
		return list;
	for (FTSENT *e = list; e != NULL; e = e->fts_link)
		array[i++] = e;
	qsort(array, n, sizeof *array, fts->fts_compar);
	for (i = 0; i < n; i++)
		array[i]->fts_link = i + 1 < n ? array[i + 1] : NULL;
	list = array[0];
	free(array);
	return list;
}

static FTSENT *stop(FTS *fts, FTSENT *list, DIR *d)
{
	int saved = errno;

	free_list(list);
	closedir(d);
	fts->fts_options |= FTS_STOP;
	fts->fts_cur->fts_info = FTS_ERR;
	errno = saved;
	return NULL;
}

/* What is in the directory that is current. NULL: nothing, or not to be read,
 * which its fts_info says when it is to be walked. */
static FTSENT *list(FTS *fts, enum what what)
{
	FTSENT *cur = fts->fts_cur, *first = NULL, **end = &first;
	size_t n = 0;
	struct dirent *d;
	DIR *dir = opendir(cur->fts_accpath);

	if (dir == NULL) {
		if (what == READ) {
			cur->fts_info = FTS_DNR;
			cur->fts_errno = errno;
		}
		return NULL;
	}
	while ((d = readdir(dir)) != NULL) {
		FTSENT *e;

		if (!(fts->fts_options & FTS_SEEDOT) && is_dots(d->d_name))
			continue;
		e = make_node(d->d_name, cur, cur->fts_level + 1);
		if (e == NULL)
			return stop(fts, first, dir);
		if (what == NAMES ||
			(fts->fts_options & FTS_NOSTAT && d->d_type != DT_DIR &&
				d->d_type != DT_UNKNOWN &&
				(d->d_type != DT_LNK ||
					!(fts->fts_options & FTS_LOGICAL))))
			e->fts_info = FTS_NSOK;
		else
			e->fts_info = look(fts, e, false);
		*end = e;
		end = &e->fts_link;
		n++;
	}
	closedir(dir);
	if (n == 0 && what == READ)
		cur->fts_info = FTS_DP;
	return sort(fts, first, n);
}

static FTSENT *make_current(FTS *fts, FTSENT *e)
{
	char *slash = strrchr(e->fts_name, '/');

	if (e->fts_level == FTS_ROOTLEVEL) {
		fts->fts_dev = e->fts_dev;
		/* Of a root the name is its path until it is walked. */
		if (slash != NULL &&
			(slash != e->fts_name || slash[1] != '\0')) {
			e->fts_namelen = (unsigned short)strlen(++slash);
			memmove(e->fts_name, slash, e->fts_namelen + 1u);
		}
	}
	return fts->fts_cur = e;
}

/* The next of the siblings, or the parent once more. */
static FTSENT *next(FTS *fts, FTSENT *e)
{
	FTSENT *done;

	do {
		done = e;
		e = e->fts_link;
		if (e == NULL)
			break;
		free_node(done);
		if (e->fts_level == FTS_ROOTLEVEL)
			return make_current(fts, e);
		if (e->fts_instr == FTS_SKIP)
			continue;
		if (e->fts_instr == FTS_FOLLOW)
			e->fts_info = look(fts, e, true);
		e->fts_instr = FTS_NOINSTR;
		return make_current(fts, e);
	} while (true);
	e = done->fts_parent;
	free_node(done);
	if (e->fts_level == FTS_ROOTPARENTLEVEL) {
		free_node(e);
		fts->fts_cur = NULL;
		errno = 0;
		return NULL;
	}
	e->fts_info = e->fts_errno != 0 ? FTS_ERR : FTS_DP;
	return fts->fts_cur = e;
}

/* The directory that is current has been returned before what is in it. */
static FTSENT *down(FTS *fts, FTSENT *e, int instr)
{
	FTSENT *child;

	if (instr == FTS_SKIP ||
		(fts->fts_options & FTS_XDEV && e->fts_dev != fts->fts_dev)) {
		free_list(fts->fts_child);
		fts->fts_child = NULL;
		e->fts_info = FTS_DP;
		return e;
	}
	if (fts->fts_options & FTS_NAMEONLY) {
		free_list(fts->fts_child);
		fts->fts_child = NULL;
		fts->fts_options &= ~FTS_NAMEONLY;
	}
	child = fts->fts_child != NULL ? fts->fts_child : list(fts, READ);
	fts->fts_child = NULL;
	if (child == NULL)
		return fts->fts_options & FTS_STOP ? NULL : e;
	return make_current(fts, child);
}

static bool is_ours(const FTS *fts)
{
	return fts != NULL && fts->fts_rfd == TAG;
}

NFSAPPEND_HOOK FTSENT *fts_read(FTS *fts)
{
	FTSENT *e;
	int instr;

	if (!is_ours(fts))
		return NFSAPPEND_REAL(fts_read)(fts);
	e = fts->fts_cur;
	if (e == NULL || fts->fts_options & FTS_STOP)
		return NULL;
	instr = e->fts_instr;
	e->fts_instr = FTS_NOINSTR;
	if (instr == FTS_AGAIN) {
		e->fts_info = look(fts, e, false);
		return e;
	}
	if (instr == FTS_FOLLOW &&
		(e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)) {
		e->fts_info = look(fts, e, true);
		return e;
	}
	return e->fts_info == FTS_D ? down(fts, e, instr) : next(fts, e);
}

NFSAPPEND_HOOK FTSENT *fts_children(FTS *fts, int instr)
{
	FTSENT *e;

	if (!is_ours(fts))
		return NFSAPPEND_REAL(fts_children)(fts, instr);
	if (instr != 0 && instr != FTS_NAMEONLY) {
		errno = EINVAL;
		return NULL;
	}
	errno = 0;
	e = fts->fts_cur;
	if (e == NULL || fts->fts_options & FTS_STOP)
		return NULL;
	if (e->fts_info == FTS_INIT)
		return e->fts_link;
	if (e->fts_info != FTS_D)
		return NULL;
	free_list(fts->fts_child);
	fts->fts_options &= ~FTS_NAMEONLY;
	fts->fts_options |= instr;
	fts->fts_child = list(fts, instr != 0 ? NAMES : CHILDREN);
	return fts->fts_child;
}

NFSAPPEND_HOOK int fts_close(FTS *fts)
{
	FTSENT *e, *done;

	if (!is_ours(fts))
		return NFSAPPEND_REAL(fts_close)(fts);
	free_list(fts->fts_child);
	e = fts->fts_cur;
	while (e != NULL) {
		done = e;
		e = e->fts_link != NULL ? e->fts_link : e->fts_parent;
		free_node(done);
	}
	free(fts);
	return 0;
}

/* The roots, below a parent of none of them. */
static bool roots(FTS *fts, char *const *paths)
{
	FTSENT *parent = make_node("", NULL, FTS_ROOTPARENTLEVEL);
	FTSENT *first = NULL, **end = &first;
	size_t n = 0;

	if (parent == NULL)
		return false;
	fts->fts_cur = make_node("", parent, FTS_ROOTLEVEL);
	if (fts->fts_cur == NULL) {
		free_node(parent);
		return false;
	}
	fts->fts_cur->fts_info = FTS_INIT;
	for (; *paths != NULL; paths++, n++) {
		FTSENT *e = NULL;

		if (**paths == '\0')
			errno = ENOENT;
		else
			e = make_node(*paths, parent, FTS_ROOTLEVEL);
		if (e == NULL) {
			fts->fts_cur->fts_link = first;
			return false;
		}
		e->fts_info =
			look(fts, e, (fts->fts_options & FTS_COMFOLLOW) != 0);
		*end = e;
		end = &e->fts_link;
	}
	fts->fts_cur->fts_link = sort(fts, first, n);
	return true;
}

NFSAPPEND_HOOK FTS *fts_open(
	char *const *paths, int options, compare_fn *compare)
{
	bool meets = false;
	FTS *fts;

	for (char *const *p = paths; nfsappend_active && *p != NULL; p++)
		meets |= nfsappend_walk_meets_map(*p);
	if (!meets)
		return NFSAPPEND_REAL(fts_open)(paths, options, compare);
	if (options & ~FTS_OPTIONMASK) {
		errno = EINVAL;
		return NULL;
	}
	fts = calloc(1, sizeof *fts);
	if (fts == NULL)
		return NULL;
	fts->fts_rfd = TAG;
	fts->fts_options = options | FTS_NOCHDIR;
	fts->fts_compar = (int (*)(const void *, const void *))compare;
	if (!roots(fts, paths)) {
		int saved = errno;

		fts_close(fts);
		errno = saved;
		return NULL;
	}
	return fts;
}

NFSAPPEND_HOOK FTS64 *fts64_open(char *const *paths, int options,
	int (*compare)(const FTSENT64 **, const FTSENT64 **))
{
	return (FTS64 *)fts_open(paths, options, (compare_fn *)compare);
}

NFSAPPEND_HOOK FTSENT64 *fts64_read(FTS64 *fts)
{
	return (FTSENT64 *)fts_read((FTS *)fts);
}

NFSAPPEND_HOOK FTSENT64 *fts64_children(FTS64 *fts, int instr)
{
	return (FTSENT64 *)fts_children((FTS *)fts, instr);
}

NFSAPPEND_HOOK int fts64_close(FTS64 *fts)
{
	return fts_close((FTS *)fts);
}
