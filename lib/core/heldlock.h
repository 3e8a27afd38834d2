/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks that programs of this host hold on a file of a kernel mount: what
 * applock.h does not tell. */
#ifndef NFSAPPEND_CORE_HELDLOCK_H
#define NFSAPPEND_CORE_HELDLOCK_H

#include "core/file.h"

/* Does the open file description under that number hold a lock (flock or
 * F_OFD_SETLK, or this process one of fcntl)? */
bool nfsappend_lock_held(int fd);

/* Has a process that this one descends from locked the file for writing? It
 * waits for us as often as not: `flock log sh -c 'echo >> log'`. */
bool nfsappend_lock_of_ancestor(struct nfsappend_file *);

#endif
