/* The raw client's NFSv4.0 commands: a locked append in one compound. */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

#define MUTEX 0x7ffffffffffffffe

static struct handle file;
static uint64_t clientid, confirm;
static stateid4 open_id, lock_id, seen_lock;
static bool have_lock;
static uint32_t open_seqid, lock_seqid;
static uint64_t believed; /* the file's size */
static uint32_t flags;
static char owner[64];

/* One compound, kept so that the same bytes can go again. */
static nfs_argop4 ops[16];
static int n_ops;
static uint64_t verify_size;
static size_t count;
static bool first;
static uint32_t size_change[] = {1 << FATTR4_CHANGE | 1 << FATTR4_SIZE};
static uint32_t size_only[] = {1 << FATTR4_SIZE};

static nfs_argop4 *op(int number)
{
	nfs_argop4 *o = &ops[n_ops++];

	memset(o, 0, sizeof(*o));
	o->argop = number;
	return o;
}

static void putfh(void)
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

/* Sends what is in ops, prints what came back; its status, or -1. */
static int run(const char *name, bool quiet)
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

static void client_command(char ***at)
{
	SETCLIENTID4args *a;
	SETCLIENTID_CONFIRM4args *b;
	char *id = *(*at)++;
	uint64_t verifier = raw_number(*(*at)++);

	n_ops = 0;
	a = &op(OP_SETCLIENTID)->nfs_argop4_u.opsetclientid;
	memcpy(a->client.verifier, &verifier, 8);
	a->client.id.id_len = strlen(id);
	a->client.id.id_val = id;
	a->callback.cb_location.r_netid = "tcp";
	a->callback.cb_location.r_addr = "0.0.0.0.0.0";
	if (run("setclientid", true))
		return;
	n_ops = 0;
	b = &op(OP_SETCLIENTID_CONFIRM)->nfs_argop4_u.opsetclientid_confirm;
	b->clientid = clientid;
	memcpy(b->setclientid_confirm, &confirm, 8);
	run("client", false);
}

static void open_command(char ***at)
{
	char *dir = *(*at)++, *name = *(*at)++;
	static uint32_t mode_mask[] = {0, 1 << (FATTR4_MODE - 32)}, mode;
	LOOKUP4args *l;
	OPEN4args *a;
	OPEN_CONFIRM4args *k;
	fattr4 *f;

	snprintf(owner, sizeof(owner), "owner-%lx", (long)clientid);
	mode = htonl(0640);
	n_ops = 0;
	op(OP_PUTROOTFH);
	l = &op(OP_LOOKUP)->nfs_argop4_u.oplookup;
	l->objname.utf8string_len = strlen(dir);
	l->objname.utf8string_val = dir;
	a = &op(OP_OPEN)->nfs_argop4_u.opopen;
	a->seqid = open_seqid++;
	a->share_access = OPEN4_SHARE_ACCESS_BOTH;
	a->owner.clientid = clientid;
	a->owner.owner.owner_len = strlen(owner);
	a->owner.owner.owner_val = owner;
	a->openhow.opentype = OPEN4_CREATE;
	a->openhow.openflag4_u.how.mode = UNCHECKED4;
	f = &a->openhow.openflag4_u.how.createhow4_u.createattrs;
	f->attrmask.bitmap4_len = 2;
	f->attrmask.bitmap4_val = mode_mask;
	f->attr_vals.attrlist4_len = 4;
	f->attr_vals.attrlist4_val = (char *)&mode;
	a->claim.claim = CLAIM_NULL;
	a->claim.open_claim4_u.file.utf8string_len = strlen(name);
	a->claim.open_claim4_u.file.utf8string_val = name;
	op(OP_GETFH);
	op(OP_GETATTR)->nfs_argop4_u.opgetattr.attr_request =
		(bitmap4){1, size_change};
	if (run("open", false) || !(flags & OPEN4_RESULT_CONFIRM))
		return;
	n_ops = 0;
	putfh();
	k = &op(OP_OPEN_CONFIRM)->nfs_argop4_u.opopen_confirm;
	k->open_stateid = open_id;
	k->seqid = open_seqid++;
	run("open_confirm", true);
}

static void add_lock(void)
{
	LOCK4args *a = &op(OP_LOCK)->nfs_argop4_u.oplock;

	a->locktype = WRITE_LT;
	a->offset = MUTEX;
	a->length = 1;
	a->locker.new_lock_owner = first = !have_lock;
	if (first) {
		open_to_lock_owner4 *o = &a->locker.locker4_u.open_owner;

		o->open_seqid = open_seqid;
		o->open_stateid = open_id;
		o->lock_seqid = 0;
		o->lock_owner.clientid = clientid;
		o->lock_owner.owner.owner_len = strlen(owner);
		o->lock_owner.owner.owner_val = owner;
	} else {
		a->locker.locker4_u.lock_owner.lock_stateid = lock_id;
		a->locker.locker4_u.lock_owner.lock_seqid = lock_seqid;
	}
}

