/* The bytes of a reply, and what the rules do to them. */
#include <stdlib.h>
#include <string.h>

#include "server.h"
#include "when.h"

static void add_random(struct buf *b, uint64_t bytes)
{
	while (bytes) {
		uint64_t r = when_random();
		size_t some = bytes < 8 ? bytes : 8;

		buf_add(b, &r, some);
		bytes -= some;
	}
}

/* Record marking: one fragment, or as many as the rule wants. */
static void add_record(
	struct buf *wire, const struct buf *reply, const struct fault *f)
{
	size_t at = 0, most = reply->len;

	if (f->of[F_MARK].set) {
		put_u32(wire, f->of[F_MARK].v);
		buf_add(wire, reply->v, reply->len);
		return;
	}
	if (f->of[F_FRAGMENT].set && f->of[F_FRAGMENT].v)
		most = f->of[F_FRAGMENT].v;
	do {
		size_t some = reply->len - at < most ? reply->len - at : most;
		bool last = at + some == reply->len;

		put_u32(wire, some | (last ? 0x80000000 : 0));
		buf_add(wire, reply->v + at, some);
		at += some;
	} while (at < reply->len);
}

static void spoil(struct call *c)
{
	struct fault *f = &c->fault;
	size_t at = c->body + f->of[F_WORD_AT].v;

	if (f->of[F_WRONG_XID].set)
		set_u32(&c->out, 0, c->xid ^ 0x5a5a5a5a);
	if (f->of[F_GARBAGE_BODY].set) {
		c->out.len = c->body;
		add_random(&c->out, f->of[F_GARBAGE_BODY].v);
	}
	if (f->of[F_WORD].set && f->of[F_WORD_AT].v <= c->out.len &&
		at + 4 <= c->out.len)
		set_u32(&c->out, at, f->of[F_WORD].v);
	if (f->of[F_TRUNCATE_XDR].set)
		c->out.len -= f->of[F_TRUNCATE_XDR].v < c->out.len
				      ? f->of[F_TRUNCATE_XDR].v
				      : c->out.len;
	if (f->of[F_OVERSIZE_XDR].set)
		add_random(&c->out, f->of[F_OVERSIZE_XDR].v);
}

void reply_send(struct call *c)
{
	struct fault *f = &c->fault;
	struct buf wire = {0};

	if (f->of[F_CUT].set && f->of[F_CUT].v == CUT_AFTER) {
		conn_finish(c->conn);
		return;
	}
	if (f->of[F_DROP].set)
		return;
	spoil(c);
	if (f->of[F_GARBAGE].set)
		add_random(&wire, f->of[F_GARBAGE].v);
	else
		add_record(&wire, &c->out, f);
	if (f->of[F_DUPLICATE].set) {
		struct buf once = wire;

		wire = (struct buf){0};
		buf_add(&wire, once.v, once.len);
		buf_add(&wire, once.v, once.len);
		buf_free(&once);
	}
	if (f->of[F_CUT].set) {
		conn_send(c->conn, wire.v, wire.len / 2);
		conn_finish(c->conn);
	} else {
		conn_send(c->conn, wire.v, wire.len);
	}
	buf_free(&wire);
}
