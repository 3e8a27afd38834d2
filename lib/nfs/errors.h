/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Status codes of the wire to errno, as the Linux kernel client does. */
#ifndef NFSAPPEND_NFS_ERRORS_H
#define NFSAPPEND_NFS_ERRORS_H

#include <stdint.h>

/* nfsstat3 (RFC 1813 section 2.6): 0, -errno, or NFSAPPEND_DELAY. */
int nfsappend_errno3(int status);
/* mountstat3 (RFC 1813 section 5.1.5): 0 or -errno. */
int nfsappend_errno_mount3(int status);
/* nfsstat4 (RFC 7530 section 13.1): 0, -errno, or an enum
 * nfsappend_outcome. */
int nfsappend_errno4(uint32_t status);

#endif
