/* NFSv4.0 byte-range locks (RFC 7530 sections 9.4, 16.10 to 16.12, 16.37). */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "v4.h"
#include "v4state.h"

struct lock {
	struct lock *next;
	struct state *state;
	bool write;
	uint64_t first, last; /* inclusive */
};

/* All of them; few enough to search. */
static struct lock *locks;

static void drop_at(struct lock **at)
{
	struct lock *l = *at;

	*at = l->next;
	free(l);
}

void locks_drop(struct state *st)
{
	struct lock **at = &locks;

	while (*at)
		if ((*at)->state == st)
			drop_at(at);
		else
			at = &(*at)->next;
}

void locks_drop_client(struct client *cl)
{
	struct lock **at = &locks;

	while (*at)
		if ((*at)->state->owner->client == cl)
			drop_at(at);
		else
			at = &(*at)->next;
}

bool locks_held(const struct state *open)
{
	struct lock *l;

	for (l = locks; l; l = l->next)
		if (l->state->open == open)
			return true;
	return false;
}

static void add(struct state *st, bool write, uint64_t first, uint64_t last)
{
	struct lock *l = calloc(1, sizeof(*l));

	if (!l)
		err(1, "lock");
	*l = (struct lock){locks, st, write, first, last};
	locks = l;
}

/* Takes the range out of what the state holds. */
static void cut(struct state *st, uint64_t first, uint64_t last)
{
	struct lock **at = &locks, *l;

	while ((l = *at)) {
		if (l->state != st || l->last < first || l->first > last) {
			at = &l->next;
			continue;
		}
		/* What is left goes in front: it is not met again. */
		if (l->first < first)
			add(st, l->write, l->first, first - 1);
		if (l->last > last)
			add(st, l->write, last + 1, l->last);
		while (*at != l)
			at = &(*at)->next;
		drop_at(at);
	}
}

/* A client that is late loses its locks here, at the latest. */
static struct lock *conflict(const struct node *n, const struct client *cl,
	const struct owner *o, bool write, uint64_t first, uint64_t last)
{
	struct lock *l;

again:
	for (l = locks; l; l = l->next) {
		struct owner *other = l->state->owner;

		if (l->state->node != n || other == o || l->last < first ||
			l->first > last || !(write || l->write))
			continue;
		if (other->client == cl || !client_overdue(other->client))
			return l;
		client_expire(other->client);
		goto again;
	}
	return NULL;
}

static uint32_t put_conflict(struct call *c, const struct lock *l)
{
	put_u64(&c->out, l->first);
	put_u64(&c->out,
		l->last == UINT64_MAX ? UINT64_MAX : l->last - l->first + 1);
	put_u32(&c->out, l->write ? 2 : 1);
	put_u64(&c->out, l->state->owner->client->clientid);
	put_opaque(&c->out, l->state->owner->name, l->state->owner->name_len);
	c->keep_body = true;
	return ST_DENIED;
}

/* type, offset, length: READ_LT 1, WRITE_LT 2, READW_LT 3, WRITEW_LT 4 */
struct range {
	uint32_t type;
	bool write;
	uint64_t offset, length, last;
};

static uint32_t check_range(struct call *c, struct range *r)
{
	call_log(c, " offset=%lu length=%lu", r->offset, r->length);
	if (c->args.bad || r->type < 1 || r->type > 4)
		return ST_BADXDR;
	r->write = r->type == 2 || r->type == 4;
	r->last = UINT64_MAX;
	if (r->length == UINT64_MAX)
		return ST_OK;
	if (!r->length || r->length - 1 > UINT64_MAX - r->offset)
		return ST_INVAL;
	r->last = r->offset + r->length - 1;
	return ST_OK;
}

struct lock_args {
	struct range range;
	bool reclaim, fresh;
	uint32_t seqid, lock_seqid; /* of the open owner, of the lock owner */
	struct stateid stateid;	    /* open or lock */
	uint64_t clientid;
	const uint8_t *owner;
	uint32_t owner_len;
};

static void decode(struct xdr *x, struct lock_args *a)
{
	*a = (struct lock_args){0};
	a->range.type = get_u32(x);
	a->reclaim = get_u32(x);
	a->range.offset = get_u64(x);
	a->range.length = get_u64(x);
	a->fresh = get_u32(x);
	if (a->fresh) {
		a->seqid = get_u32(x);
		get_stateid(x, &a->stateid);
		a->lock_seqid = get_u32(x);
		a->clientid = get_u64(x);
		a->owner = get_opaque(x, &a->owner_len, 1024);
	} else {
		get_stateid(x, &a->stateid);
		a->lock_seqid = get_u32(x);
	}
}

