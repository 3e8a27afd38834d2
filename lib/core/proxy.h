/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls from a process that glibc does not know: the child of a vfork, which
 * has its parent's memory and thread identity, or of a raw clone(2), whose
 * thread identity is stale. A robust lock taken there would be in the wrong
 * name. So the work is done by a child of its own, made by _Fork(), and its
 * result handed back; offset and flags are in the shared open file
 * description anyway.
 */
#ifndef NFSAPPEND_CORE_PROXY_H
#define NFSAPPEND_CORE_PROXY_H

#include <stdbool.h>
#include <sys/types.h>

/* Must calls of this process go through nfsappend_proxy()? */
bool nfsappend_needs_proxy(void);

/* fn(arg) in a child; its result. arg is seen there as it is here, but what
 * fn changes is not seen here. -EAGAIN or -ENOMEM when no child can be had. */
ssize_t nfsappend_proxy(ssize_t (*fn)(void *arg), void *arg);

#endif
