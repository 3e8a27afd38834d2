/* NFS version 4.0: the COMPOUND procedure (RFC 7530 section 15.2). */
#include "v4.h"
#include "v4state.h"

static const struct {
	v4_fn *run;
	bool fh;	/* wants a current file handle */
	bool sequenced; /* forces its status itself, see v4_forced */
} ops[OP_LIMIT] = {
	[OP_ACCESS] = {v4_access, true, false},
	[OP_CLOSE] = {v4_close, true, true},
	[OP_COMMIT] = {v4_commit, true, false},
	[OP_CREATE] = {v4_create, true, false},
	[OP_GETATTR] = {v4_getattr, true, false},
	[OP_GETFH] = {v4_getfh, true, false},
	[OP_LOCK] = {v4_lock, true, true},
	[OP_LOCKT] = {v4_lockt, true, false},
	[OP_LOCKU] = {v4_locku, true, true},
	[OP_LOOKUP] = {v4_lookup, true, false},
	[OP_LOOKUPP] = {v4_lookupp, true, false},
	[OP_NVERIFY] = {v4_nverify, true, false},
	[OP_OPEN] = {v4_open, true, true},
	[OP_OPEN_CONFIRM] = {v4_open_confirm, true, true},
	[OP_OPEN_DOWNGRADE] = {v4_open_downgrade, true, true},
	[OP_PUTFH] = {v4_putfh, false, false},
	[OP_PUTPUBFH] = {v4_putrootfh, false, false},
	[OP_PUTROOTFH] = {v4_putrootfh, false, false},
	[OP_READ] = {v4_read, true, false},
	[OP_READDIR] = {v4_readdir, true, false},
	[OP_READLINK] = {v4_readlink, true, false},
	[OP_REMOVE] = {v4_remove, true, false},
	[OP_RENAME] = {v4_rename, true, false},
	[OP_RENEW] = {v4_renew, false, false},
	[OP_RESTOREFH] = {v4_restorefh, false, false},
	[OP_SAVEFH] = {v4_savefh, true, false},
	[OP_SETATTR] = {v4_setattr, true, false},
	[OP_SETCLIENTID] = {v4_setclientid, false, false},
	[OP_SETCLIENTID_CONFIRM] = {v4_setclientid_confirm, false, false},
	[OP_VERIFY] = {v4_verify, true, false},
	[OP_WRITE] = {v4_write, true, false},
	[OP_RELEASE_LOCKOWNER] = {v4_release_lockowner, false, false},
};

/* What an operation's rule says about the reply is about the whole reply. */
static void to_whole_call(struct call *c, const struct fault *from)
{
	static const enum verb whole[] = {F_DROP, F_CUT, F_HOLD, F_LATE,
		F_TRUNCATE_XDR, F_OVERSIZE_XDR, F_WORD_AT, F_WORD, F_GARBAGE,
		F_GARBAGE_BODY, F_WRONG_XID, F_DUPLICATE, F_MARK, F_FRAGMENT};
	struct fault some = {.n_rules = from->n_rules};
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		some.of[whole[i]] = from->of[whole[i]];
	for (i = 0; i < (size_t)from->n_rules; i++)
		some.rules[i] = from->rules[i];
	fault_merge(&c->fault, &some);
}

