/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Open state: OPEN, OPEN_CONFIRM, CLOSE (RFC 7530 section 9.9 and 16.16). */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "nfs/errors.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_seqid.h"
#include "nfs/nfs4_wire.h"

enum { /* RFC 7531 */
	SHARE_ACCESS_WRITE = 2,
	CREATE_UNCHECKED = 0,
	CREATE_EXCLUSIVE = 2,
	RESULT_CONFIRM = 2,
	DELEGATE_NONE = 0,
};

struct opened {
	uint32_t op, status; /* the last one looked at */
	bool open;	     /* the OPEN itself succeeded */
	uint32_t flags;
	struct nfsappend_stateid stateid;
	struct nfsappend_fh *fh;
	struct nfsappend_attr *attr;
	bool has_fh, has_attr;
};

static void get_open(struct nfsappend_results *r, struct opened *o)
{
	uint32_t words;

	nfsappend_get_stateid(r, &o->stateid);
	nfsappend_get32(r); /* change_info4 */
	nfsappend_get64(r);
	nfsappend_get64(r);
	o->flags = nfsappend_get32(r);
	words = nfsappend_get32(r); /* attrset */
	for (uint32_t i = 0; i < words && !r->bad; i++)
		nfsappend_get32(r);
	/* A delegation cannot be given to who has no callback path (section
	 * 10.2); one all the same is a reply that makes no sense. */
	if (nfsappend_get32(r) != DELEGATE_NONE)
		r->bad = true;
	o->open = !r->bad;
}

static int decode_open(struct nfsappend_results *r, void *out)
{
	struct opened *o = out;

	while (nfsappend_next(r, &o->op, &o->status) && o->status == 0) {
		switch (o->op) {
		case NFSAPPEND_OP_PUTFH:
			break;
		case NFSAPPEND_OP_OPEN:
			get_open(r, o);
			break;
		case NFSAPPEND_OP_GETFH:
			nfsappend_get_fh(r, NFSAPPEND_FH_MAX, o->fh);
			o->has_fh = !r->bad;
			break;
		case NFSAPPEND_OP_GETATTR:
			nfsappend_get_attr(r, o->attr, NULL);
			o->has_attr = !r->bad;
			break;
		default:
			r->bad = true;
		}
	}
	if (o->op == 0 && r->status != 0)
		o->status = r->status;
	return 0;
}

static void put_open(struct nfsappend_ops *o, const struct nfsappend_state *st,
	const struct nfsappend_open_args *a)
{
	nfsappend_op(o, NFSAPPEND_OP_OPEN);
	nfsappend_put32(o, st->open_seqid);
	nfsappend_put32(o, SHARE_ACCESS_WRITE);
	nfsappend_put32(o, 0);
	nfsappend_put64(o, st->clientid);
	nfsappend_put_opaque(o, st->owner, sizeof st->owner);
	nfsappend_put32(o, a->create);
	if (a->create && a->how == NFSAPPEND_EXCLUSIVE) {
		nfsappend_put32(o, CREATE_EXCLUSIVE);
		nfsappend_put_fixed(o, &a->verifier, sizeof a->verifier);
	} else if (a->create) {
		struct nfsappend_attr attr = {.mode = a->mode};

		nfsappend_put32(o, CREATE_UNCHECKED);
		nfsappend_put_attr(o, NFSAPPEND_SET_MODE, &attr);
	}
	if (a->reclaim) {
		nfsappend_put32(o, CLAIM_PREVIOUS);
		nfsappend_put32(o, DELEGATE_NONE);
	} else {
		nfsappend_put32(o, CLAIM_NULL);
		nfsappend_put_opaque(o, a->name, (uint32_t)strlen(a->name));
	}
}

/* A new owner: its first OPEN makes it known, with any seqid. */
static int new_owner(
	struct nfsappend_state *st, const struct nfsappend_client *c)
{
	struct nfsappend_state fresh = {
		.generation = c->generation,
		.clientid = c->clientid,
		.open_seqid = 1,
		.two_steps = st->two_steps,
		.was_held = st->was_held,
		.in_doubt = st->in_doubt,
		.offset = st->offset,
		.len = st->len,
	};

	if (getrandom(fresh.owner, sizeof fresh.owner, 0) !=
		(ssize_t)sizeof fresh.owner)
		return -EIO;
	*st = fresh;
	return 0;
}

static int lose(struct nfsappend_slot *slot, struct nfsappend_state *st)
{
	st->lost = 1;
	st->held = 0;
	st->in_flight = NFSAPPEND_NOTHING;
	nfsappend_slot_set(slot, st);
	return NFSAPPEND_STATE_LOST;
}

