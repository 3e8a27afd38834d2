/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_CORE_ERRNAME_H
#define NFSAPPEND_CORE_ERRNAME_H

/* "ENOSPC, no space left on the server's device": for messages, from a
 * table, since strerror() may allocate and translate. */
const char *nfsappend_strerror(int error);

#endif
