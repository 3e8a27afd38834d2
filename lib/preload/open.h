/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two halves of every open: before the kernel is asked, and after. */
#ifndef NFSAPPEND_PRELOAD_OPEN_H
#define NFSAPPEND_PRELOAD_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

/* true: the path was ours, *result and errno are set. */
bool nfsappend_open_before(int dirfd, const char *path, int flags, mode_t mode,
	int *result);
/* What the kernel answered, or our answer where it found nothing. */
int nfsappend_open_after(int dirfd, const char *path, int flags, mode_t mode,
	int result);

#endif
