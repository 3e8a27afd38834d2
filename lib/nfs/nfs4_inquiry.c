/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What no append needs and an administrator asks for: the lease, and who has
 * a file locked. */
#include "config.h"

#include <string.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

#include "nfs/errors.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_wire.h"

#define WRITE_LT 2 /* nfs_lock_type4; READ_LT and READW_LT are odd */

struct told {
	struct nfsappend_attr attr;
	struct nfsappend_server_attr server;
};

static int decode_lease(struct nfsappend_results *r, void *out)
{
	struct told *told = out;
	int e = nfsappend_expect(r, NFSAPPEND_OP_PUTFH);

	if (e == 0)
		e = nfsappend_expect(r, NFSAPPEND_OP_GETATTR);
	if (e == 0)
		nfsappend_get_attr(r, &told->attr, &told->server);
	return e;
}

int nfsappend_nfs4_lease(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint32_t *seconds)
{
	struct told told = {.server = {.lease_s = 0}};
	struct nfsappend_ops o;
	int r;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, fh);
	nfsappend_op_getattr_server(&o);
	r = nfsappend_compound(s, wait, &o, decode_lease, &told);
	*seconds = told.server.lease_s;
	return r;
}

/* LOCKT, RFC 7530 section 16.11. */
static int decode_holder(struct nfsappend_results *r, void *out)
{
	struct nfsappend_lock_holder *holder = out;
	uint32_t op, status, len;
	int e = nfsappend_expect(r, NFSAPPEND_OP_PUTFH);

	if (e != 0)
		return e;
	if (!nfsappend_next(r, &op, &status) || op != NFSAPPEND_OP_LOCKT)
		return NFSAPPEND_LOST;
	holder->found = status == NFS4ERR_DENIED;
	if (!holder->found)
		return nfsappend_errno4(status);
	holder->offset = nfsappend_get64(r);
	holder->length = nfsappend_get64(r);
	holder->write = nfsappend_get32(r) % 2 == 0;
	holder->clientid = nfsappend_get64(r);
	nfsappend_get_opaque(r, 1024, &len);
	return 0;
}

int nfsappend_nfs4_lock_holder(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_client *client,
	const struct nfsappend_fh *fh, struct nfsappend_lock_holder *holder)
{
	struct nfsappend_ops o;

	memset(holder, 0, sizeof *holder);
	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_LOCKT);
	nfsappend_put32(&o, WRITE_LT);
	nfsappend_put64(&o, 0);
	nfsappend_put64(&o, UINT64_MAX); /* to the end, wherever that is */
	nfsappend_put64(&o, client->clientid);
	nfsappend_put_opaque(&o, client->id, sizeof client->id);
	return nfsappend_compound(s, wait, &o, decode_holder, holder);
}
