/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NFSv4.0 compounds on the wire (RFC 7530, XDR of RFC 7531), encoded here:
 * libnfs's own encoder has 4 KB of room (4.0.0) and puts results at
 * misaligned addresses.
 */
#ifndef NFSAPPEND_NFS_NFS4_WIRE_H
#define NFSAPPEND_NFS_NFS4_WIRE_H

#include "nfs/reply.h"
#include "nfs/session.h"

enum { /* nfs_opnum4, RFC 7531 */
	NFSAPPEND_OP_ACCESS = 3,
	NFSAPPEND_OP_CLOSE = 4,
	NFSAPPEND_OP_COMMIT = 5,
	NFSAPPEND_OP_CREATE = 6,
	NFSAPPEND_OP_GETATTR = 9,
	NFSAPPEND_OP_GETFH = 10,
	NFSAPPEND_OP_LINK = 11,
	NFSAPPEND_OP_LOCK = 12,
	NFSAPPEND_OP_LOCKU = 14,
	NFSAPPEND_OP_LOOKUP = 15,
	NFSAPPEND_OP_LOOKUPP = 16,
	NFSAPPEND_OP_NVERIFY = 17,
	NFSAPPEND_OP_OPEN = 18,
	NFSAPPEND_OP_OPEN_CONFIRM = 20,
	NFSAPPEND_OP_PUTFH = 22,
	NFSAPPEND_OP_PUTROOTFH = 24,
	NFSAPPEND_OP_READ = 25,
	NFSAPPEND_OP_READDIR = 26,
	NFSAPPEND_OP_READLINK = 27,
	NFSAPPEND_OP_REMOVE = 28,
	NFSAPPEND_OP_RENAME = 29,
	NFSAPPEND_OP_SAVEFH = 32,
	NFSAPPEND_OP_SETATTR = 34,
	NFSAPPEND_OP_SETCLIENTID = 35,
	NFSAPPEND_OP_SETCLIENTID_CONFIRM = 36,
	NFSAPPEND_OP_VERIFY = 37,
	NFSAPPEND_OP_WRITE = 38,
	NFSAPPEND_OP_RELEASE_LOCKOWNER = 39,
};

/* Arguments being put together: small ones in buf; the data of one WRITE
 * stays where it is. Big enough for a name, two handles, two owners. */
struct nfsappend_ops {
	uint8_t buf[2048];
	uint32_t n;	  /* of buf */
	uint32_t count;	  /* operations */
	const void *data; /* goes in at data_at, padded */
	uint32_t data_len;
	uint32_t data_at;
	uint32_t reply_max; /* see struct nfsappend_exchange */
	bool overflow;
};

void nfsappend_ops_begin(struct nfsappend_ops *);
/* Inline: an append is some fifty of these. */
static inline void nfsappend_put32(struct nfsappend_ops *o, uint32_t v)
{
	v = htobe32(v);
	if (sizeof o->buf - o->n < 4) {
		o->overflow = true;
		return;
	}
	memcpy(o->buf + o->n, &v, 4);
	o->n += 4;
}

static inline void nfsappend_put64(struct nfsappend_ops *o, uint64_t v)
{
	nfsappend_put32(o, (uint32_t)(v >> 32));
	nfsappend_put32(o, (uint32_t)v);
}

void nfsappend_put_fixed(struct nfsappend_ops *, const void *, uint32_t len);
void nfsappend_put_opaque(struct nfsappend_ops *, const void *, uint32_t len);
void nfsappend_put_stateid(
	struct nfsappend_ops *, const struct nfsappend_stateid *);

/* Whole operations. NULL stateid: the anonymous one (RFC 7530 9.1.4.3). */
void nfsappend_op(struct nfsappend_ops *, uint32_t op);
void nfsappend_op_putfh(struct nfsappend_ops *, const struct nfsappend_fh *);
void nfsappend_op_lookup(struct nfsappend_ops *, const char *name);
void nfsappend_op_getattr_size(struct nfsappend_ops *);
void nfsappend_op_verify_size(struct nfsappend_ops *, uint64_t size);
void nfsappend_op_write(struct nfsappend_ops *,
	const struct nfsappend_stateid *, uint64_t offset, const void *,
	uint32_t len);

void nfsappend_get_stateid(
	struct nfsappend_results *, struct nfsappend_stateid *);

/* The next operation's number and status: false at the end. */
bool nfsappend_next(struct nfsappend_results *, uint32_t *op, uint32_t *status);
/* It must be that operation and have succeeded: 0, or its error's -errno or
 * outcome, NFSAPPEND_LOST when the reply makes no sense. */
int nfsappend_expect(struct nfsappend_results *, uint32_t op);
/* The attributes of a GETATTR that asked for the size. */
uint64_t nfsappend_get_size(struct nfsappend_results *);
/* One attempt. decode gets what follows the number of results. 0, -errno, an
 * outcome. */
int nfsappend_compound(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_ops *,
	int (*decode)(struct nfsappend_results *, void *out), void *out);

#endif
