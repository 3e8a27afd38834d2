/*
 * Which operations a compound holds, before anything of it runs, out of as
 * much of the request as has come (RFC 7530 section 16).
 */
#include "v4.h"

static void opaque(struct xdr *x)
{
	uint32_t len;

	get_opaque(x, &len, UINT32_MAX);
}

static void fattr(struct xdr *x)
{
	struct mask m;

	get_mask(x, &m);
	opaque(x);
}

static void owner(struct xdr *x)
{
	get_u64(x);
	opaque(x);
}

static void open_args(struct xdr *x)
{
	uint32_t how;

	get_fixed(x, 12); /* seqid, access, deny */
	owner(x);
	if (get_u32(x) == 1) { /* OPEN4_CREATE */
		how = get_u32(x);
		if (how == HOW_EXCLUSIVE)
			get_u64(x);
		else
			fattr(x);
	}
	switch (get_u32(x)) {
	case 0: /* CLAIM_NULL */
	case 3: /* CLAIM_DELEGATE_PREV */
		opaque(x);
		break;
	case 1: /* CLAIM_PREVIOUS */
		get_u32(x);
		break;
	case 2: /* CLAIM_DELEGATE_CUR */
		get_fixed(x, 16);
		opaque(x);
		break;
	default:
		x->bad = true;
	}
}

static void lock_args(struct xdr *x)
{
	get_fixed(x, 24); /* type, reclaim, offset, length */
	if (get_u32(x)) {
		get_fixed(x, 24); /* open_seqid, open_stateid, lock_seqid */
		owner(x);
	} else {
		get_fixed(x, 20); /* lock_stateid, lock_seqid */
	}
}

static void create_args(struct xdr *x)
{
	uint32_t type = get_u32(x);

	if (type == 5) /* NF4LNK */
		opaque(x);
	else if (type == 3 || type == 4) /* NF4BLK, NF4CHR */
		get_u64(x);
	opaque(x);
	fattr(x);
}

static void skip(struct xdr *x, uint32_t op)
{
	struct mask m;

	switch (op) {
	case OP_GETFH:
	case OP_LOOKUPP:
	case OP_PUTPUBFH:
	case OP_PUTROOTFH:
	case OP_READLINK:
	case OP_RESTOREFH:
	case OP_SAVEFH:
		break;
	case OP_ACCESS:
	case OP_OPENATTR:
		get_u32(x);
		break;
	case OP_DELEGPURGE:
	case OP_RENEW:
		get_u64(x);
		break;
	case OP_DELEGRETURN:
	case OP_SETCLIENTID_CONFIRM:
		get_fixed(x, 16);
		break;
	case OP_CLOSE:
	case OP_OPEN_CONFIRM:
		get_fixed(x, 20);
		break;
	case OP_COMMIT:
		get_fixed(x, 12);
		break;
	case OP_CREATE:
		create_args(x);
		break;
	case OP_GETATTR:
		get_mask(x, &m);
		break;
	case OP_LOOKUP:
	case OP_LINK:
	case OP_PUTFH:
	case OP_REMOVE:
	case OP_SECINFO:
		opaque(x);
		break;
	case OP_RENAME:
		opaque(x);
		opaque(x);
		break;
	case OP_LOCK:
		lock_args(x);
		break;
	case OP_LOCKT:
		get_fixed(x, 20);
		owner(x);
		break;
	case OP_LOCKU:
		get_fixed(x, 40);
		break;
	case OP_NVERIFY:
	case OP_VERIFY:
		fattr(x);
		break;
	case OP_OPEN:
		open_args(x);
		break;
	case OP_OPEN_DOWNGRADE:
	case OP_READ:
		get_fixed(x, 28);
		break;
	case OP_READDIR:
		get_fixed(x, 24);
		get_mask(x, &m);
		break;
	case OP_RELEASE_LOCKOWNER:
		owner(x);
		break;
	case OP_SETATTR:
		get_fixed(x, 16);
		fattr(x);
		break;
	case OP_SETCLIENTID:
		get_u64(x);
		opaque(x);
		get_u32(x);
		opaque(x);
		opaque(x);
		get_u32(x);
		break;
	case OP_WRITE:
		get_fixed(x, 28);
		opaque(x);
		break;
	default:
		x->bad = true;
	}
}

uint64_t v4_scan(struct xdr x)
{
	uint64_t seen = 0;
	uint32_t op, n;

	opaque(&x);  /* tag */
	get_u32(&x); /* minor version */
	for (n = get_u32(&x); n && !x.bad; n--) {
		op = get_u32(&x);
		if (op < OP_LIMIT)
			seen |= 1ULL << op;
		skip(&x, op);
	}
	return seen;
}
