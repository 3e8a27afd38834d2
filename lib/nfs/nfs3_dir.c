/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READDIRPLUS, which tells the types, or READDIR where a server has no such
 * thing (RFC 1813 sections 3.3.16 and 3.3.17). */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "nfs/dirent.h"
#include "nfs/errors.h"
#include "nfs/nfs3.h"
#include "nfs/nfs3_call.h"
#include "nfs/session.h"

#define REPLY_MAX 32768 /* bytes of one answer */

#define FATTR3_BYTES 84 /* RFC 1813 section 2.6 */

/* post_op_attr: the type, 0 where there are no attributes. */
static uint32_t get_type(struct nfsappend_results *r)
{
	const uint8_t *fattr;
	uint32_t type;

	if (nfsappend_get32(r) == 0)
		return 0;
	fattr = nfsappend_get_fixed(r, FATTR3_BYTES);
	if (fattr == NULL)
		return 0;
	memcpy(&type, fattr, sizeof type);
	return ntohl(type);
}

/* Both procedures' results; an entry of READDIRPLUS has more behind it. */
static int entries(struct nfsappend_results *r, struct nfsappend_dirents *d,
	bool plus)
{
	uint32_t status = nfsappend_get32(r);
	const uint8_t *verifier;

	if (status != NFS3_OK)
		return r->bad ? NFSAPPEND_LOST
			      : nfsappend_errno3((int)status);
	get_type(r); /* of the directory */
	verifier = nfsappend_get_fixed(r, NFS3_COOKIEVERFSIZE);
	if (verifier == NULL)
		return NFSAPPEND_LOST;
	memcpy(d->verifier, verifier, NFS3_COOKIEVERFSIZE);
	while (nfsappend_get32(r) != 0) {
		uint64_t fileid = nfsappend_get64(r), cookie;
		uint32_t len = 0, fhlen, type = 0;
		const uint8_t *name =
			nfsappend_get_opaque(r, NFSAPPEND_NAME_MAX, &len);

		cookie = nfsappend_get64(r);
		if (plus) {
			type = get_type(r);
			if (nfsappend_get32(r) != 0)
				nfsappend_get_opaque(r, NFS3_FHSIZE, &fhlen);
		}
		if (name == NULL || r->bad)
			return NFSAPPEND_LOST;
		nfsappend_dirents_add(d, fileid, cookie, type,
			(const char *)name, len);
	}
	*d->eof = nfsappend_get32(r) != 0 && !d->full;
	return r->bad ? NFSAPPEND_LOST : 0;
}

static int decode_plus(struct nfsappend_results *r, void *out)
{
	return entries(r, out, true);
}

static int decode_plain(struct nfsappend_results *r, void *out)
{
	return entries(r, out, false);
}

int nfsappend_nfs3_readdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	uint64_t cookie, uint64_t *verifier, void *buf, uint32_t *len,
	bool *eof)
{
	READDIRPLUS3args plus = {
		.dir = nfsappend_fh3(dir),
		.cookie = cookie,
		.dircount = REPLY_MAX / 4,
		.maxcount = REPLY_MAX,
	};
	READDIR3args plain = {
		.dir = nfsappend_fh3(dir),
		.cookie = cookie,
		.count = REPLY_MAX,
	};
	struct nfsappend_dirents d = {
		.buf = buf, .room = *len, .eof = eof, .verifier = verifier};
	struct nfsappend_exchange x;
	int r;

	memcpy(plus.cookieverf, verifier, NFS3_COOKIEVERFSIZE);
	memcpy(plain.cookieverf, verifier, NFS3_COOKIEVERFSIZE);
	x = NFSAPPEND_CALL3(READDIRPLUS, &plus, decode_plus, &d);
	x.reply_max = REPLY_MAX + 1024;
	r = nfsappend_exchange(s, wait, &x);
	if (r == -EOPNOTSUPP) {
		x = NFSAPPEND_CALL3(READDIR, &plain, decode_plain, &d);
		x.reply_max = REPLY_MAX + 1024;
		r = nfsappend_exchange(s, wait, &x);
	}
	*len = d.used;
	return r;
}
