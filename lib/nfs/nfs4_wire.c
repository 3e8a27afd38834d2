/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <nfsc/libnfs-zdr.h>

#include "nfs/errors.h"
#include "nfs/nfs4_wire.h"

#define NFS4_PROGRAM_NUMBER 100003
#define COMPOUND_PROCEDURE 1
#define ATTR_SIZE_BIT (UINT32_C(1) << 4) /* RFC 7530 section 5.6 */

/* Exported by libnfs 4.0.0 to 5.x, declared in its private header only. A
 * struct rpc_pdu begins with a pointer, the xid and the ZDR of the call. */
struct rpc_pdu;
struct rpc_pdu *rpc_allocate_pdu2(struct rpc_context *, int program,
	int version, int procedure, rpc_cb, void *private_data, zdrproc_t,
	int decode_size, size_t alloc_hint);
int rpc_queue_pdu(struct rpc_context *, struct rpc_pdu *);
void rpc_free_pdu(struct rpc_context *, struct rpc_pdu *);

struct pdu_head {
	struct pdu_head *next;
	uint32_t xid;
	ZDR zdr;
};

static uint32_t padded(uint32_t n)
{
	return (n + 3) & ~UINT32_C(3);
}

void nfsappend_ops_begin(struct nfsappend_ops *o)
{
	o->n = o->count = o->data_len = o->data_at = 0;
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

void nfsappend_put32(struct nfsappend_ops *o, uint32_t v)
{
	v = htobe32(v);
	nfsappend_put_fixed(o, &v, 4);
}

void nfsappend_put64(struct nfsappend_ops *o, uint64_t v)
{
	v = htobe64(v);
	nfsappend_put_fixed(o, &v, 8);
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

const uint8_t *nfsappend_get_fixed(struct nfsappend_results *r, uint32_t len)
{
	const uint8_t *p = r->p;

	if (r->bad || len > (size_t)(r->end - r->p) ||
		padded(len) > (size_t)(r->end - r->p)) {
		r->bad = true;
		return NULL;
	}
	r->p += padded(len);
	return p;
}

uint32_t nfsappend_get32(struct nfsappend_results *r)
{
	const uint8_t *p = nfsappend_get_fixed(r, 4);
	uint32_t v = 0;

	if (p != NULL)
		memcpy(&v, p, 4);
	return be32toh(v);
}

uint64_t nfsappend_get64(struct nfsappend_results *r)
{
	const uint8_t *p = nfsappend_get_fixed(r, 8);
	uint64_t v = 0;

	if (p != NULL)
		memcpy(&v, p, 8);
	return be64toh(v);
}

const uint8_t *nfsappend_get_opaque(
	struct nfsappend_results *r, uint32_t max, uint32_t *len)
{
	uint32_t n = nfsappend_get32(r);

	*len = 0;
	if (r->bad || n > max) {
		r->bad = true;
		return NULL;
	}
	*len = n;
	return nfsappend_get_fixed(r, n);
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

void nfsappend_get_fh(struct nfsappend_results *r, struct nfsappend_fh *fh)
{
	uint32_t len;
	const uint8_t *p = nfsappend_get_opaque(r, NFSAPPEND_FH_MAX, &len);

	if (p == NULL || len == 0) {
		r->bad = true;
		return;
	}
	fh->len = len;
	memcpy(fh->data, p, len);
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

void nfsappend_get_written(
	struct nfsappend_results *r, uint32_t len, struct nfsappend_written *w)
{
	const uint8_t *verifier;

	w->count = nfsappend_get32(r);
	w->committed = nfsappend_get32(r);
	verifier = nfsappend_get_fixed(r, 8);
	w->has_size = false;
	if (verifier != NULL)
		memcpy(&w->verifier, verifier, 8);
	/* RFC 7530 section 16.36.4: at most what was asked; nothing at all
	 * would have us ask for ever. */
	if (w->count == 0 || w->count > len ||
		w->committed > NFSAPPEND_FILE_SYNC)
		r->bad = true;
}

/* Where the results lie in libnfs's buffer. It is valid in the callback. */
struct view {
	const uint8_t *p;
	uint32_t len;
};

static uint32_t take_view(ZDR *zdr, void *out, ...)
{
	struct view *v = out;

	if (zdr->x_op != ZDR_DECODE || zdr->pos < 0 || zdr->pos > zdr->size)
		return 0;
	v->p = (const uint8_t *)zdr->buf + zdr->pos;
	v->len = (uint32_t)(zdr->size - zdr->pos);
	return 1;
}

struct exchange {
	const struct nfsappend_ops *ops;
	int (*decode)(void *, void *);
	void *out;
};

static int decode_reply(void *data, void *arg)
{
	struct view *v = data;
	struct exchange *x = arg;
	struct nfsappend_results r = {.p = v->p, .end = v->p + v->len};
	uint32_t len;
	int result;

	r.status = nfsappend_get32(&r);
	nfsappend_get_opaque(&r, 1024, &len); /* the tag */
	r.left = nfsappend_get32(&r);
	if (r.bad || r.left > x->ops->count)
		return NFSAPPEND_LOST;
	result = x->decode(&r, x->out);
	return r.bad ? NFSAPPEND_LOST : result;
}

static uint8_t *append_bytes(uint8_t *to, const void *from, uint32_t len)
{
	memcpy(to, from, len);
	return to + len;
}

static int start(struct rpc_context *rpc, rpc_cb cb,
	const struct nfsappend_ops *o, void *call)
{
	uint32_t pad = padded(o->data_len) - o->data_len;
	uint32_t size = 12 + o->n + o->data_len + pad;
	uint32_t head[3] = {0, 0, htobe32(o->count)}; /* tag, minorversion */
	struct rpc_pdu *pdu;
	ZDR *zdr;
	uint8_t *to;

	if (o->overflow)
		return -1;
	pdu = rpc_allocate_pdu2(rpc, NFS4_PROGRAM_NUMBER, 4, COMPOUND_PROCEDURE,
		cb, call, take_view, sizeof(struct view), size);
	if (pdu == NULL)
		return -1;
	zdr = &((struct pdu_head *)pdu)->zdr;
	/* Is the layout what it was when this was written? */
	if (zdr->x_op != ZDR_ENCODE || zdr->buf == NULL || zdr->pos < 24 ||
		zdr->pos > 4096 || zdr->size - zdr->pos < (int)size) {
		rpc_free_pdu(rpc, pdu);
		return -1;
	}
	to = (uint8_t *)zdr->buf + zdr->pos;
	to = append_bytes(to, head, 12);
	to = append_bytes(to, o->buf, o->data_at);
	if (o->data_len > 0) {
		to = append_bytes(to, o->data, o->data_len);
		memset(to, 0, pad);
		to += pad;
	}
	append_bytes(to, o->buf + o->data_at, o->n - o->data_at);
	zdr->pos += (int)size;
	return rpc_queue_pdu(rpc, pdu);
}

int nfsappend_compound(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_ops *o, int (*decode)(void *, void *), void *out)
{
	struct exchange x = {o, decode, out};
	int r;

	NFSAPPEND_RPC(s, wait, r, start, o, decode_reply, &x);
	return r;
}
