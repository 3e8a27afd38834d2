/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_STAT_H
#define NFSAPPEND_PRELOAD_STAT_H

#include <stdbool.h>
#include <sys/stat.h>

/* true: fd is ours, *result and errno are set. */
bool nfsappend_stat_descriptor(int fd, struct stat *, int *result);

#endif
