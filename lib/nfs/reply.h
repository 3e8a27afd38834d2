/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a server sends, taken apart (XDR, RFC 4506). No length in it is
 * believed: nothing is read behind the end. libnfs's decoders do believe them
 * (4.0.0: an opaque of more than 2 GiB is followed backwards out of the
 * buffer, a reply that ends within a verifier is not noticed).
 */
#ifndef NFSAPPEND_NFS_REPLY_H
#define NFSAPPEND_NFS_REPLY_H

#include <endian.h>
#include <string.h>

#include "core/backend.h"

/* Results being taken apart. Once bad is set, what is asked for is 0. */
struct nfsappend_results {
	const uint8_t *p, *end;
	uint32_t status; /* of a compound */
	uint32_t left;	 /* operations of it not looked at */
	bool bad;
};

/* NULL when it is not there. Inline: a reply is some fifty of these. */
static inline const uint8_t *nfsappend_get_fixed(
	struct nfsappend_results *r, uint32_t len)
{
	size_t left = (size_t)(r->end - r->p);
	const uint8_t *p = r->p;
	uint32_t padded = (len + 3) & ~UINT32_C(3);

	if (r->bad || len > left || padded > left) {
		r->bad = true;
		return NULL;
	}
	r->p += padded;
	return p;
}

static inline uint32_t nfsappend_get32(struct nfsappend_results *r)
{
	const uint8_t *p = nfsappend_get_fixed(r, 4);
	uint32_t v = 0;

	if (p != NULL)
		memcpy(&v, p, 4);
	return be32toh(v);
}

static inline uint64_t nfsappend_get64(struct nfsappend_results *r)
{
	const uint8_t *p = nfsappend_get_fixed(r, 8);
	uint64_t v = 0;

	if (p != NULL)
		memcpy(&v, p, 8);
	return be64toh(v);
}

/* NULL when it is not there or longer than max. */
const uint8_t *nfsappend_get_opaque(
	struct nfsappend_results *, uint32_t max, uint32_t *len);
/* A handle of 1 to max bytes. */
void nfsappend_get_fh(
	struct nfsappend_results *, uint32_t max, struct nfsappend_fh *);
/* count, committed and verifier of a WRITE of len bytes. */
void nfsappend_get_written(
	struct nfsappend_results *, uint32_t len, struct nfsappend_written *);
/* A path of a link, as a string. 0 or -ENAMETOOLONG; else r is bad. */
int nfsappend_get_path(struct nfsappend_results *r, char *buf, size_t len);

/*
 * The head of an RPC reply (RFC 5531 section 9) to the call xid. 0: accepted
 * and successful, its results follow; -errno when the server refused the
 * call, NFSAPPEND_LOST when this is no answer to it.
 */
int nfsappend_get_accepted(struct nfsappend_results *, uint32_t xid);

#endif
