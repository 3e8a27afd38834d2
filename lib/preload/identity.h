/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process becomes another user or gives up what it may do: also by
 * syscall(2), which changes the calling thread alone. */
#ifndef NFSAPPEND_PRELOAD_IDENTITY_H
#define NFSAPPEND_PRELOAD_IDENTITY_H

#include <sys/types.h>

/* uid: the effective one that is to come. */
void nfsappend_becomes(uid_t uid);
/* data: capset(2)'s. */
void nfsappend_gives_up(const void *data);

#endif
