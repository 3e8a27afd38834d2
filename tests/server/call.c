/* One RPC call, from its record to its reply (RFC 5531). */
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "server.h"

static struct call *calls; /* those that wait: delayed, held, late */
static uint64_t seen;
static int64_t started;

static void line(const char *prefix, const char *text)
{
	if (!options.log)
		return;
	if (!started)
		started = now_us();
	fprintf(options.log, "%s%.6f %s\n", prefix, (now_us() - started) / 1e6,
		text);
	/* At once: a test that got its reply finds the line. */
	fflush(options.log);
}

void call_note(const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	line("# ", text);
}

void call_log(struct call *c, const char *format, ...)
{
	size_t room = sizeof(c->log) - c->log_len;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(c->log + c->log_len, room, format, ap);
	va_end(ap);
	c->log_len += n < (int)room ? n : (int)room - 1;
}

static const char *proc_name(const struct call *c)
{
	const char *name;

	if (c->prog == PROG_MOUNT)
		name = mount_name(c->proc);
	else
		name = v3_name(c->proc);
	return name ? name : "?";
}

static void forget(struct call *c)
{
	struct call **at = &calls;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	buf_free(&c->out);
	free(c->record);
	free(c);
}

void call_conn_gone(struct conn *conn)
{
	struct call *c;

	for (c = calls; c; c = c->next)
		if (c->conn == conn)
			c->conn = NULL;
}

static void put_header(struct call *c, uint32_t accept)
{
	c->out.len = 0;
	put_u32(&c->out, c->xid);
	put_u32(&c->out, 1); /* REPLY */
	if (accept == RPC_MISMATCH || accept == RPC_AUTH_ERROR) {
		put_u32(&c->out, 1); /* MSG_DENIED */
		put_u32(&c->out, accept == RPC_AUTH_ERROR);
		put_u32(&c->out, accept == RPC_AUTH_ERROR ? 1 : 2);
		if (accept == RPC_MISMATCH)
			put_u32(&c->out, 2);
	} else {
		put_u32(&c->out, 0); /* MSG_ACCEPTED */
		put_u64(&c->out, 0); /* AUTH_NONE */
		put_u32(&c->out, accept);
		if (accept == RPC_PROG_MISMATCH) {
			put_u32(&c->out, options.v3 ? 3 : 4);
			put_u32(&c->out, options.v4 ? 4 : 3);
		}
	}
	c->body = c->out.len;
}

static void proceed(void *arg);

/* True when the call must wait for a timer or for "release". */
bool call_suspend(struct call *c, struct fault *f)
{
	bool hold = f->of[F_HOLD].set && f->of[F_HOLD].v == HOLD_BEFORE;
	uint64_t ms = f->of[F_DELAY].set ? f->of[F_DELAY].v : 0;

	if (hold) {
		f->of[F_HOLD].set = false;
		c->held = true;
		call_note("held #%lu %s before execution", c->number, c->log);
		return true;
	}
	f->of[F_DELAY].set = false;
	if (ms)
		c->timer = timer_add(ms, proceed, c);
	return ms;
}

static void log_outcome(struct call *c, const char *outcome)
{
	char head[64];
	int i;

	if (!options.log)
		return;
	call_log(c, " %s", outcome);
	for (i = 0; i < c->fault.n_rules; i++)
		call_log(c, " rule=%u", c->fault.rules[i]);
	snprintf(head, sizeof(head), "#%lu ", c->number);
	line(head, c->log);
}

static const char *outcome(struct call *c)
{
	struct fault *f = &c->fault;

	if (f->of[F_DROP].set)
		return "dropped";
	if (f->of[F_CUT].set)
		return f->of[F_CUT].v == CUT_REPLY ? "cut-middle-of-reply"
						   : "cut-after-execute";
	if (!c->conn)
		return "connection-gone";
	if (f->of[F_HOLD].set)
		return "held";
	return f->of[F_LATE].set ? "late" : "sent";
}

static uint32_t run(struct call *c)
{
	uint32_t accept;

	if (c->fault.of[F_RPC].set)
		return c->fault.of[F_RPC].v;
	store_become(&c->cred);
	if (c->prog == PROG_MOUNT)
		accept = mount_run(c);
	else if (c->vers == 4)
		accept = v4_run(c);
	else
		accept = v3_run(c);
	store_become_self();
	return accept;
}

static void finish(struct call *c)
{
	struct fault *f = &c->fault;

	if (c->close) {
		log_outcome(c, "cut-before");
		if (c->conn)
			conn_finish(c->conn);
		forget(c);
		return;
	}
	if (c->stage == CALL_RAN) {
		c->stage = CALL_SEND;
		log_outcome(c, outcome(c));
		if (f->of[F_HOLD].set && !f->of[F_DROP].set) {
			c->held = true;
			return;
		}
		if (f->of[F_LATE].set) {
			c->timer = timer_add(f->of[F_LATE].v, proceed, c);
			return;
		}
	}
	if (c->conn)
		reply_send(c);
	forget(c);
}

/* From stage to stage, as far as it goes now. Frees the call at its end. */
static void proceed(void *arg)
{
	struct call *c = arg;
	uint32_t accept;

	c->timer = NULL;
	if (c->stage == CALL_ARRIVED) {
		if (call_suspend(c, &c->fault))
			return;
		if (c->fault.of[F_IGNORE].set) {
			log_outcome(c, "ignored");
			forget(c);
			return;
		}
		c->close = c->fault.of[F_CUT].set &&
			   c->fault.of[F_CUT].v == CUT_BEFORE;
		if (c->close) {
			finish(c);
			return;
		}
		put_header(c, RPC_SUCCESS);
		c->stage = CALL_RUN;
	}
	if (c->stage == CALL_RUN) {
		accept = run(c);
		if (accept == RUN_SUSPENDED)
			return;
		if (accept) {
			call_log(c, " rpc-error %u", accept);
			put_header(c, accept);
		}
		c->stage = CALL_RAN;
	}
	finish(c);
}

