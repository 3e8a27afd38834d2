/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_NFS_MEMORY_H
#define NFSAPPEND_NFS_MEMORY_H

/* The child of a fork: what the parent's threads had is lost, not shared. */
void nfsappend_memory_after_fork(void);

#endif
