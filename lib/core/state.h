/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv4.0 open state of a file: made, adopted, made anew, given back. */
#ifndef NFSAPPEND_CORE_STATE_H
#define NFSAPPEND_CORE_STATE_H

#include "core/op.h"

/* Creates a file by OPEN, whose state goes into slot (zeroed). 0 or -errno,
 * and then the slot holds nothing. */
int nfsappend_state_create(struct nfsappend_server *,
	struct nfsappend_waiting *, struct nfsappend_slot *,
	struct nfsappend_open_args *, struct nfsappend_fh *,
	struct nfsappend_attr *);
/* CLOSE, as far as the server is there. */
void nfsappend_state_close(struct nfsappend_server *,
	struct nfsappend_waiting *, struct nfsappend_slot *,
	const struct nfsappend_fh *);
/* At open(2): the segment has open state afterwards, made (may be NULL) by
 * the creation of the file or by an OPEN. 0 or -errno. */
int nfsappend_state_prepare(
	struct nfsappend_file *, struct nfsappend_slot *made);
/* As leader, after NFSAPPEND_STATE_LOST: a new OPEN, under a new client if
 * the server refused the one that the state is of. 0 or -errno. */
int nfsappend_state_renew(struct nfsappend_op *);

#endif