int calls_held(void)
{
	struct call *c;
	int n = 0;

	for (c = calls; c; c = c->next)
		n += c->held;
	return n;
}

int calls_release(void)
{
	struct call *c;
	int n = 0;

	/* In order of arrival, and from the start again: proceed may free. */
	for (c = calls; c; c = c->next)
		if (c->held)
			n++;
	for (int i = 0; i < n; i++) {
		for (c = calls; c && !c->held; c = c->next)
			;
		if (!c)
			break;
		c->held = false;
		proceed(c);
	}
	return n;
}

void calls_forget(void)
{
	while (calls) {
		if (calls->timer)
			timer_del(calls->timer);
		forget(calls);
	}
}

uint64_t calls_seen(void)
{
	return seen;
}

void call_others(struct call *c, struct node *n)
{
	if (!n)
		return;
	store_become_self();
	if (faulty(c, F_APPEND_OTHER))
		store_append_other(n, fault_value(c, F_APPEND_OTHER));
	if (faulty(c, F_TRUNCATE_OTHER))
		store_truncate_other(n, fault_value(c, F_TRUNCATE_OTHER));
	if (faulty(c, F_REMOVE_OTHER))
		store_remove_other(n);
	store_become(&c->cred);
}

static void get_cred(struct xdr *x, struct cred *cred)
{
	uint32_t i, len, flavor = get_u32(x);
	const uint8_t *p = get_opaque(x, &len, 400);
	struct xdr a = {p, len, !p};
	char host[256];

	*cred = (struct cred){.uid = 65534, .gid = 65534};
	if (flavor != 1)
		return;
	get_u32(&a);
	get_string(&a, host, sizeof(host));
	cred->uid = get_u32(&a);
	cred->gid = get_u32(&a);
	cred->n_groups = get_u32(&a);
	if (cred->n_groups > 16)
		cred->n_groups = 0;
	for (i = 0; i < cred->n_groups; i++)
		cred->groups[i] = get_u32(&a);
}

/* The header of a call; an enum rpc_fault when it cannot be served. */
static uint32_t decode(struct call *c, struct event *e)
{
	struct xdr *x = &c->args;
	uint32_t type, rpcvers, len;

	c->xid = get_u32(x);
	type = get_u32(x);
	rpcvers = get_u32(x);
	c->prog = get_u32(x);
	c->vers = get_u32(x);
	c->proc = get_u32(x);
	get_cred(x, &c->cred);
	get_u32(x); /* verifier */
	get_opaque(x, &len, 400);
	e->number = c->proc;
	if (x->bad || type)
		return RPC_GARBAGE_ARGS;
	if (rpcvers != 2)
		return RPC_MISMATCH;
	if (c->prog == PROG_MOUNT) {
		e->level = LEVEL_MOUNT;
		return c->vers == 3 ? RPC_SUCCESS : RPC_PROG_MISMATCH;
	}
	if (c->prog != PROG_NFS)
		return RPC_PROG_UNAVAIL;
	e->level = c->vers == 3 ? LEVEL_V3 : LEVEL_V4;
	if (!(c->vers == 3 && options.v3) && !(c->vers == 4 && options.v4))
		return RPC_PROG_MISMATCH;
	if (c->vers == 3) {
		struct xdr peek = *x;
		const uint8_t *fh = c->proc ? get_opaque(&peek, &len, 64) : 0;

		if (fh && !store_by_handle(fh, len, &c->node))
			e->file = store_name(c->node);
	} else if (c->proc == 1) {
		e->ops = v4_scan(*x);
	}
	return RPC_SUCCESS;
}

bool call_partial(const uint8_t *data, size_t len)
{
	struct call c = {.args = {data, len, false}};
	struct event e = {.partial = true};
	struct fault f = {0};

	if (decode(&c, &e) == RPC_SUCCESS)
		rules_match(&e, &f);
	return f.of[F_CUT].set;
}

void call_arrived(struct conn *conn, uint8_t *record, size_t len)
{
	struct call **at = &calls, *c = calloc(1, sizeof(*c));
	struct event e = {0};
	uint32_t bad;

	if (!c)
		err(1, "call");
	c->conn = conn;
	c->number = ++seen;
	c->record = record;
	c->args = (struct xdr){record, len, false};
	while (*at)
		at = &(*at)->next;
	*at = c;
	bad = decode(c, &e);
	call_log(c, "conn=%u xid=%08x ", conn_id(conn), c->xid);
	if (bad) {
		call_log(c, "prog=%u proc=%u rpc-error %u", c->prog, c->proc,
			bad);
		put_header(c, bad);
		c->stage = CALL_RAN;
		finish(c);
		return;
	}
	call_log(c, "%s %s",
		e.level == LEVEL_MOUNT ? "mount"
		: e.level == LEVEL_V3  ? "v3"
				       : "v4",
		e.level == LEVEL_V4 ? c->proc ? "COMPOUND" : "NULL"
				    : proc_name(c));
	rules_match(&e, &c->fault);
	c->now = &c->fault;
	proceed(c);
}
