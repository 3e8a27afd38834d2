/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NFSv4.0 without state, RFC 7530: reads and writes go under the anonymous
 * stateid (section 9.1.4.3), as NFSv3's do.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "nfs/exchange.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_wire.h"

static void begin(struct nfsappend_ops *o, const struct nfsappend_fh *fh)
{
	nfsappend_ops_begin(o);
	nfsappend_op_putfh(o, fh);
}

/* The result of one operation after PUTFH: its status. */
static int expect(struct nfsappend_results *r, uint32_t op)
{
	int e = nfsappend_expect(r, NFSAPPEND_OP_PUTFH);

	return e != 0 ? e : nfsappend_expect(r, op);
}

static int decode_getattr(struct nfsappend_results *results, void *out)
{
	int e = expect(results, NFSAPPEND_OP_GETATTR);

	if (e == 0)
		nfsappend_get_attr(results, out, NULL);
	return e;
}

int nfsappend_nfs4_getattr(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	struct nfsappend_ops o;

	begin(&o, fh);
	nfsappend_op_getattr(&o);
	return nfsappend_compound(s, wait, &o, decode_getattr, attr);
}

static int decode_setattr(struct nfsappend_results *results, void *out)
{
	(void)out;
	return expect(results, NFSAPPEND_OP_SETATTR);
}

int nfsappend_nfs4_setattr(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	unsigned set, const struct nfsappend_attr *attr)
{
	struct nfsappend_ops o;

	begin(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_SETATTR);
	nfsappend_put_stateid(&o, NULL);
	nfsappend_put_attr(&o, set, attr);
	return nfsappend_compound(s, wait, &o, decode_setattr, NULL);
}

struct found {
	uint32_t op;
	struct nfsappend_fh *fh;
	struct nfsappend_attr *attr;
};

static int decode_lookup(struct nfsappend_results *results, void *out)
{
	struct found *f = out;
	int e = expect(results, f->op);

	if (e == 0)
		e = nfsappend_expect(results, NFSAPPEND_OP_GETFH);
	if (e != 0)
		return e;
	nfsappend_get_fh(results, NFSAPPEND_FH_MAX, f->fh);
	e = nfsappend_expect(results, NFSAPPEND_OP_GETATTR);
	if (e == 0)
		nfsappend_get_attr(results, f->attr, NULL);
	return e;
}

int nfsappend_nfs4_lookup(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	struct found f = {strcmp(name, "..") == 0 ? NFSAPPEND_OP_LOOKUPP
						  : NFSAPPEND_OP_LOOKUP,
		fh, attr};
	struct nfsappend_ops o;

	begin(&o, dir);
	nfsappend_op_lookup(&o, name);
	nfsappend_op(&o, NFSAPPEND_OP_GETFH);
	nfsappend_op_getattr(&o);
	return nfsappend_compound(s, wait, &o, decode_lookup, &f);
}

static int decode_access(struct nfsappend_results *results, void *out)
{
	int e = expect(results, NFSAPPEND_OP_ACCESS);

	if (e != 0)
		return e;
	nfsappend_get32(results); /* supported */
	*(uint32_t *)out = nfsappend_get32(results);
	return 0;
}

int nfsappend_nfs4_access(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint32_t asked, uint32_t *granted)
{
	struct nfsappend_ops o;

	begin(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_ACCESS);
	nfsappend_put32(&o, asked); /* the bits of NFSv3 */
	return nfsappend_compound(s, wait, &o, decode_access, granted);
}

struct text {
	char *buf;
	size_t len;
};

static int decode_readlink(struct nfsappend_results *results, void *out)
{
	struct text *t = out;
	int e = expect(results, NFSAPPEND_OP_READLINK);

	return e != 0 ? e : nfsappend_get_path(results, t->buf, t->len);
}

int nfsappend_nfs4_readlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh, char *buf,
	size_t len)
{
	struct text t = {buf, len};
	struct nfsappend_ops o;

	begin(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_READLINK);
	o.reply_max = NFSAPPEND_REPLY_LONG;
	return nfsappend_compound(s, wait, &o, decode_readlink, &t);
}