/* The first lock of an owner. The lock owner, and with it lock_seqid, counts
 * only once a lock was granted. */
static uint32_t first_lock(struct call *c, const struct lock_args *a,
	struct state *open, struct state **out)
{
	struct client *cl = open->owner->client;
	struct owner *o = owner_find(cl, true, a->owner, a->owner_len);
	struct lock *l;

	if (a->clientid != cl->clientid)
		return ST_INVAL;
	if (a->range.write && !(open->access & 2))
		return ST_OPENMODE;
	*out = o ? state_of(o, c->cfh) : NULL;
	if (o && a->lock_seqid != o->seqid + 1)
		return ST_BAD_SEQID;
	l = conflict(
		c->cfh, cl, o, a->range.write, a->range.offset, a->range.last);
	if (l)
		return put_conflict(c, l);
	if (!o)
		o = owner_make(cl, true, a->owner, a->owner_len);
	o->seqid = a->lock_seqid;
	if (!*out)
		*out = state_make(o, c->cfh, open);
	return ST_OK;
}

static uint32_t further_lock(
	struct call *c, const struct lock_args *a, struct state *st)
{
	struct owner *o = st->owner;
	struct lock *l;

	if (a->range.write && !(st->open->access & 2))
		return ST_OPENMODE;
	l = conflict(c->cfh, o->client, o, a->range.write, a->range.offset,
		a->range.last);
	return l ? put_conflict(c, l) : ST_OK;
}

uint32_t v4_lock(struct call *c)
{
	struct lock_args a;
	struct state *st;
	uint32_t status, bad;

	decode(&c->args, &a);
	call_log(c, " %s seqid=%u", a.fresh ? "new" : "old",
		a.fresh ? a.seqid : a.lock_seqid);
	bad = check_range(c, &a.range);
	if (bad == ST_BADXDR)
		return bad;
	status = state_sequenced(
		c, &a.stateid, a.fresh ? a.seqid : a.lock_seqid, !a.fresh, &st);
	if (status || c->replay || v4_forced(c, &status))
		return status;
	if (bad)
		return bad;
	if (state_in_grace() != a.reclaim)
		return a.reclaim ? ST_NO_GRACE : ST_GRACE;
	status = a.fresh ? first_lock(c, &a, st, &st) : further_lock(c, &a, st);
	if (status)
		return status;
	cut(st, a.range.offset, a.range.last);
	add(st, a.range.write, a.range.offset, a.range.last);
	st->seqid++;
	put_stateid(&c->out, st);
	return ST_OK;
}

uint32_t v4_locku(struct call *c)
{
	struct range r = {.type = get_u32(&c->args)};
	uint32_t seqid = get_u32(&c->args), status, bad;
	struct stateid s;
	struct state *st;

	get_stateid(&c->args, &s);
	r.offset = get_u64(&c->args);
	r.length = get_u64(&c->args);
	call_log(c, " seqid=%u", seqid);
	bad = check_range(c, &r);
	if (bad == ST_BADXDR)
		return bad;
	status = state_sequenced(c, &s, seqid, true, &st);
	if (status || c->replay || v4_forced(c, &status))
		return status;
	if (bad)
		return bad;
	cut(st, r.offset, r.last);
	st->seqid++;
	put_stateid(&c->out, st);
	return ST_OK;
}

uint32_t v4_lockt(struct call *c)
{
	struct range r = {.type = get_u32(&c->args)};
	struct client *cl;
	const uint8_t *owner;
	uint64_t clientid;
	uint32_t len, status;
	struct lock *l;

	r.offset = get_u64(&c->args);
	r.length = get_u64(&c->args);
	clientid = get_u64(&c->args);
	owner = get_opaque(&c->args, &len, 1024);
	status = check_range(c, &r);
	if (!status)
		status = client_find(clientid, &cl);
	if (!status && state_in_grace())
		status = ST_GRACE;
	if (status)
		return status;
	l = conflict(c->cfh, cl, owner_find(cl, true, owner, len), r.write,
		r.offset, r.last);
	return l ? put_conflict(c, l) : ST_OK;
}

uint32_t v4_release_lockowner(struct call *c)
{
	uint64_t clientid = get_u64(&c->args);
	struct client *cl;
	struct owner *o;
	struct lock *l;
	uint32_t len, status;
	const uint8_t *name = get_opaque(&c->args, &len, 1024);

	if (c->args.bad)
		return ST_BADXDR;
	status = client_find(clientid, &cl);
	o = status ? NULL : owner_find(cl, true, name, len);
	if (!o)
		return status;
	for (l = locks; l; l = l->next)
		if (l->state->owner == o)
			return ST_LOCKS_HELD;
	owner_drop(o);
	return ST_OK;
}
