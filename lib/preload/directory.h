/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_DIRECTORY_H
#define NFSAPPEND_PRELOAD_DIRECTORY_H

#include <dirent.h>
#include <stdbool.h>

/* opendir() of a path below a map. true: it was ours, *result and errno are
 * set. sought: the kernel has found nothing there. */
bool nfsappend_opendir_ours(int dirfd, const char *path, bool sought,
	DIR **result);

#endif
