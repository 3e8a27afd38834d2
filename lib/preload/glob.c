/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glob(): glibc's own, which lists and stats by functions that it is given. */
#include "config.h"

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

#include "core/config_env.h"
#include "preload/hook.h"

static void close_directory(void *d)
{
	closedir(d);
}

static struct dirent *read_directory(void *d)
{
	return readdir(d);
}

static void *open_directory(const char *path)
{
	return opendir(path);
}

static int stat_path(const char *path, struct stat *st)
{
	return stat(path, st);
}

static int lstat_path(const char *path, struct stat *st)
{
	return lstat(path, st);
}

NFSAPPEND_HOOK int glob(const char *pattern, int flags,
	int (*on_error)(const char *, int), glob_t *g)
{
	int r;

	if (!nfsappend_active || nfsappend_depth != 0 || !nfsappend_start() ||
		nfsappend_config.nmaps == 0 || flags & GLOB_ALTDIRFUNC)
		return NFSAPPEND_REAL(glob)(pattern, flags, on_error, g);
	g->gl_closedir = close_directory;
	g->gl_readdir = read_directory;
	g->gl_opendir = open_directory;
	g->gl_stat = stat_path;
	g->gl_lstat = lstat_path;
	r = NFSAPPEND_REAL(glob)(pattern, flags | GLOB_ALTDIRFUNC, on_error, g);
	g->gl_flags &= ~GLOB_ALTDIRFUNC;
	return r;
}

NFSAPPEND_HOOK int glob64(const char *pattern, int flags,
	int (*on_error)(const char *, int), glob64_t *g)
{
	return glob(pattern, flags, on_error, (glob_t *)g);
}
