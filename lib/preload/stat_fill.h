/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_STAT_FILL_H
#define NFSAPPEND_PRELOAD_STAT_FILL_H

#include <sys/stat.h>

#include "core/table.h"

/* struct stat and struct stat64 are one on 64-bit hosts. 0 or -errno. */
int nfsappend_fill_stat(struct nfsappend_open *, struct stat *);
int nfsappend_fill_statx(struct nfsappend_open *, struct statx *);

#endif
