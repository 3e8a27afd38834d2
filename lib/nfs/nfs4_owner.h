/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owner strings (RFC 7530 section 5.9) to ids: numbers as they are, names by
 * the local files. Not by NSS, which loads objects and takes locks in the
 * middle of somebody else's write().
 */
#ifndef NFSAPPEND_NFS_NFS4_OWNER_H
#define NFSAPPEND_NFS_NFS4_OWNER_H

#include <stdint.h>

/* "1000", "name@domain" or "name"; 65534 where nobody knows it. */
uint32_t nfsappend_owner_uid(const char *, uint32_t len);
uint32_t nfsappend_owner_gid(const char *, uint32_t len);

#endif
