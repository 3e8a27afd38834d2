/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "nfs/errors.h"
#include "nfs/exchange.h"
#include "nfs/nfs4_wire.h"

#define NFS4_PROGRAM_NUMBER 100003
#define COMPOUND_PROCEDURE 1
#define ATTR_SIZE_BIT (UINT32_C(1) << 4) /* RFC 7530 section 5.6 */

#define TAG_MAX 1024

struct compound {
	const struct nfsappend_ops *ops;
	int (*decode)(struct nfsappend_results *, void *);
	void *out;
};

static uint32_t padded(uint32_t n)
{
	return (n + 3) & ~UINT32_C(3);
}

void nfsappend_ops_begin(struct nfsappend_ops *o)
{
	o->n = o->count = o->data_len = o->data_at = o->reply_max = 0;
	o->data = NULL;
	o->overflow = false;
}

void nfsappend_put_fixed(struct nfsappend_ops *o, const void *p, uint32_t len)
{
	uint32_t n = padded(len);

	if (n > sizeof o->buf - o->n) {
		o->overflow = true;
		return;
	}
	memcpy(o->buf + o->n, p, len);
	memset(o->buf + o->n + len, 0, n - len);
	o->n += n;
}

void nfsappend_put_opaque(struct nfsappend_ops *o, const void *p, uint32_t len)
{
	if (len > sizeof o->buf) {
		o->overflow = true;
		return;
	}
	nfsappend_put32(o, len);
	nfsappend_put_fixed(o, p, len);
}

void nfsappend_put_stateid(
	struct nfsappend_ops *o, const struct nfsappend_stateid *s)
{
	static const struct nfsappend_stateid anonymous;

	if (s == NULL)
		s = &anonymous;
	nfsappend_put32(o, s->seqid);
	nfsappend_put_fixed(o, s->other, sizeof s->other);
}

void nfsappend_op(struct nfsappend_ops *o, uint32_t op)
{
	nfsappend_put32(o, op);
	o->count++;
}

void nfsappend_op_putfh(struct nfsappend_ops *o, const struct nfsappend_fh *fh)
{
	nfsappend_op(o, NFSAPPEND_OP_PUTFH);
	nfsappend_put_opaque(o, fh->data, fh->len);
}

void nfsappend_op_lookup(struct nfsappend_ops *o, const char *name)
{
	if (strcmp(name, "..") == 0) {
		nfsappend_op(o, NFSAPPEND_OP_LOOKUPP);
		return;
	}
	nfsappend_op(o, NFSAPPEND_OP_LOOKUP);
	nfsappend_put_opaque(o, name, (uint32_t)strlen(name));
}

void nfsappend_op_getattr_size(struct nfsappend_ops *o)
{
	nfsappend_op(o, NFSAPPEND_OP_GETATTR);
	nfsappend_put32(o, 1);
	nfsappend_put32(o, ATTR_SIZE_BIT);
}

void nfsappend_op_verify_size(struct nfsappend_ops *o, uint64_t size)
{
	nfsappend_op(o, NFSAPPEND_OP_VERIFY);
	nfsappend_put32(o, 1);
	nfsappend_put32(o, ATTR_SIZE_BIT);
	nfsappend_put32(o, 8);
	nfsappend_put64(o, size);
}

void nfsappend_op_write(struct nfsappend_ops *o,
	const struct nfsappend_stateid *stateid, uint64_t offset,
	const void *data, uint32_t len)
{
	nfsappend_op(o, NFSAPPEND_OP_WRITE);
	nfsappend_put_stateid(o, stateid);
	nfsappend_put64(o, offset);
	nfsappend_put32(o, NFSAPPEND_FILE_SYNC);
	nfsappend_put32(o, len);
	o->data = data;
	o->data_len = len;
	o->data_at = o->n;
}

void nfsappend_get_stateid(
	struct nfsappend_results *r, struct nfsappend_stateid *s)
{
	const uint8_t *other;

	s->seqid = nfsappend_get32(r);
	other = nfsappend_get_fixed(r, sizeof s->other);
	if (other != NULL)
		memcpy(s->other, other, sizeof s->other);
}

bool nfsappend_next(struct nfsappend_results *r, uint32_t *op, uint32_t *status)
{
	if (r->left == 0 || r->bad)
		return false;
	r->left--;
	*op = nfsappend_get32(r);
	*status = nfsappend_get32(r);
	return !r->bad;
}

int nfsappend_expect(struct nfsappend_results *r, uint32_t op)
{
	uint32_t got, status;

	if (!nfsappend_next(r, &got, &status)) {
		/* Refused as a whole: RFC 7530 section 15.2.4. */
		return !r->bad && r->status != 0 ? nfsappend_errno4(r->status)
						 : NFSAPPEND_LOST;
	}
	if (got != op)
		return status != 0 ? nfsappend_errno4(status) : NFSAPPEND_LOST;
	return nfsappend_errno4(status);
}

uint64_t nfsappend_get_size(struct nfsappend_results *r)
{
	uint32_t words = nfsappend_get32(r);
	bool has = words >= 1;

	for (uint32_t i = 0; i < words && !r->bad; i++)
		if (nfsappend_get32(r) != (i == 0 ? ATTR_SIZE_BIT : 0))
			has = false;
	if (!has || nfsappend_get32(r) != 8)
		r->bad = true;
	return nfsappend_get64(r);
}

static int decode_reply(struct nfsappend_results *r, void *arg)
{
	const struct compound *c = arg;
	uint32_t len;

	r->status = nfsappend_get32(r);
	nfsappend_get_opaque(r, TAG_MAX, &len);
	r->left = nfsappend_get32(r);
	if (r->bad || r->left > c->ops->count)
		return NFSAPPEND_LOST;
	return c->decode(r, c->out);
}

/* Tag, minor version, number of operations, and what goes before the data of
 * WRITE. */
static uint32_t encode(ZDR *zdr, void *args)
{
	const struct nfsappend_ops *o = args;
	uint32_t head[3] = {0, 0, htobe32(o->count)};
	uint32_t len = o->data_len > 0 ? o->data_at : o->n;

	return (uint32_t)zdr->size - zdr_getpos(zdr) >= len + sizeof head &&
	       zdr_opaque(zdr, (char *)head, sizeof head) &&
	       zdr_opaque(zdr, (char *)o->buf, len);
}

int nfsappend_compound(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_ops *o,
	int (*decode)(struct nfsappend_results *, void *), void *out)
{
	struct compound c = {o, decode, out};
	struct nfsappend_exchange x = {
		.program = NFS4_PROGRAM_NUMBER,
		.version = 4,
		.procedure = COMPOUND_PROCEDURE,
		.encode = (zdrproc_t)encode,
		.args = (void *)o,
		.reply_max = o->reply_max,
		.decode = decode_reply,
		.out = &c,
	};

	if (o->overflow)
		return -ENAMETOOLONG;
	if (o->data_len > 0) {
		x.data = o->data;
		x.len = o->data_len;
		x.tail = o->buf + o->data_at;
		x.tail_len = o->n - o->data_at;
	}
	return nfsappend_exchange(s, wait, &x);
}
