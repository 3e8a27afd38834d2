/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other programs of this host that read a file on a kernel mount while we
 * append to it: they must never read NULs, and should see a record soon. The
 * kernel's client learns from its next GETATTR that the file has grown, which
 * for those who only read comes up to acregmin (3 s) later, and for a file that
 * is opened anew for each record with the next open().
 */
#ifndef NFSAPPEND_CORE_READERS_H
#define NFSAPPEND_CORE_READERS_H

#include "core/op.h"

/* The program has opened the file through the kernel; that began then
 * (CLOCK_MONOTONIC ns). */
void nfsappend_readers_opened(struct nfsappend_file *, int64_t began);

/* As leader, after an append of ours. */
void nfsappend_readers_tell(struct nfsappend_op *);

#endif
