/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_CORE_ERRNAME_H
#define NFSAPPEND_CORE_ERRNAME_H

/* "ENOSPC (No space left on device)": for messages, from a
 * table, since strerror() may allocate and translate. */
const char *nfsappend_strerror(int error);
/* What the administrator can do about it. */
const char *nfsappend_cure(int error);

#endif