/* The OPEN has an answer that is not success. */
static int refused(struct nfsappend_slot *slot, struct nfsappend_state *st,
	const struct opened *o)
{
	int r = nfsappend_errno4(o->status);

	if (o->op == NFSAPPEND_OP_OPEN && nfsappend_seqid_used(o->status))
		st->open_seqid++;
	st->in_flight = NFSAPPEND_NOTHING;
	if (r == NFSAPPEND_STATE_LOST)
		return lose(slot, st);
	nfsappend_slot_set(slot, st);
	return r != 0 ? r : NFSAPPEND_LOST;
}

static int confirm(struct nfsappend_session *, struct nfsappend_wait *,
	struct nfsappend_slot *, const struct nfsappend_fh *);

int nfsappend_nfs4_open(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_slot *slot,
	const struct nfsappend_client *c, const struct nfsappend_open_args *a,
	struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);
	struct opened opened = {.fh = fh, .attr = attr};
	bool repeated = st.in_flight == NFSAPPEND_OPEN &&
			st.generation == c->generation && !st.lost;
	struct nfsappend_ops o;
	int r;

	if (st.opened && !st.lost && st.generation == c->generation)
		return st.confirmed ? 0 : confirm(s, wait, slot, fh);
	if (!repeated) {
		if (st.generation != c->generation || st.lost || st.opened) {
			r = new_owner(&st, c);
			if (r != 0)
				return r;
		}
		st.in_flight = NFSAPPEND_OPEN;
		nfsappend_slot_set(slot, &st);
	}
	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, a->reclaim ? a->expected : a->dir);
	put_open(&o, &st, a);
	nfsappend_op(&o, NFSAPPEND_OP_GETFH);
	nfsappend_op_getattr(&o);
	r = nfsappend_compound(s, wait, &o, decode_open, &opened);
	if (r != 0)
		return r;
	if (!opened.open)
		return refused(slot, &st, &opened);
	st.open_seqid++;
	st.open = opened.stateid;
	st.opened = 1;
	st.confirmed = !(opened.flags & RESULT_CONFIRM);
	st.was_held &= a->reclaim; /* a lock follows its open */
	st.in_flight = NFSAPPEND_NOTHING;
	nfsappend_slot_set(slot, &st);
	if (!opened.has_fh || !opened.has_attr) {
		/* Open, but of what? The new owner opens again. */
		st.lost = 1;
		nfsappend_slot_set(slot, &st);
		r = nfsappend_errno4(opened.status);
		return r != 0 ? r : NFSAPPEND_LOST;
	}
	return st.confirmed ? 0 : NFSAPPEND_CONTINUE;
}

struct confirmed {
	uint32_t op, status;
	struct nfsappend_stateid stateid;
	bool ok;
};

static int decode_confirm(struct nfsappend_results *r, void *out)
{
	struct confirmed *c = out;

	while (nfsappend_next(r, &c->op, &c->status) && c->status == 0) {
		if (c->op == NFSAPPEND_OP_PUTFH)
			continue;
		nfsappend_get_stateid(r, &c->stateid);
		c->ok = !r->bad;
	}
	if (c->op == 0)
		c->status = r->status;
	return 0;
}

/* OPEN_CONFIRM and CLOSE have the same shape but for the order. */
static int confirm(struct nfsappend_session *s, struct nfsappend_wait *wait,
	struct nfsappend_slot *slot, const struct nfsappend_fh *fh)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);
	struct confirmed c = {.ok = false};
	struct nfsappend_ops o;
	int r;

	st.in_flight = NFSAPPEND_OPEN_CONFIRM;
	nfsappend_slot_set(slot, &st);
	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_OPEN_CONFIRM);
	nfsappend_put_stateid(&o, &st.open);
	nfsappend_put32(&o, st.open_seqid);
	r = nfsappend_compound(s, wait, &o, decode_confirm, &c);
	if (r != 0)
		return r;
	st.in_flight = NFSAPPEND_NOTHING;
	if (c.ok || (c.op == NFSAPPEND_OP_OPEN_CONFIRM &&
			    nfsappend_seqid_used(c.status)))
		st.open_seqid++;
	if (!c.ok) {
		r = nfsappend_errno4(c.status);
		if (r == NFSAPPEND_STATE_LOST)
			return lose(slot, &st);
		nfsappend_slot_set(slot, &st);
		return r != 0 ? r : NFSAPPEND_LOST;
	}
	st.open = c.stateid;
	st.confirmed = 1;
	nfsappend_slot_set(slot, &st);
	return 0;
}

int nfsappend_nfs4_close(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_slot *slot,
	const struct nfsappend_fh *fh)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);
	static const struct nfsappend_state empty;
	struct confirmed c = {.ok = false};
	struct nfsappend_ops o;
	int r;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_CLOSE);
	nfsappend_put32(&o, st.open_seqid);
	nfsappend_put_stateid(&o, &st.open);
	r = nfsappend_compound(s, wait, &o, decode_confirm, &c);
	if (r != 0)
		return r;
	nfsappend_slot_set(slot, &empty);
	return c.ok ? 0 : nfsappend_errno4(c.status);
}
