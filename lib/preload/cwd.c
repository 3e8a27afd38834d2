/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The working directory: changed and told. */
#include "config.h"

/* Programs call them all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/cwd.h"
#include "core/directory.h"
#include "core/query.h"
#include "preload/path.h"

extern char *__getcwd_chk(char *, size_t, size_t);
extern char *__getwd_chk(char *, size_t);

static int enter_path(const char *path)
{
	char real[PATH_MAX];
	int r = nfsappend_path_enterable(path, real);

	return r != 0 ? r : nfsappend_cwd_enter(real);
}

NFSAPPEND_HOOK int chdir(const char *path)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false, enter_path(path),
		NFSAPPEND_REAL(chdir)(path));
}

NFSAPPEND_HOOK int fchdir(int fd)
{
	struct nfsappend_use use;
	struct nfsappend_directory *d;
	int r;

	if (!nfsappend_use_begin(&use, fd))
		return NFSAPPEND_REAL(fchdir)(fd);
	r = use.error;
	d = r == 0 ? use.open->dir : NULL;
	if (r == 0)
		r = d == NULL ? -ENOTDIR
			: d->cut ? -ENAMETOOLONG
				 : nfsappend_cwd_enter(d->path);
	nfsappend_use_end(&use);
	return (int)nfsappend_result(r);
}

/* true: it is below a map; its path is in out. */
static bool mapped(char out[PATH_MAX])
{
	return nfsappend_active && nfsappend_depth == 0 && nfsappend_start() &&
		nfsappend_cwd_mapped() && nfsappend_cwd_path(out, PATH_MAX) >= 0;
}

NFSAPPEND_HOOK char *getcwd(char *buf, size_t n)
{
	char path[PATH_MAX];
	size_t len;

	if (!mapped(path))
		return NFSAPPEND_REAL(getcwd)(buf, n);
	len = strlen(path) + 1;
	if (buf != NULL && n == 0) {
		errno = EINVAL;
		return NULL;
	}
	if (n != 0 && n < len) {
		errno = ERANGE;
		return NULL;
	}
	if (buf == NULL)
		buf = malloc(n != 0 ? n : len);
	return buf != NULL ? memcpy(buf, path, len) : NULL;
}

NFSAPPEND_HOOK char *__getcwd_chk(char *buf, size_t n, size_t room)
{
	if (n > room)
		return NFSAPPEND_REAL(__getcwd_chk)(buf, n, room);
	return getcwd(buf, n);
}

/* $PWD where it is the same place, which may be by another way. */
NFSAPPEND_HOOK char *get_current_dir_name(void)
{
	char path[PATH_MAX], by_pwd[PATH_MAX];
	const char *pwd = getenv("PWD");

	if (!mapped(path))
		return NFSAPPEND_REAL(get_current_dir_name)();
	if (pwd != NULL && pwd[0] == '/' &&
		nfsappend_path_real(pwd, by_pwd) == 0 &&
		strcmp(path, by_pwd) == 0)
		return strdup(pwd);
	return strdup(path);
}

NFSAPPEND_HOOK char *getwd(char *buf)
{
	char path[PATH_MAX];

	if (!mapped(path))
		return NFSAPPEND_REAL(getwd)(buf);
	return strcpy(buf, path);
}

NFSAPPEND_HOOK char *__getwd_chk(char *buf, size_t room)
{
	char path[PATH_MAX];

	if (!mapped(path) || strlen(path) >= room)
		return NFSAPPEND_REAL(__getwd_chk)(buf, room);
	return strcpy(buf, path);
}
