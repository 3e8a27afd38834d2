/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_CORE_USERNS_H
#define NFSAPPEND_CORE_USERNS_H

#include <stdint.h>

/*
 * Ids as they are outside the user namespace (user_namespaces(7)): what a
 * kernel client would send, so that whoever makes himself root in a
 * namespace of his own is not root to the server. 65534 for an id that is
 * not mapped.
 */
uint32_t nfsappend_outside_uid(uint32_t uid);
uint32_t nfsappend_outside_gid(uint32_t gid);

#endif
