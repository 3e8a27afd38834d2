/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* READDIRPLUS, which tells the types, or READDIR where a server has no such
 * thing (RFC 1813 sections 3.3.16 and 3.3.17). */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "nfs/dirent.h"
#include "nfs/errors.h"
#include "nfs/nfs3.h"
#include "nfs/session.h"

#define REPLY_MAX 32768 /* bytes of one answer */

static int decode_plus(void *data, void *out)
{
	READDIRPLUS3res *res = data;
	READDIRPLUS3resok *ok = &res->READDIRPLUS3res_u.resok;
	struct nfsappend_dirents *d = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	for (entryplus3 *e = ok->reply.entries; e != NULL; e = e->nextentry) {
		post_op_attr *a = &e->name_attributes;

		if (e->name != NULL)
			nfsappend_dirents_add(d, e->fileid, e->cookie,
				a->attributes_follow
					? a->post_op_attr_u.attributes.type
					: 0,
				e->name, strlen(e->name));
	}
	memcpy(d->verifier, ok->cookieverf, NFS3_COOKIEVERFSIZE);
	*d->eof = ok->reply.eof && !d->full;
	return 0;
}

static int decode_plain(void *data, void *out)
{
	READDIR3res *res = data;
	READDIR3resok *ok = &res->READDIR3res_u.resok;
	struct nfsappend_dirents *d = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	for (entry3 *e = ok->reply.entries; e != NULL; e = e->nextentry)
		if (e->name != NULL)
			nfsappend_dirents_add(d, e->fileid, e->cookie, 0,
				e->name, strlen(e->name));
	memcpy(d->verifier, ok->cookieverf, NFS3_COOKIEVERFSIZE);
	*d->eof = ok->reply.eof && !d->full;
	return 0;
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
	int r;

	memcpy(plus.cookieverf, verifier, NFS3_COOKIEVERFSIZE);
	memcpy(plain.cookieverf, verifier, NFS3_COOKIEVERFSIZE);
	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_readdirplus_async, &plus,
		decode_plus, &d);
	if (r == -EOPNOTSUPP)
		NFSAPPEND_RPC(s, wait, r, rpc_nfs3_readdir_async, &plain,
			decode_plain, &d);
	*len = d.used;
	return r;
}