struct reading {
	uint8_t *buf;
	uint32_t len;
	bool *eof;
};

static int decode_read(struct nfsappend_results *results, void *out)
{
	struct reading *in = out;
	const uint8_t *p;
	uint32_t len;
	int e = expect(results, NFSAPPEND_OP_READ);

	if (e != 0)
		return e;
	*in->eof = nfsappend_get32(results) != 0;
	p = nfsappend_get_opaque(results, in->len, &len);
	if (p == NULL)
		return NFSAPPEND_LOST;
	memcpy(in->buf, p, len);
	in->len = len;
	return 0;
}

int nfsappend_nfs4_read(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, void *buf, uint32_t *len, bool *eof)
{
	struct reading in = {buf, *len, eof};
	struct nfsappend_ops o;
	int r;

	begin(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_READ);
	o.reply_max = NFSAPPEND_MESSAGE_MAX + *len;
	nfsappend_put_stateid(&o, NULL);
	nfsappend_put64(&o, offset);
	nfsappend_put32(&o, *len);
	r = nfsappend_compound(s, wait, &o, decode_read, &in);
	if (r == 0)
		*len = in.len;
	return r;
}

struct writing {
	uint32_t len;
	struct nfsappend_written *written;
};

static int decode_write(struct nfsappend_results *results, void *out)
{
	struct writing *w = out;
	int e = expect(results, NFSAPPEND_OP_WRITE);

	if (e != 0)
		return e;
	nfsappend_get_written(results, w->len, w->written);
	/* The WRITE is done, whatever became of the rest. */
	if (nfsappend_expect(results, NFSAPPEND_OP_GETATTR) == 0) {
		w->written->size = nfsappend_get_size(results);
		w->written->has_size = true;
	}
	return 0;
}

int nfsappend_nfs4_write(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, const void *buf, uint32_t len,
	struct nfsappend_written *written)
{
	struct writing w = {len, written};
	struct nfsappend_ops o;
	uint32_t before = wait->rpcs;
	int r;

	begin(&o, fh);
	nfsappend_op_write(&o, NULL, offset, buf, len);
	nfsappend_op_getattr_size(&o);
	r = nfsappend_compound(s, wait, &o, decode_write, &w);
	wait->write_rpcs += wait->rpcs - before;
	return r;
}

static int decode_write_at_end(struct nfsappend_results *results, void *out)
{
	struct writing *w = out;
	int e = expect(results, NFSAPPEND_OP_GETATTR);

	if (e != 0)
		return e;
	w->written->size = nfsappend_get_size(results);
	w->written->has_size = true;
	e = nfsappend_expect(results, NFSAPPEND_OP_VERIFY);
	if (e == 0)
		e = nfsappend_expect(results, NFSAPPEND_OP_WRITE);
	if (e == 0)
		nfsappend_get_written(results, w->len, w->written);
	return e;
}

int nfsappend_nfs4_write_at_end(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	const struct nfsappend_stateid *open, uint64_t offset,
	const void *buf, uint32_t len,
	struct nfsappend_written *written)
{
	struct writing w = {len, written};
	struct nfsappend_ops o;
	uint32_t before = wait->rpcs;
	int r;

	begin(&o, fh);
	nfsappend_op_getattr_size(&o);
	nfsappend_op_verify_size(&o, offset);
	nfsappend_op_write(&o, open, offset, buf, len);
	r = nfsappend_compound(s, wait, &o, decode_write_at_end, &w);
	wait->write_rpcs += wait->rpcs - before;
	return r;
}

static int decode_commit(struct nfsappend_results *results, void *out)
{
	const uint8_t *verifier;
	int e = expect(results, NFSAPPEND_OP_COMMIT);

	if (e != 0)
		return e;
	verifier = nfsappend_get_fixed(results, 8);
	if (verifier != NULL)
		memcpy(out, verifier, 8);
	return 0;
}

int nfsappend_nfs4_commit(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, uint32_t len, uint64_t *verifier)
{
	struct nfsappend_ops o;

	begin(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_COMMIT);
	nfsappend_put64(&o, offset);
	nfsappend_put32(&o, len);
	return nfsappend_compound(s, wait, &o, decode_commit, verifier);
}
