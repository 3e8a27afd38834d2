/* NFSv4.0 open state: OPEN, OPEN_CONFIRM, OPEN_DOWNGRADE, CLOSE. */
#include <string.h>

#include "v4.h"
#include "v4state.h"

enum { CLAIM_NULL, CLAIM_PREVIOUS };

struct open_args {
	uint32_t seqid, access, deny;
	uint64_t clientid;
	const uint8_t *owner;
	uint32_t owner_len;
	bool create;
	uint32_t how, bad_attrs; /* status of createattrs */
	struct wish wish;
	struct mask mask;
	uint64_t verifier;
	uint32_t claim;
	char name[NAME_SIZE];
};

static uint32_t decode(struct xdr *x, struct open_args *a)
{
	struct stateid delegation;

	*a = (struct open_args){.wish = NO_WISH};
	a->seqid = get_u32(x);
	a->access = get_u32(x);
	a->deny = get_u32(x);
	a->clientid = get_u64(x);
	a->owner = get_opaque(x, &a->owner_len, 1024);
	a->create = get_u32(x);
	if (a->create) {
		a->how = get_u32(x);
		if (a->how == HOW_EXCLUSIVE)
			a->verifier = get_u64(x);
		else
			a->bad_attrs = get_wish4(x, &a->wish, &a->mask);
	}
	a->claim = get_u32(x);
	if (a->claim == 2) /* CLAIM_DELEGATE_CUR */
		get_stateid(x, &delegation);
	if (a->claim == CLAIM_PREVIOUS)
		get_u32(x); /* delegation type */
	else
		get_string(x, a->name, sizeof(a->name));
	return x->bad || a->how > HOW_EXCLUSIVE || a->claim > 3 ? ST_BADXDR
								: ST_OK;
}

/* The owner, and what its seqid says. An owner that was never confirmed may
 * begin anew with any seqid (RFC 7530 section 16.18.5). */
static uint32_t sequence(struct call *c, const struct open_args *a,
	struct client *cl, struct owner **out)
{
	struct owner *o = owner_find(cl, false, a->owner, a->owner_len);

	*out = o;
	if (o && (o->confirmed || (o->reply_op && o->seqid == a->seqid)))
		return owner_sequence(c, o, a->seqid);
	if (o)
		states_drop_owner(o);
	else
		*out = o = owner_make(cl, false, a->owner, a->owner_len);
	o->seqid = a->seqid - 1;
	return owner_sequence(c, o, a->seqid);
}

static uint32_t may(struct call *c, const struct node *n, uint32_t access)
{
	uint32_t can, status;
	struct statx st;

	status = store_stat(n, &st);
	if (status)
		return status;
	if (S_ISDIR(st.stx_mode))
		return ST_ISDIR;
	if (!S_ISREG(st.stx_mode))
		return S_ISLNK(st.stx_mode) ? ST_SYMLINK : ST_INVAL;
	can = access_of(c, &st);
	if ((access & 1 && !(can & 0x01)) || (access & 2 && !(can & 0x04)))
		return ST_ACCES;
	return ST_OK;
}

/* Finds or makes the file. */
static uint32_t resolve(struct call *c, const struct open_args *a,
	struct node **out, bool *created)
{
	uint32_t status;

	*created = false;
	*out = c->cfh;
	if (a->claim == CLAIM_PREVIOUS)
		return state_in_grace() ? ST_OK : ST_NO_GRACE;
	if (a->claim != CLAIM_NULL)
		return ST_NOTSUPP;
	if (state_in_grace())
		return ST_GRACE;
	if (a->create && a->bad_attrs)
		return a->bad_attrs;
	if (a->create)
		status = store_create(c->cfh, a->name, a->how, &a->wish,
			a->verifier, out, created);
	else
		status = store_lookup(c->cfh, a->name, out);
	return status == ST_EXIST && !a->create ? ST_BADNAME : status;
}

