/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Our sockets among the program's descriptors. They sit on high numbers; the
 * hooks of close(), close_range() and dup2() spare them, and before each use
 * the number is checked to be still our socket, since a raw system call of
 * the program may have closed and re-used it.
 */
#ifndef NFSAPPEND_CORE_SOCKETS_H
#define NFSAPPEND_CORE_SOCKETS_H

#include <stdatomic.h>
#include <stdbool.h>

#define NFSAPPEND_SOCKETS 128

extern _Atomic int nfsappend_sockets_used; /* 0: none, ask no further */

void nfsappend_sockets_start(void);

/* Takes over fd, moves it high: a slot, or -errno (fd is closed then). */
int nfsappend_socket_adopt(int fd);
/* The number, kept in place until unhold; -EBADF when it was taken away. */
int nfsappend_socket_hold(int slot);
void nfsappend_socket_unhold(int slot);
/* Closes it if it is still ours, and frees the slot. */
void nfsappend_socket_drop(int slot);

/* Is the number one of ours (as far as we know)? */
bool nfsappend_socket_ours(int fd);
/* The program wants the number for itself (dup2): move ours away. 0, or
 * -EBUSY while it is in use, which a caller waits for (NFSAPPEND_RECV_MS). */
int nfsappend_socket_yield(int fd);

#endif
