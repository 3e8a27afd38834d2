/* Owners, seqids and stateids (RFC 7530 sections 9.1.4 to 9.1.8). */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "v4state.h"

static struct owner *owners;
static struct state *states;
static uint64_t last_id;

struct owner *owner_find(
	struct client *cl, bool lock, const void *name, uint32_t len)
{
	struct owner *o;

	for (o = owners; o; o = o->next)
		if (o->client == cl && o->lock == lock && o->name_len == len &&
			!memcmp(o->name, name, len))
			break;
	return o;
}

struct owner *owner_make(
	struct client *cl, bool lock, const void *name, uint32_t len)
{
	struct owner *o = calloc(1, sizeof(*o));

	if (o)
		o->name = malloc(len + 1);
	if (!o || !o->name)
		err(1, "owner");
	memcpy(o->name, name, len);
	o->name_len = len;
	o->client = cl;
	o->lock = lock;
	o->next = owners;
	owners = o;
	return o;
}

static void drop_state(struct state *st)
{
	struct state **at = &states;

	locks_drop(st);
	while (*at != st)
		at = &(*at)->next;
	*at = st->next;
	free(st);
}

void states_drop_owner(struct owner *o)
{
	struct state *st, *next;

	/* Lock states of these opens are other owners'. */
	for (st = states; st; st = next) {
		next = st->next;
		if (st->owner == o && !o->lock && !st->closed) {
			state_close(st);
			next = states;
		}
	}
	for (st = states; st; st = next) {
		next = st->next;
		if (st->owner == o)
			drop_state(st);
	}
}

void owner_drop(struct owner *o)
{
	struct owner **at = &owners;

	states_drop_owner(o);
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	buf_free(&o->reply);
	free(o->name);
	free(o);
}

void owners_drop(struct client *cl)
{
	struct owner *o, *next;

	for (o = owners; o; o = next) {
		next = o->next;
		if (o->client == cl)
			owner_drop(o);
	}
}

uint32_t owner_sequence(struct call *c, struct owner *o, uint32_t seqid)
{
	if (seqid == o->seqid && o->reply_op == c->op) {
		c->replay = o;
		return ST_OK;
	}
	if (seqid != o->seqid + 1)
		return ST_BAD_SEQID;
	c->sequenced = o;
	c->seqid = seqid;
	return ST_OK;
}

/* Section 9.1.7: these leave the seqid as it is. */
static bool keeps_seqid(uint32_t status)
{
	return status == ST_STALE_CLIENTID || status == ST_STALE_STATEID ||
	       status == ST_BAD_STATEID || status == ST_BAD_SEQID ||
	       status == ST_BADXDR || status == ST_RESOURCE ||
	       status == ST_NOFILEHANDLE || status == 10019 /* MOVED */;
}

void owner_done(struct call *c, uint32_t status, const void *reply, size_t len)
{
	struct owner *o = c->sequenced;

	c->sequenced = NULL;
	if (!o || keeps_seqid(status))
		return;
	o->seqid = c->seqid;
	o->reply_op = c->op;
	o->reply.len = 0;
	buf_add(&o->reply, reply, len);
	o->reply_fh = c->cfh;
}

void get_stateid(struct xdr *x, struct stateid *s)
{
	s->seqid = get_u32(x);
	s->boot = get_u32(x);
	s->id = get_u64(x);
}

void put_stateid(struct buf *b, const struct state *st)
{
	put_u32(b, st->seqid);
	put_u32(b, state_boot());
	put_u64(b, st->id);
}

bool stateid_is_special(const struct stateid *s)
{
	return (!s->seqid && !s->boot && !s->id) ||
	       (s->seqid == UINT32_MAX && s->boot == UINT32_MAX &&
		       s->id == UINT64_MAX);
}

struct state *state_make(struct owner *o, struct node *n, struct state *open)
{
	struct state *st, *next;

	/* One closed state per owner is enough for the replay. */
	for (st = states; st; st = next) {
		next = st->next;
		if (st->owner == o && st->closed)
			drop_state(st);
	}
	st = calloc(1, sizeof(*st));
	if (!st)
		err(1, "state");
	st->owner = o;
	st->node = n;
	st->open = open;
	st->id = ++last_id;
	st->next = states;
	states = st;
	return st;
}

struct state *state_of(const struct owner *o, const struct node *n)
{
	struct state *st;

	for (st = states; st; st = st->next)
		if (st->owner == o && st->node == n && !st->closed)
			break;
	return st;
}

void state_close(struct state *open)
{
	struct state *st, *next;

	for (st = states; st; st = next) {
		next = st->next;
		if (st->open == open)
			drop_state(st);
	}
	open->closed = true;
}

bool state_share_conflict(const struct node *n, const struct owner *o,
	uint32_t access, uint32_t deny)
{
	struct state *st;

	for (st = states; st; st = st->next)
		if (st->node == n && !st->open && !st->closed &&
			st->owner != o && !st->owner->client->expired &&
			(st->deny & access || st->access & deny))
			return true;
	return false;
}

/* Without a look at its seqid. */
static uint32_t find(
	struct call *c, const struct stateid *s, struct state **out)
{
	struct state *st;

	*out = NULL;
	if (stateid_is_special(s))
		return ST_BAD_STATEID;
	if (s->boot != state_boot())
		return ST_STALE_STATEID;
	for (st = states; st && st->id != s->id; st = st->next)
		;
	if (!st || st->node != c->cfh)
		return ST_BAD_STATEID;
	*out = st;
	return client_alive(st->owner->client);
}

static uint32_t check_generation(
	const struct stateid *s, const struct state *st)
{
	if (s->seqid == st->seqid)
		return ST_OK;
	return (int32_t)(s->seqid - st->seqid) < 0 ? ST_OLD_STATEID
						   : ST_BAD_STATEID;
}

uint32_t state_check(
	struct call *c, const struct stateid *s, struct state **out)
{
	uint32_t status = find(c, s, out);
	struct state *open;

	if (status)
		return status;
	open = (*out)->open ? (*out)->open : *out;
	if ((*out)->closed || !open->owner->confirmed)
		return ST_BAD_STATEID;
	return check_generation(s, *out);
}

/*
 * Servers differ in what they look at first, and a client sees it when it
 * sends a compound again: knfsd says BAD_SEQID where nfs-ganesha says
 * OLD_STATEID. Both answer the last request of an owner from their cache.
 */
uint32_t state_sequenced(struct call *c, const struct stateid *s,
	uint32_t seqid, bool lock, struct state **out)
{
	uint32_t generation, status = find(c, s, out);
	struct state *st = *out;
	struct owner *o;

	if (status)
		return status;
	o = st->owner;
	if (o->lock != lock)
		return ST_BAD_STATEID;
	generation = st->closed ? ST_BAD_STATEID : check_generation(s, st);
	if (!lock && !o->confirmed && c->op != OP_OPEN_CONFIRM)
		return ST_BAD_STATEID;
	if (!options.seqid_first && generation &&
		!(seqid == o->seqid && o->reply_op == c->op &&
			(s->seqid + 1 == st->seqid || st->closed)))
		return generation;
	status = owner_sequence(c, o, seqid);
	if (status || c->replay)
		return status;
	if (generation)
		c->sequenced = NULL;
	return generation;
}
