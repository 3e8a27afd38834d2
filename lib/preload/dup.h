/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Placeholders on kernel mounts that must be open for writing after all. */
#ifndef NFSAPPEND_PRELOAD_DUP_H
#define NFSAPPEND_PRELOAD_DUP_H

#include <stdbool.h>

/* Something has come under number 2. */
void nfsappend_onto_stderr(void);
/* The program is about to lock it for writing, by flock() or by fcntl(). */
void nfsappend_for_write_lock(int fd, bool fcntl_lock);

#endif
