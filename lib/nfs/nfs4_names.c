/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names in directories, NFSv4.0 (RFC 7530 sections 16.4, 16.9, 16.25 and
 * 16.26). */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

#include "nfs/errors.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_wire.h"

static void begin(struct nfsappend_ops *o, const struct nfsappend_fh *fh)
{
	nfsappend_ops_begin(o);
	nfsappend_op_putfh(o, fh);
}

static void put_name(struct nfsappend_ops *o, const char *name)
{
	nfsappend_put_opaque(o, name, (uint32_t)strlen(name));
}

/* The operations of a compound that has no result to keep: 0 when all of
 * them succeeded. out: what a failed VERIFY or NVERIFY means. */
static int decode_all(void *results, void *out)
{
	struct nfsappend_results *r = results;
	uint32_t op = 0, status = r->status;

	/* The compound's status is that of its last operation (section
	 * 15.2.4); what the others returned is of no interest. */
	if (r->left > 0) {
		nfsappend_next(r, &op, &status);
		r->left = 0;
	}
	if (r->status == NFS4ERR_NOT_SAME || r->status == NFS4ERR_SAME)
		return *(const int *)out;
	return nfsappend_errno4(r->status);
}

static int run(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_ops *o, int mismatch)
{
	return nfsappend_compound(s, wait, o, decode_all, &mismatch);
}

int nfsappend_nfs4_mkdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, uint32_t mode)
{
	struct nfsappend_attr attr = {.mode = mode};
	struct nfsappend_ops o;

	begin(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_CREATE);
	nfsappend_put32(&o, NF4DIR);
	put_name(&o, name);
	nfsappend_put_attr(&o, NFSAPPEND_SET_MODE, &attr);
	return run(s, wait, &o, -EIO);
}

int nfsappend_nfs4_symlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, const char *target)
{
	struct nfsappend_attr attr = {.mode = 0777};
	struct nfsappend_ops o;

	begin(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_CREATE);
	nfsappend_put32(&o, NF4LNK);
	/* Longer than there is room for names: by reference, as data. */
	nfsappend_put32(&o, (uint32_t)strlen(target));
	o.data = target;
	o.data_len = (uint32_t)strlen(target);
	o.data_at = o.n;
	put_name(&o, name);
	nfsappend_put_attr(&o, NFSAPPEND_SET_MODE, &attr);
	return run(s, wait, &o, -EIO);
}

int nfsappend_nfs4_link(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *file,
	const struct nfsappend_fh *dir, const char *name)
{
	struct nfsappend_ops o;

	begin(&o, file);
	nfsappend_op(&o, NFSAPPEND_OP_SAVEFH);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_LINK);
	put_name(&o, name);
	return run(s, wait, &o, -EIO);
}

/* REMOVE takes files and directories alike (section 16.25); unlink(2) and
 * rmdir(2) do not, so the type is compared before. */
static int remove_typed(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, uint32_t compare, int mismatch)
{
	struct nfsappend_ops o;

	begin(&o, dir);
	nfsappend_op_lookup(&o, name);
	nfsappend_op(&o, compare);
	nfsappend_put32(&o, 1);
	nfsappend_put32(&o, UINT32_C(1) << FATTR4_TYPE);
	nfsappend_put32(&o, 4);
	nfsappend_put32(&o, NF4DIR);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_REMOVE);
	put_name(&o, name);
	return run(s, wait, &o, mismatch);
}

int nfsappend_nfs4_remove(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	return remove_typed(s, wait, dir, name, NFSAPPEND_OP_NVERIFY, -EISDIR);
}

int nfsappend_nfs4_rmdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	return remove_typed(s, wait, dir, name, NFSAPPEND_OP_VERIFY, -ENOTDIR);
}

int nfsappend_nfs4_rename(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *from_dir,
	const char *from, const struct nfsappend_fh *to_dir, const char *to)
{
	struct nfsappend_ops o;

	begin(&o, from_dir);
	nfsappend_op(&o, NFSAPPEND_OP_SAVEFH);
	nfsappend_op_putfh(&o, to_dir);
	nfsappend_op(&o, NFSAPPEND_OP_RENAME);
	put_name(&o, from);
	put_name(&o, to);
	return run(s, wait, &o, -EIO);
}