static void put_result(struct call *c, const struct open_args *a,
	const struct state *st, struct node *dir, uint64_t before, bool created)
{
	struct mask none = {0};

	put_stateid(&c->out, st);
	put_change_info(c, dir, before);
	/* OPEN4_RESULT_LOCKTYPE_POSIX, OPEN4_RESULT_CONFIRM */
	put_u32(&c->out, 4 | (st->owner->confirmed ? 0 : 2));
	put_mask(&c->out, created ? &a->mask : &none);
	put_u32(&c->out, 0); /* OPEN_DELEGATE_NONE */
}

uint32_t v4_open(struct call *c)
{
	struct node *n, *dir = c->cfh;
	uint64_t before = change_of(dir);
	struct open_args a;
	struct client *cl;
	struct owner *o;
	struct state *st;
	uint32_t status = decode(&c->args, &a);
	bool created;

	call_log(c, " name=%s seqid=%u", a.name, a.seqid);
	if (status)
		return status;
	status = client_find(a.clientid, &cl);
	if (!status)
		status = sequence(c, &a, cl, &o);
	if (status || c->replay || v4_forced(c, &status))
		return status;
	if (!(a.access & 3) || a.access > 3 || a.deny > 3)
		return ST_INVAL;
	status = resolve(c, &a, &n, &created);
	if (!status && !created)
		status = may(c, n, a.access);
	if (!status && state_share_conflict(n, o, a.access, a.deny))
		status = ST_SHARE_DENIED;
	if (status)
		return status;
	st = state_of(o, n);
	if (!st)
		st = state_make(o, n, NULL);
	st->seqid++;
	st->access |= a.access;
	st->deny |= a.deny;
	/* A reclaimed owner was confirmed before (section 16.18.5). */
	if (a.claim == CLAIM_PREVIOUS)
		o->confirmed = true;
	put_result(c, &a, st, dir, before, created);
	c->cfh = n;
	return ST_OK;
}

uint32_t v4_open_confirm(struct call *c)
{
	struct stateid s;
	struct state *st;
	uint32_t seqid, status;

	get_stateid(&c->args, &s);
	seqid = get_u32(&c->args);
	call_log(c, " seqid=%u", seqid);
	if (c->args.bad)
		return ST_BADXDR;
	status = state_sequenced(c, &s, seqid, false, &st);
	if (status || c->replay || v4_forced(c, &status))
		return status;
	if (st->owner->confirmed)
		return ST_BAD_STATEID;
	st->owner->confirmed = true;
	st->seqid++;
	put_stateid(&c->out, st);
	return ST_OK;
}

uint32_t v4_open_downgrade(struct call *c)
{
	uint32_t seqid, access, deny, status;
	struct stateid s;
	struct state *st;

	get_stateid(&c->args, &s);
	seqid = get_u32(&c->args);
	access = get_u32(&c->args);
	deny = get_u32(&c->args);
	if (c->args.bad)
		return ST_BADXDR;
	status = state_sequenced(c, &s, seqid, false, &st);
	if (status || c->replay || v4_forced(c, &status))
		return status;
	if (!access || access & ~st->access || deny & ~st->deny)
		return ST_INVAL;
	st->access = access;
	st->deny = deny;
	st->seqid++;
	put_stateid(&c->out, st);
	return ST_OK;
}

uint32_t v4_close(struct call *c)
{
	uint32_t seqid = get_u32(&c->args), status;
	struct stateid s;
	struct state *st;

	get_stateid(&c->args, &s);
	call_log(c, " seqid=%u", seqid);
	if (c->args.bad)
		return ST_BADXDR;
	status = state_sequenced(c, &s, seqid, false, &st);
	if (status || c->replay || v4_forced(c, &status))
		return status;
	/* Section 16.2.5 leaves it open; knfsd drops the locks. */
	if (!options.seqid_first && locks_held(st))
		return ST_LOCKS_HELD;
	state_close(st);
	st->seqid++;
	put_stateid(&c->out, st);
	return ST_OK;
}
