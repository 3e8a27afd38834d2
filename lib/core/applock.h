/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks that programs of this host hold on a file of a kernel mount. */
#ifndef NFSAPPEND_CORE_APPLOCK_H
#define NFSAPPEND_CORE_APPLOCK_H

#include "core/file.h"

/* Does the open file description under that number hold a lock (flock or
 * F_OFD_SETLK, or this process one of fcntl)? */
bool nfsappend_lock_held(int fd);

/* Is it this process that has locked the file for writing, by any of its
 * descriptors, or a process that it descends from? Then waiting for it would
 * last for ever: `flock log sh -c 'echo >> log'`. */
bool nfsappend_lock_ours(struct nfsappend_file *);

#endif
