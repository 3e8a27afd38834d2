/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock on the whole file that stands in our way may be the program's own,
 * by flock() or fcntl() on a descriptor of a kernel mount: to wait for it
 * would be to wait for oneself.
 */
#ifndef NFSAPPEND_CORE_APPLOCK_H
#define NFSAPPEND_CORE_APPLOCK_H

#include "core/file.h"

/* Has an open file description that this process has too (its own, or one
 * that it inherited, as under flock(1)) a write lock on the file? */
bool nfsappend_applock_ours(const struct nfsappend_file *);

#endif
