/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First contact with a server: name, ports, MOUNT, FSINFO. */
#ifndef NFSAPPEND_NFS_CONTACT_H
#define NFSAPPEND_NFS_CONTACT_H

#include "core/backend.h"

int nfsappend_contact3(const struct nfsappend_target *,
	const struct nfsappend_cred *, struct nfsappend_wait *,
	struct nfsappend_contact *, char *why, size_t whylen);

#endif
