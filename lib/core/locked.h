/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One append under the mutex byte, step by step: what sending (locked.c) and
 * settling (locked_settle.c) share. Callers of core see op.h.
 */
#ifndef NFSAPPEND_CORE_LOCKED_H
#define NFSAPPEND_CORE_LOCKED_H

#include "core/op.h"

struct nfsappend_sending {
	struct nfsappend_op *op;
	struct nfsappend_slot *slot;
	struct nfsappend_record rec;
	int64_t took;	  /* the last step, ns */
	bool met;	  /* another host's appends on the way */
	unsigned busy;	  /* refusals in a row */
	unsigned tries;	  /* for nfsappend_server_again() */
	unsigned repeats; /* steps in a row without an answer that counts */
	int64_t twin_since;
	int64_t app_since; /* an application's lock is in the way, ns */
	bool told; /* of it */
};

void nfsappend_locked_start(
	struct nfsappend_sending *, struct nfsappend_op *);
/* The module's next step; may be deposed meanwhile: NFSAPPEND_DEPOSED. */
int nfsappend_locked_step(struct nfsappend_sending *);
bool nfsappend_locked_held(const struct nfsappend_sending *);
/* Is what became of a request, or of the record, unknown? */
bool nfsappend_locked_unanswered(const struct nfsappend_sending *);
/* See locked_steps.c. */
bool nfsappend_locked_again(struct nfsappend_sending *, int *r);
uint32_t nfsappend_locked_count(
	struct nfsappend_op *, uint64_t offset, uint32_t len);
int nfsappend_locked_twin(struct nfsappend_sending *);
void nfsappend_locked_note(struct nfsappend_sending *, uint32_t wrote);

#endif