static void add_write(const stateid4 *s, uint64_t offset)
{
	WRITE4args *a = &op(OP_WRITE)->nfs_argop4_u.opwrite;

	a->stateid = *s;
	a->offset = offset;
	a->stable = FILE_SYNC4;
	a->data.data_len = count;
	a->data.data_val = raw_bytes(count);
}

static void add_unlock(const stateid4 *s, uint32_t seqid)
{
	LOCKU4args *a = &op(OP_LOCKU)->nfs_argop4_u.oplocku;

	a->locktype = WRITE_LT;
	a->seqid = seqid;
	a->lock_stateid = *s;
	a->offset = MUTEX;
	a->length = 1;
}

/* {LOCK, GETATTR, VERIFY, WRITE, LOCKU}; the first of an owner keeps its
 * stateid unknown, so it ends before WRITE. */
static void append_command(const char *name, char ***at, bool fixed)
{
	stateid4 held = lock_id;
	fattr4 *f;
	int status;

	count = raw_number(*(*at)++);
	n_ops = 0;
	putfh();
	if (fixed) {
		add_write(&seen_lock, believed);
		add_unlock(&seen_lock, lock_seqid + 1);
	} else {
		add_lock();
		op(OP_GETATTR)->nfs_argop4_u.opgetattr.attr_request =
			(bitmap4){1, size_change};
		f = &op(OP_VERIFY)->nfs_argop4_u.opverify.obj_attributes;
		verify_size = htobe64(believed);
		f->attrmask = (bitmap4){1, size_only};
		f->attr_vals.attrlist4_len = 8;
		f->attr_vals.attrlist4_val = (char *)&verify_size;
		held.seqid++;
		if (first) {
			add_write(&open_id, believed);
		} else {
			add_write(&held, believed);
			add_unlock(&held, lock_seqid + 1);
		}
	}
	status = run(name, false);
	if (status < 0)
		return;
	if (!status)
		believed += count;
	if (first && !fixed) {
		open_seqid++;
		if (status == NFS4ERR_DENIED)
			return;
		have_lock = true;
		lock_id = seen_lock;
		lock_seqid = 0;
		n_ops = 0;
		putfh();
		add_unlock(&lock_id, ++lock_seqid);
		run("unlock", true);
		lock_id = seen_lock;
		lock_seqid++;
	} else if (!status) {
		lock_id = seen_lock;
		lock_seqid += 2;
	} else if (status == NFS4ERR_DENIED || status == NFS4ERR_GRACE) {
		lock_seqid++;
	}
}

static void late_command(const char *name, char ***at, const stateid4 *s)
{
	count = raw_number(*(*at)++);
	n_ops = 0;
	putfh();
	add_write(s, believed);
	run(name, false);
}

bool raw4_command(const char *name, char ***at)
{
	static stateid4 anonymous;

	if (!strcmp(name, "client")) {
		client_command(at);
	} else if (!strcmp(name, "open")) {
		open_command(at);
	} else if (!strcmp(name, "append")) {
		append_command(name, at, false);
	} else if (!strcmp(name, "fixed")) {
		append_command(name, at, true);
	} else if (!strcmp(name, "again")) {
		run(name, false);
	} else if (!strcmp(name, "late")) {
		late_command(name, at, &open_id);
	} else if (!strcmp(name, "latelock")) {
		stateid4 held = lock_id;

		held.seqid--; /* as it was while the lock was held */
		late_command(name, at, &held);
	} else if (!strcmp(name, "anonymous")) {
		late_command(name, at, &anonymous);
	} else if (!strcmp(name, "size")) {
		believed = raw_number(*(*at)++);
	} else if (!strcmp(name, "resync")) {
		lock_id.seqid += 2;
		lock_seqid += 2;
		believed += count;
	} else if (!strcmp(name, "unlock")) {
		n_ops = 0;
		putfh();
		add_unlock(&seen_lock, ++lock_seqid);
		if (!run(name, false)) {
			lock_id = seen_lock;
			lock_seqid++;
		}
	} else if (!strcmp(name, "close")) {
		CLOSE4args *a;

		n_ops = 0;
		putfh();
		a = &op(OP_CLOSE)->nfs_argop4_u.opclose;
		a->seqid = open_seqid++;
		a->open_stateid = open_id;
		run(name, false);
	} else if (!strcmp(name, "renew")) {
		n_ops = 0;
		op(OP_RENEW)->nfs_argop4_u.oprenew.clientid = clientid;
		run(name, false);
	} else {
		return false;
	}
	return true;
}
