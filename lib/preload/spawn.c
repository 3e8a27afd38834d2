/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_spawn_file_actions_addopen() and _addchdir_np(): the open or chdir
 * happens inside libc, in the child, where no hook sees it. A mapped path is
 * opened here instead, at once, and the child gets a dup2() or fchdir() of
 * it. It is closed when the actions are destroyed.
 */
#include "config.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>

#include "core/config_env.h"
#include "core/cwd.h"
#include "core/directory.h"
#include "core/query.h"
#include "preload/hook.h"
#include "preload/open.h"
#include "preload/path.h"

#define OPENED_MAX 256

/* No lock, which a fork of another thread could leave held. An entry belongs to
 * whoever owns the actions. */
static struct {
	posix_spawn_file_actions_t *_Atomic actions; /* NULL: free */
	int fd;
} opened[OPENED_MAX];

static bool keep(posix_spawn_file_actions_t *actions, int fd)
{
	for (int i = 0; i < OPENED_MAX; i++) {
		posix_spawn_file_actions_t *none = NULL;

		if (!atomic_compare_exchange_strong(&opened[i].actions, &none,
			    actions))
			continue;
		opened[i].fd = fd;
		return true;
	}
	return false;
}

/* A descriptor number that the actions themselves will hardly name. */
static int out_of_the_way(int fd)
{
	int high = NFSAPPEND_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, 512);

	if (high < 0)
		high = NFSAPPEND_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, 10);
	close(fd);
	if (high >= 0)
		nfsappend_table_unsure(high);
	return high;
}

NFSAPPEND_HOOK int posix_spawn_file_actions_addopen(
	posix_spawn_file_actions_t *actions, int fd, const char *path,
	int flags, mode_t mode)
{
	int saved = errno, ours = -1, r;

	if (!nfsappend_open_before(AT_FDCWD, path, flags, mode, &ours)) {
		errno = saved;
		return NFSAPPEND_REAL(posix_spawn_file_actions_addopen)(
			actions, fd, path, flags, mode);
	}
	if (ours >= 0)
		ours = out_of_the_way(ours);
	r = ours < 0 ? errno : 0;
	if (r == ENOENT) /* for the spawn to find, as POSIX has it */
		return NFSAPPEND_REAL(posix_spawn_file_actions_addopen)(
			actions, fd, "/proc/self/no such file", O_RDONLY, 0);
	if (r == 0 && !keep(actions, ours))
		r = ENOMEM;
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, ours, fd);
	else if (ours >= 0)
		close(ours);
	errno = saved;
	return r;
}

/* fd: of the directory to stand in for a mapped one, or -errno. */
static int change_to(posix_spawn_file_actions_t *actions, int fd)
{
	if (fd >= 0)
		fd = out_of_the_way(fd);
	else
		errno = -fd;
	if (fd < 0)
		return errno;
	if (keep(actions, fd))
		return NFSAPPEND_REAL(posix_spawn_file_actions_addfchdir_np)(
			actions, fd);
	close(fd);
	return ENOMEM;
}

NFSAPPEND_HOOK int posix_spawn_file_actions_addchdir_np(
	posix_spawn_file_actions_t *actions, const char *path)
{
	char real[PATH_MAX];
	int saved = errno, r = NFSAPPEND_NOT_OURS;

	if (nfsappend_active && nfsappend_depth == 0 && nfsappend_start() &&
		nfsappend_config.nmaps > 0)
		r = nfsappend_path_enterable(path, real);
	if (r == 0)
		r = change_to(actions, nfsappend_cwd_open(real));
	else if (r == -ENOENT) /* for the spawn to find */
		r = NFSAPPEND_REAL(posix_spawn_file_actions_addchdir_np)(
			actions, "/proc/self/no such file");
	else if (r != NFSAPPEND_NOT_OURS)
		r = -r;
	else
		r = NFSAPPEND_REAL(posix_spawn_file_actions_addchdir_np)(
			actions, NFSAPPEND_PATH_OUT(AT_FDCWD, path));
	errno = saved;
	return r;
}

NFSAPPEND_HOOK int posix_spawn_file_actions_addfchdir_np(
	posix_spawn_file_actions_t *actions, int fd)
{
	struct nfsappend_use use;
	int saved = errno, r;

	if (!nfsappend_use_begin(&use, fd))
		return NFSAPPEND_REAL(posix_spawn_file_actions_addfchdir_np)(
			actions, fd);
	r = use.error;
	if (r == 0 && use.open->dir == NULL)
		r = -ENOTDIR;
	if (r == 0)
		r = use.open->dir->cut
			? -ENAMETOOLONG
			: nfsappend_cwd_open(use.open->dir->path);
	nfsappend_use_end(&use);
	r = change_to(actions, r);
	errno = saved;
	return r;
}

NFSAPPEND_HOOK int posix_spawn_file_actions_destroy(
	posix_spawn_file_actions_t *actions)
{
	for (int i = 0; nfsappend_active && i < OPENED_MAX; i++) {
		if (atomic_load(&opened[i].actions) != actions)
			continue;
		close(opened[i].fd);
		atomic_store(&opened[i].actions, NULL);
	}
	return NFSAPPEND_REAL(posix_spawn_file_actions_destroy)(actions);
}
