/* One NFSv4.0 compound of the raw client: sent, and what came back kept. */
#include <endian.h>
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "raw4.h"

struct handle file;
uint64_t clientid, confirm;
stateid4 open_id, seen_lock;
uint64_t believed;
uint32_t flags;

/* One compound, kept so that the same bytes can go again. */
static nfs_argop4 ops[16];
int n_ops;

nfs_argop4 *op(int number)
{
	nfs_argop4 *o = &ops[n_ops++];

	memset(o, 0, sizeof(*o));
	o->argop = number;
	return o;
}

void putfh(void)
{
	PUTFH4args *a = &op(OP_PUTFH)->nfs_argop4_u.opputfh;

	a->object.nfs_fh4_len = file.len;
	a->object.nfs_fh4_val = file.v;
}

static void take_attrs(struct reply *r, const fattr4 *f)
{
	uint64_t v;

	if (f->attr_vals.attrlist4_len != 16)
		return;
	memcpy(&v, f->attr_vals.attrlist4_val + 8, 8);
	r->size = be64toh(v);
	r->size_known = 1;
}

static void take(struct reply *r, const nfs_resop4 *o)
{
	switch (o->resop) {
	case OP_GETFH: {
		const nfs_fh4 *h =
			&o->nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object;

		file.len =
			h->nfs_fh4_len <= sizeof(file.v) ? h->nfs_fh4_len : 0;
		memcpy(file.v, h->nfs_fh4_val, file.len);
		break;
	}
	case OP_GETATTR:
		take_attrs(r, &o->nfs_resop4_u.opgetattr.GETATTR4res_u.resok4
				       .obj_attributes);
		break;
	case OP_OPEN:
		open_id = o->nfs_resop4_u.opopen.OPEN4res_u.resok4.stateid;
		flags = o->nfs_resop4_u.opopen.OPEN4res_u.resok4.rflags;
		break;
	case OP_OPEN_CONFIRM:
		open_id = o->nfs_resop4_u.opopen_confirm.OPEN_CONFIRM4res_u
				  .resok4.open_stateid;
		break;
	case OP_LOCK:
		seen_lock =
			o->nfs_resop4_u.oplock.LOCK4res_u.resok4.lock_stateid;
		break;
	case OP_LOCKU:
		seen_lock = o->nfs_resop4_u.oplocku.LOCKU4res_u.lock_stateid;
		break;
	case OP_SETCLIENTID:
		clientid = o->nfs_resop4_u.opsetclientid.SETCLIENTID4res_u
				   .resok4.clientid;
		memcpy(&confirm,
			o->nfs_resop4_u.opsetclientid.SETCLIENTID4res_u.resok4
				.setclientid_confirm,
			8);
		break;
	case OP_WRITE:
		r->count = o->nfs_resop4_u.opwrite.WRITE4res_u.resok4.count;
		r->committed =
			o->nfs_resop4_u.opwrite.WRITE4res_u.resok4.committed;
		break;
	default:
		break;
	}
}

static uint32_t last_op;

static void on_compound(
	struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = arg;
	COMPOUND4res *m = data;
	uint32_t i;

	(void)c;
	r->done = true;
	r->rpc_status = status;
	if (status != RPC_STATUS_SUCCESS)
		return;
	r->status = m->status;
	last_op = 0;
	for (i = 0; i < m->resarray.resarray_len; i++) {
		nfs_resop4 o;

		/* libnfs 4.0.0 decodes to addresses that are not aligned. */
		memcpy(&o, &m->resarray.resarray_val[i], sizeof(o));
		last_op = o.resop;
		/* Each result begins with its status. */
		if (!o.nfs_resop4_u.opputfh.status)
			take(r, &o);
	}
}

static const char *name_of(uint32_t number)
{
	switch (number) {
	case OP_LOCK:
		return "LOCK";
	case OP_LOCKU:
		return "LOCKU";
	case OP_VERIFY:
		return "VERIFY";
	case OP_WRITE:
		return "WRITE";
	case OP_OPEN:
		return "OPEN";
	default:
		return "other";
	}
}

int run(const char *name, bool quiet)
{
	COMPOUND4args a = {.argarray = {n_ops, ops}};
	struct reply r = {0};
	const char *bad;

	if (rpc_nfs4_compound_async(rpc, on_compound, &a, &r))
		errx(1, "compound: %s", rpc_get_error(rpc));
	bad = raw_wait(&r);
	if (bad) {
		printf("%s: %s\n", name, bad);
		raw_connect();
		return -1;
	}
	if (quiet && !r.status)
		return 0;
	printf("%s: status %u", name, r.status);
	if (r.status)
		printf(" at %s", name_of(last_op));
	if (r.count)
		printf(" count %u committed %u", r.count, r.committed);
	if (r.size_known)
		printf(" size %lu", r.size);
	printf("\n");
	if (r.size_known)
		believed = r.size;
	return r.status;
}
