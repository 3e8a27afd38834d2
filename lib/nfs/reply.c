/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "nfs/reply.h"

enum { REPLY = 1 };				  /* msg_type */
enum { MSG_ACCEPTED, MSG_DENIED };		  /* reply_stat */
enum { SUCCESS, PROG_UNAVAIL, PROG_MISMATCH };	  /* accept_stat */
#define AUTH_BODY_MAX 400			  /* opaque_auth */

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

void nfsappend_get_fh(
	struct nfsappend_results *r, uint32_t max, struct nfsappend_fh *fh)
{
	uint32_t len;
	const uint8_t *p = nfsappend_get_opaque(r, max, &len);

	if (p == NULL || len == 0) {
		r->bad = true;
		return;
	}
	fh->len = len;
	memcpy(fh->data, p, len);
}

void nfsappend_get_written(
	struct nfsappend_results *r, uint32_t len, struct nfsappend_written *w)
{
	const uint8_t *verifier;

	w->count = nfsappend_get32(r);
	w->committed = nfsappend_get32(r);
	verifier = nfsappend_get_fixed(r, 8);
	if (verifier != NULL)
		memcpy(&w->verifier, verifier, 8);
	/* RFC 1813 section 3.3.7, RFC 7530 section 16.36.4: at most what was
	 * asked; nothing at all would have us ask for ever. */
	if (w->count == 0 || w->count > len ||
		w->committed > NFSAPPEND_FILE_SYNC)
		r->bad = true;
}

int nfsappend_get_path(struct nfsappend_results *r, char *buf, size_t len)
{
	uint32_t n;
	const uint8_t *p = nfsappend_get_opaque(r, UINT32_MAX, &n);

	if (p == NULL || memchr(p, '\0', n) != NULL) {
		r->bad = true;
		return 0;
	}
	if (n >= len)
		return -ENAMETOOLONG;
	memcpy(buf, p, n);
	buf[n] = '\0';
	return 0;
}

/* What the server says instead of results. */
static int refused(uint32_t accept_stat)
{
	return accept_stat == PROG_UNAVAIL || accept_stat == PROG_MISMATCH
		? -EPROTONOSUPPORT
		: -EIO;
}

int nfsappend_get_accepted(struct nfsappend_results *r, uint32_t xid)
{
	uint32_t got = nfsappend_get32(r), direction = nfsappend_get32(r);
	uint32_t reply = nfsappend_get32(r), stat, len;

	if (r->bad || got != xid || direction != REPLY || reply > MSG_DENIED)
		return NFSAPPEND_LOST;
	if (reply == MSG_DENIED) /* AUTH_ERROR, RPC_MISMATCH */
		return -EACCES;
	nfsappend_get32(r); /* the flavor of the verifier */
	nfsappend_get_opaque(r, AUTH_BODY_MAX, &len);
	stat = nfsappend_get32(r);
	if (r->bad)
		return NFSAPPEND_LOST;
	return stat == SUCCESS ? 0 : refused(stat);
}
