/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READDIR of NFSv4.0 (RFC 7530 section 16.24), with the types and fileids. */
#include "config.h"

#include <string.h>

#include "nfs/dirent.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_wire.h"

#define REPLY_MAX 32768 /* bytes of one answer */

/* Attributes 1, type, and 20, fileid: in this order. */
#define WORD0 (UINT32_C(1) << 1 | UINT32_C(1) << 20)

static void get_entry(struct nfsappend_results *r, struct nfsappend_dirents *d)
{
	uint64_t cookie = nfsappend_get64(r), fileid = 0;
	uint32_t len, type = 0, words, mask = 0;
	const uint8_t *name = nfsappend_get_opaque(r, 1024, &len);

	words = nfsappend_get32(r);
	for (uint32_t i = 0; i < words && !r->bad; i++) {
		uint32_t m = nfsappend_get32(r);

		if (i == 0)
			mask = m;
		else if (m != 0)
			r->bad = true;
	}
	nfsappend_get32(r); /* bytes that follow */
	if (mask & ~WORD0)
		r->bad = true;
	if (mask & UINT32_C(1) << 1)
		type = nfsappend_get32(r);
	if (mask & UINT32_C(1) << 20)
		fileid = nfsappend_get64(r);
	if (!r->bad && name != NULL)
		nfsappend_dirents_add(d, fileid, cookie, type,
			(const char *)name, len);
}

static int decode_readdir(struct nfsappend_results *r, void *out)
{
	struct nfsappend_dirents *d = out;
	const uint8_t *verifier;
	int e = nfsappend_expect(r, NFSAPPEND_OP_PUTFH);

	if (e == 0)
		e = nfsappend_expect(r, NFSAPPEND_OP_READDIR);
	if (e != 0)
		return e;
	verifier = nfsappend_get_fixed(r, 8);
	if (verifier != NULL)
		memcpy(d->verifier, verifier, 8);
	while (nfsappend_get32(r) != 0 && !r->bad)
		get_entry(r, d);
	*d->eof = nfsappend_get32(r) && !d->full;
	return r->bad ? NFSAPPEND_LOST : 0;
}

int nfsappend_nfs4_readdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	uint64_t cookie, uint64_t *verifier, void *buf, uint32_t *len,
	bool *eof)
{
	struct nfsappend_dirents d = {
		.buf = buf, .room = *len, .eof = eof, .verifier = verifier};
	struct nfsappend_ops o;
	int r;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_READDIR);
	nfsappend_put64(&o, cookie);
	nfsappend_put_fixed(&o, verifier, 8);
	nfsappend_put32(&o, REPLY_MAX / 4);
	nfsappend_put32(&o, REPLY_MAX);
	nfsappend_put32(&o, 1);
	nfsappend_put32(&o, WORD0);
	o.reply_max = REPLY_MAX + 1024;
	r = nfsappend_compound(s, wait, &o, decode_readdir, &d);
	*len = d.used;
	return r;
}
