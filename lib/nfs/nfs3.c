/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv3, RFC 1813: one function a procedure, one attempt a call. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <nfsc/libnfs-raw-nfs.h>

#include "nfs/errors.h"
#include "nfs/exchange.h"
#include "nfs/nfs3.h"
#include "nfs/session.h"

nfs_fh3 nfsappend_fh3(const struct nfsappend_fh *fh)
{
	nfs_fh3 f;

	f.data.data_len = fh->len;
	f.data.data_val = (char *)fh->data;
	return f;
}

/* A handle from the server: 1 to 64 bytes (NFS3_FHSIZE). */
static int take_fh(const nfs_fh3 *from, struct nfsappend_fh *to)
{
	if (from->data.data_len == 0 || from->data.data_len > NFS3_FHSIZE)
		return NFSAPPEND_LOST;
	to->len = from->data.data_len;
	memcpy(to->data, from->data.data_val, to->len);
	return 0;
}

static struct timespec take_time(const nfstime3 *t)
{
	return (struct timespec){t->seconds, t->nseconds};
}

void nfsappend_attr3(const fattr3 *from, struct nfsappend_attr *to)
{
	*to = (struct nfsappend_attr){
		.type = from->type,
		.mode = from->mode & 07777,
		.nlink = from->nlink,
		.uid = from->uid,
		.gid = from->gid,
		.size = from->size,
		.used = from->used,
		.rdev = (uint64_t)from->rdev.specdata1 << 32 |
			from->rdev.specdata2,
		.fsid = from->fsid,
		.fileid = from->fileid,
		.atime = take_time(&from->atime),
		.mtime = take_time(&from->mtime),
		.ctime = take_time(&from->ctime),
	};
}

static int decode_getattr(void *data, void *out)
{
	GETATTR3res *res = data;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	nfsappend_attr3(&res->GETATTR3res_u.resok.obj_attributes, out);
	return 0;
}

int nfsappend_nfs3_getattr(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	GETATTR3args args = {.object = nfsappend_fh3(fh)};
	GETATTR3res res = {0};
	struct nfsappend_exchange x = {.program = NFS_PROGRAM,
		.version = NFS_V3,
		.procedure = NFS3_GETATTR,
		.encode = (zdrproc_t)zdr_GETATTR3args,
		.args = &args,
		.results = (zdrproc_t)zdr_GETATTR3res,
		.res = &res,
		.decode = decode_getattr,
		.out = attr};

	return nfsappend_exchange(s, wait, &x);
}

static int decode_setattr(void *data, void *out)
{
	SETATTR3res *res = data;

	(void)out;
	return nfsappend_errno3(res->status);
}

int nfsappend_nfs3_setattr(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	unsigned set, const struct nfsappend_attr *attr)
{
	SETATTR3args args = {.object = nfsappend_fh3(fh)};
	sattr3 *a = &args.new_attributes;
	int r;

	a->mode.set_it = !!(set & NFSAPPEND_SET_MODE);
	a->mode.set_mode3_u.mode = attr->mode;
	a->uid.set_it = !!(set & NFSAPPEND_SET_UID);
	a->uid.set_uid3_u.uid = attr->uid;
	a->gid.set_it = !!(set & NFSAPPEND_SET_GID);
	a->gid.set_gid3_u.gid = attr->gid;
	a->size.set_it = !!(set & NFSAPPEND_SET_SIZE);
	a->size.set_size3_u.size = attr->size;
	a->atime.set_it = set & NFSAPPEND_SET_ATIME ? SET_TO_CLIENT_TIME
		: set & NFSAPPEND_SET_ATIME_NOW	    ? SET_TO_SERVER_TIME
						    : DONT_CHANGE;
	a->atime.set_atime_u.atime.seconds = (u_int)attr->atime.tv_sec;
	a->atime.set_atime_u.atime.nseconds = (u_int)attr->atime.tv_nsec;
	a->mtime.set_it = set & NFSAPPEND_SET_MTIME ? SET_TO_CLIENT_TIME
		: set & NFSAPPEND_SET_MTIME_NOW	    ? SET_TO_SERVER_TIME
						    : DONT_CHANGE;
	a->mtime.set_mtime_u.mtime.seconds = (u_int)attr->mtime.tv_sec;
	a->mtime.set_mtime_u.mtime.nseconds = (u_int)attr->mtime.tv_nsec;
	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_setattr_async, &args,
		decode_setattr, NULL);
	return r;
}

struct found {
	struct nfsappend_fh *fh;
	struct nfsappend_attr *attr;
	bool has_attr;
};

static int decode_lookup(void *data, void *out)
{
	LOOKUP3res *res = data;
	LOOKUP3resok *ok = &res->LOOKUP3res_u.resok;
	struct found *f = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	f->has_attr = ok->obj_attributes.attributes_follow;
	if (f->has_attr)
		nfsappend_attr3(&ok->obj_attributes.post_op_attr_u.attributes,
			f->attr);
	return take_fh(&ok->object, f->fh);
}

int nfsappend_nfs3_lookup(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	LOOKUP3args args = {.what = {nfsappend_fh3(dir), (char *)name}};
	struct found f = {fh, attr, false};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_lookup_async, &args, decode_lookup,
		&f);
	if (r == 0 && !f.has_attr)
		r = nfsappend_nfs3_getattr(s, wait, fh, attr);
	return r;
}

static int decode_access(void *data, void *out)
{
	ACCESS3res *res = data;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	*(uint32_t *)out = res->ACCESS3res_u.resok.access;
	return 0;
}

int nfsappend_nfs3_access(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint32_t asked, uint32_t *granted)
{
	ACCESS3args args = {.object = nfsappend_fh3(fh), .access = asked};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_access_async, &args, decode_access,
		granted);
	return r;
}

