/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a procedure of NFSv3 is called. */
#ifndef NFSAPPEND_NFS_NFS3_CALL_H
#define NFSAPPEND_NFS_NFS3_CALL_H

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-nfs.h>

#include "nfs/exchange.h"
#include "nfs/nfs3_reply.h"

/* Points into fh: for the arguments of a call. */
nfs_fh3 nfsappend_fh3(const struct nfsappend_fh *);

/* The procedure NFS3_name, with libnfs's encoder and a decoder of ours. */
#define NFSAPPEND_CALL3(name, arguments, decoder, output)                      \
	(struct nfsappend_exchange){.program = NFS_PROGRAM,                    \
		.version = NFS_V3,                                             \
		.procedure = NFS3_##name,                                      \
		.encode = (zdrproc_t)zdr_##name##3args,                        \
		.args = (arguments),                                           \
		.decode = (decoder),                                           \
		.out = (output)}

#endif
