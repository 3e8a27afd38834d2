/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An append under a lock on the wire: see nfs4_append.c. */
#include "config.h"

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

#include "nfs/nfs4.h"
#include "nfs/nfs4_append.h"

#define WRITE_LT 2 /* nfs_lock_type4 */

static void get_denied(
	struct nfsappend_results *r, struct nfsappend_append_answer *a)
{
	uint32_t len;

	a->denied_offset = nfsappend_get64(r);
	a->denied_length = nfsappend_get64(r);
	nfsappend_get32(r); /* type */
	nfsappend_get64(r); /* owner */
	nfsappend_get_opaque(r, 1024, &len);
}

int nfsappend_append_decode(struct nfsappend_results *r, void *out)
{
	struct nfsappend_append_answer *a = out;

	while (nfsappend_next(r, &a->op, &a->status)) {
		if (a->op == NFSAPPEND_OP_LOCK && a->status == NFS4ERR_DENIED)
			get_denied(r, a);
		if (a->status != NFS4_OK)
			break;
		switch (a->op) {
		case NFSAPPEND_OP_PUTFH:
			break;
		case NFSAPPEND_OP_LOCK:
			nfsappend_get_stateid(r, &a->lock);
			a->locked = true;
			break;
		case NFSAPPEND_OP_GETATTR:
			a->size = nfsappend_get_size(r);
			a->has_size = true;
			break;
		case NFSAPPEND_OP_VERIFY:
			a->verified = true;
			break;
		case NFSAPPEND_OP_WRITE:
			nfsappend_get_written(r, a->len, &a->written);
			a->wrote = true;
			break;
		case NFSAPPEND_OP_LOCKU:
			nfsappend_get_stateid(r, &a->unlock);
			a->unlocked = true;
			break;
		default:
			r->bad = true;
			break;
		}
	}
	if (a->op == 0) /* refused as a whole */
		a->status =
			r->status != NFS4_OK ? r->status : NFS4ERR_SERVERFAULT;
	return 0;
}

static void put_range(struct nfsappend_ops *o)
{
	nfsappend_put64(o, NFSAPPEND_MUTEX_OFFSET);
	nfsappend_put64(o, 1);
}

static void put_lock(struct nfsappend_ops *o, const struct nfsappend_state *st,
	bool new_owner)
{
	nfsappend_op(o, NFSAPPEND_OP_LOCK);
	nfsappend_put32(o, WRITE_LT);
	nfsappend_put32(o, new_owner && st->was_held); /* reclaim */
	put_range(o);
	nfsappend_put32(o, new_owner);
	if (new_owner) {
		nfsappend_put32(o, st->open_seqid);
		nfsappend_put_stateid(o, &st->open);
		nfsappend_put32(o, st->lock_seqid);
		nfsappend_put64(o, st->clientid);
		nfsappend_put_opaque(o, st->owner, sizeof st->owner);
	} else {
		nfsappend_put_stateid(o, &st->lock);
		nfsappend_put32(o, st->lock_seqid);
	}
}

static void put_unlock(struct nfsappend_ops *o, uint32_t seqid,
	const struct nfsappend_stateid *stateid)
{
	nfsappend_op(o, NFSAPPEND_OP_LOCKU);
	nfsappend_put32(o, WRITE_LT);
	nfsappend_put32(o, seqid);
	nfsappend_put_stateid(o, stateid);
	put_range(o);
}

void nfsappend_append_put(struct nfsappend_ops *o,
	const struct nfsappend_state *st, const struct nfsappend_fh *fh,
	const void *data)
{
	struct nfsappend_stateid predicted = nfsappend_stateid_next(&st->lock);

	nfsappend_ops_begin(o);
	nfsappend_op_putfh(o, fh);
	switch (st->in_flight) {
	case NFSAPPEND_LOCK_NEW:
	case NFSAPPEND_LOCK:
		put_lock(o, st, st->in_flight == NFSAPPEND_LOCK_NEW);
		nfsappend_op_getattr_size(o);
		break;
	case NFSAPPEND_LOCK_AND_WRITE:
		put_lock(o, st, false);
		nfsappend_op_getattr_size(o);
		nfsappend_op_verify_size(o, st->offset);
		nfsappend_op_write(o, &predicted, st->offset, data, st->len);
		put_unlock(o, st->lock_seqid + 1, &predicted);
		break;
	case NFSAPPEND_WRITE_UNLOCK:
		nfsappend_op_write(o, &st->lock, st->offset, data, st->len);
		put_unlock(o, st->lock_seqid, &st->lock);
		break;
	case NFSAPPEND_WRITE_HELD:
		nfsappend_op_write(o, &st->lock, st->offset, data, st->len);
		break;
	default: /* NFSAPPEND_UNLOCK */
		put_unlock(o, st->lock_seqid, &st->lock);
		break;
	}
}