struct text {
	char *buf;
	size_t len;
};

static int decode_readlink(void *data, void *out)
{
	READLINK3res *res = data;
	struct text *t = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	if (res->READLINK3res_u.resok.data == NULL)
		return NFSAPPEND_LOST;
	if (strlen(res->READLINK3res_u.resok.data) >= t->len)
		return -ENAMETOOLONG;
	strcpy(t->buf, res->READLINK3res_u.resok.data);
	return 0;
}

int nfsappend_nfs3_readlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh, char *buf,
	size_t len)
{
	READLINK3args args = {.symlink = nfsappend_fh3(fh)};
	struct text t = {buf, len};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_readlink_async, &args,
		decode_readlink, &t);
	return r;
}

static int decode_create(void *data, void *out)
{
	CREATE3res *res = data;
	CREATE3resok *ok = &res->CREATE3res_u.resok;
	struct found *f = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	f->has_attr = ok->obj_attributes.attributes_follow;
	if (f->has_attr)
		nfsappend_attr3(&ok->obj_attributes.post_op_attr_u.attributes,
			f->attr);
	if (!ok->obj.handle_follows)
		return 0;
	return take_fh(&ok->obj.post_op_fh3_u.handle, f->fh);
}

int nfsappend_nfs3_create(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, enum nfsappend_create how, uint32_t mode,
	uint64_t verifier, struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	CREATE3args args = {.where = {nfsappend_fh3(dir), (char *)name}};
	struct found f = {fh, attr, false};
	int r;

	if (how == NFSAPPEND_EXCLUSIVE) {
		args.how.mode = EXCLUSIVE;
		memcpy(args.how.createhow3_u.verf, &verifier,
			NFS3_CREATEVERFSIZE);
	} else {
		args.how.mode = UNCHECKED;
		args.how.createhow3_u.obj_attributes.mode.set_it = 1;
		args.how.createhow3_u.obj_attributes.mode.set_mode3_u.mode =
			mode;
	}
	fh->len = 0;
	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_create_async, &args, decode_create,
		&f);
	if (r == 0 && fh->len != 0 && !f.has_attr)
		r = nfsappend_nfs3_getattr(s, wait, fh, attr);
	return r;
}

struct reading {
	uint8_t *buf;
	uint32_t len;
	bool *eof;
};

static int decode_read(void *data, void *out)
{
	READ3res *res = data;
	READ3resok *ok = &res->READ3res_u.resok;
	struct reading *r = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	if (ok->data.data_len > r->len)
		return NFSAPPEND_LOST;
	memcpy(r->buf, ok->data.data_val, ok->data.data_len);
	r->len = ok->data.data_len;
	*r->eof = ok->eof;
	return 0;
}

int nfsappend_nfs3_read(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, void *buf, uint32_t *len, bool *eof)
{
	READ3args args = {.file = nfsappend_fh3(fh), .offset = offset, .count = *len};
	struct reading in = {buf, *len, eof};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_read_async, &args, decode_read,
		&in);
	if (r == 0)
		*len = in.len;
	return r;
}

struct writing {
	uint32_t len;
	struct nfsappend_written *written;
};

static int decode_write(void *data, void *out)
{
	WRITE3res *res = data;
	WRITE3resok *ok = &res->WRITE3res_u.resok;
	struct writing *w = out;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	/* RFC 1813 3.3.7: at most what was asked; nothing at all would have
	 * us ask for ever. */
	if (ok->count == 0 || ok->count > w->len ||
		ok->committed > FILE_SYNC)
		return NFSAPPEND_LOST;
	w->written->count = ok->count;
	w->written->committed = ok->committed;
	memcpy(&w->written->verifier, ok->verf, NFS3_WRITEVERFSIZE);
	w->written->has_size = ok->file_wcc.after.attributes_follow;
	if (w->written->has_size)
		w->written->size = ok->file_wcc.after.post_op_attr_u
					   .attributes.size;
	return 0;
}

/* RFC 1813 3.3.7, up to the data. */
static uint32_t encode_write(ZDR *zdr, WRITE3args *args)
{
	return zdr_nfs_fh3(zdr, &args->file) &&
		zdr_offset3(zdr, &args->offset) &&
		zdr_count3(zdr, &args->count) &&
		zdr_stable_how(zdr, &args->stable);
}

int nfsappend_nfs3_write(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, const void *buf, uint32_t len,
	struct nfsappend_written *written)
{
	WRITE3args args = {
		.file = nfsappend_fh3(fh),
		.offset = offset,
		.count = len,
		.stable = FILE_SYNC,
	};
	WRITE3res res = {0};
	struct writing w = {len, written};
	struct nfsappend_exchange x = {.program = NFS_PROGRAM,
		.version = NFS_V3,
		.procedure = NFS3_WRITE,
		.encode = (zdrproc_t)encode_write,
		.args = &args,
		.data = buf,
		.len = len,
		.results = (zdrproc_t)zdr_WRITE3res,
		.res = &res,
		.decode = decode_write,
		.out = &w};
	uint32_t before = wait->rpcs;
	int r = nfsappend_exchange(s, wait, &x);

	wait->write_rpcs += wait->rpcs - before;
	return r;
}

static int decode_commit(void *data, void *out)
{
	COMMIT3res *res = data;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	memcpy(out, res->COMMIT3res_u.resok.verf, NFS3_WRITEVERFSIZE);
	return 0;
}

int nfsappend_nfs3_commit(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, uint32_t len, uint64_t *verifier)
{
	COMMIT3args args = {.file = nfsappend_fh3(fh), .offset = offset, .count = len};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_commit_async, &args, decode_commit,
		verifier);
	return r;
}