/* What a rule of the compound says about the results of each operation. */
static void from_whole_call(struct call *c)
{
	static const enum verb each[] = {F_SHORT, F_NOT_STORED, F_COMMITTED,
		F_NO_ATTRIBUTES, F_SIZE, F_COUNT};
	size_t i;

	c->op_fault = (struct fault){0};
	for (i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		c->op_fault.of[each[i]] = c->fault.of[each[i]];
}

/* Asks the rules about the operation, once. */
static void match(struct call *c)
{
	struct event e = {.level = LEVEL_OP, .number = c->op};

	if (c->op_matched)
		return;
	c->op_matched = true;
	from_whole_call(c);
	if (c->cfh)
		e.file = store_name(c->cfh);
	rules_match(&e, &c->op_fault);
}

bool v4_forced(struct call *c, uint32_t *status)
{
	if (!faulty(c, F_REPLY) || faulty(c, F_EXECUTED))
		return false;
	*status = fault_value(c, F_REPLY);
	return true;
}

/* LOCK4denied with the range of the rule, or of everything. */
static void put_denied(struct call *c)
{
	put_u64(&c->out, fault_value(c, F_RANGE_OFFSET));
	put_u64(&c->out, faulty(c, F_RANGE_LENGTH)
				 ? fault_value(c, F_RANGE_LENGTH)
				 : UINT64_MAX);
	put_u32(&c->out, 2); /* WRITE_LT */
	put_u64(&c->out, 0);
	put_string(&c->out, "somebody else");
}

static uint32_t answer(struct call *c)
{
	uint32_t status;

	if (c->op >= OP_LIMIT || !ops[c->op].run)
		return v4_name(c->op) ? ST_NOTSUPP : ST_OP_ILLEGAL;
	if (ops[c->op].fh && !c->cfh)
		return ST_NOFILEHANDLE;
	if (!ops[c->op].sequenced && v4_forced(c, &status))
		return status;
	if (faulty(c, F_VERIFIER))
		verifier_change();
	call_others(c, c->cfh);
	status = ops[c->op].run(c);
	return c->args.bad ? ST_BADXDR : status;
}

/* The status, and what a failure leaves of the body. */
static void close_result(struct call *c, size_t at, uint32_t status)
{
	set_u32(&c->out, at, status);
	if (!status || c->keep_body)
		return;
	c->out.len = at + 4;
	if (c->op == OP_SETATTR)
		put_u32(&c->out, 0); /* attrsset: none */
	else if (status == ST_DENIED && (c->op == OP_LOCK || c->op == OP_LOCKT))
		put_denied(c);
}

static uint32_t run_op(struct call *c)
{
	size_t at = c->out.len + 4;
	const char *name = v4_name(c->op);
	uint32_t status;

	put_u32(&c->out, name ? c->op : OP_ILLEGAL);
	put_u32(&c->out, 0);
	call_log(c, " %s", name ? name : "ILLEGAL");
	c->keep_body = false;
	c->sequenced = c->replay = NULL;
	status = answer(c);
	if (c->replay) {
		struct xdr x = {c->replay->reply.v, c->replay->reply.len, 0};

		status = get_u32(&x);
		c->out.len = at;
		buf_add(&c->out, c->replay->reply.v, c->replay->reply.len);
		c->cfh = c->replay->reply_fh;
		call_log(c, " replayed");
	} else {
		close_result(c, at, status);
		owner_done(c, status, c->out.v + at, c->out.len - at);
	}
	if (faulty(c, F_REPLY) && faulty(c, F_EXECUTED)) {
		status = fault_value(c, F_REPLY);
		c->keep_body = false;
		close_result(c, at, status);
	}
	call_log(c, " %s;", status_name(status));
	return status;
}

/* True when the operation is not executed, nor what follows it. */
static bool stops(struct call *c)
{
	struct fault *f = &c->op_fault;

	if (f->of[F_CUT].set && f->of[F_CUT].v == CUT_BEFORE)
		c->close = true;
	else if (f->of[F_IGNORE].set)
		f->of[F_DROP].set = true;
	else
		return false;
	return true;
}

static uint32_t begin(struct call *c)
{
	uint32_t len, minor;
	const uint8_t *tag = get_opaque(&c->args, &len, 1024);

	minor = get_u32(&c->args);
	c->n_ops = get_u32(&c->args);
	if (c->args.bad)
		return RPC_GARBAGE_ARGS;
	put_u32(&c->out, 0);
	put_opaque(&c->out, tag, len);
	c->count_at = c->out.len;
	put_u32(&c->out, 0);
	if (faulty(c, F_VERIFIER))
		verifier_change();
	if (faulty(c, F_REPLY))
		set_u32(&c->out, c->body, fault_value(c, F_REPLY));
	else if (minor)
		set_u32(&c->out, c->body, ST_MINOR_VERS_MISMATCH);
	else if (c->n_ops > V4_MAX_OPS)
		set_u32(&c->out, c->body, ST_RESOURCE);
	else
		return RPC_SUCCESS;
	c->n_ops = 0;
	return RPC_SUCCESS;
}

uint32_t v4_run(struct call *c)
{
	uint32_t status = ST_OK;

	if (!c->proc)
		return RPC_SUCCESS;
	if (c->proc != 1)
		return RPC_PROC_UNAVAIL;
	if (!c->count_at && begin(c))
		return RPC_GARBAGE_ARGS;
	while (!status && c->done_ops < c->n_ops) {
		if (!c->op_matched) {
			c->op = get_u32(&c->args);
			if (c->args.bad)
				return RPC_GARBAGE_ARGS;
		}
		match(c);
		if (call_suspend(c, &c->op_fault))
			return RUN_SUSPENDED;
		c->op_matched = false;
		c->now = &c->op_fault;
		if (faulty(c, F_RPC))
			return fault_value(c, F_RPC);
		if (stops(c)) {
			to_whole_call(c, &c->op_fault);
			break;
		}
		to_whole_call(c, &c->op_fault);
		status = run_op(c);
		set_u32(&c->out, c->count_at, ++c->done_ops);
		set_u32(&c->out, c->body, status);
	}
	return RPC_SUCCESS;
}
