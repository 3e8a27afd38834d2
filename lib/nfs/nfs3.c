/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv3, RFC 1813: one function a procedure, one attempt a call. */
#include "config.h"

#include <string.h>

#include "nfs/nfs3.h"
#include "nfs/nfs3_call.h"

nfs_fh3 nfsappend_fh3(const struct nfsappend_fh *fh)
{
	nfs_fh3 f;

	f.data.data_len = fh->len;
	f.data.data_val = (char *)fh->data;
	return f;
}

int nfsappend_nfs3_getattr(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	GETATTR3args args = {.object = nfsappend_fh3(fh)};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(GETATTR, &args, nfsappend_getattr3, attr));
}

/* The years from 1970 to 2106, to which the kernel's client holds, too. */
static u_int seconds_of(const struct timespec *t)
{
	if (t->tv_sec < 0)
		return 0;
	return t->tv_sec > UINT32_MAX ? UINT32_MAX : (u_int)t->tv_sec;
}

int nfsappend_nfs3_setattr(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	unsigned set, const struct nfsappend_attr *attr)
{
	SETATTR3args args = {.object = nfsappend_fh3(fh)};
	sattr3 *a = &args.new_attributes;

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
	a->atime.set_atime_u.atime.seconds = seconds_of(&attr->atime);
	a->atime.set_atime_u.atime.nseconds = (u_int)attr->atime.tv_nsec;
	a->mtime.set_it = set & NFSAPPEND_SET_MTIME ? SET_TO_CLIENT_TIME
		: set & NFSAPPEND_SET_MTIME_NOW	    ? SET_TO_SERVER_TIME
						    : DONT_CHANGE;
	a->mtime.set_mtime_u.mtime.seconds = seconds_of(&attr->mtime);
	a->mtime.set_mtime_u.mtime.nseconds = (u_int)attr->mtime.tv_nsec;
	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(SETATTR, &args, nfsappend_status3, NULL));
}

int nfsappend_nfs3_lookup(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	LOOKUP3args args = {.what = {nfsappend_fh3(dir), (char *)name}};
	struct nfsappend_found3 f = {fh, attr, false};
	int r = nfsappend_exchange(
		s, wait, &NFSAPPEND_CALL3(LOOKUP, &args, nfsappend_lookup3, &f));

	if (r == 0 && !f.has_attr)
		r = nfsappend_nfs3_getattr(s, wait, fh, attr);
	return r;
}

int nfsappend_nfs3_access(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint32_t asked, uint32_t *granted)
{
	ACCESS3args args = {.object = nfsappend_fh3(fh), .access = asked};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(ACCESS, &args, nfsappend_access3, granted));
}

int nfsappend_nfs3_readlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh, char *buf,
	size_t len)
{
	READLINK3args args = {.symlink = nfsappend_fh3(fh)};
	struct nfsappend_path3 path = {buf, len};
	struct nfsappend_exchange x =
		NFSAPPEND_CALL3(READLINK, &args, nfsappend_readlink3, &path);

	x.reply_max = NFSAPPEND_REPLY_LONG;
	return nfsappend_exchange(s, wait, &x);
}

int nfsappend_nfs3_create(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, enum nfsappend_create how, uint32_t mode,
	uint64_t verifier, struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	CREATE3args args = {.where = {nfsappend_fh3(dir), (char *)name}};
	struct nfsappend_found3 f = {fh, attr, false};
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
	r = nfsappend_exchange(
		s, wait, &NFSAPPEND_CALL3(CREATE, &args, nfsappend_create3, &f));
	if (r == 0 && fh->len != 0 && !f.has_attr)
		r = nfsappend_nfs3_getattr(s, wait, fh, attr);
	return r;
}

int nfsappend_nfs3_read(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, void *buf, uint32_t *len, bool *eof)
{
	READ3args args = {.file = nfsappend_fh3(fh),
		.offset = offset,
		.count = *len};
	struct nfsappend_read3 in = {buf, *len, eof};
	struct nfsappend_exchange x =
		NFSAPPEND_CALL3(READ, &args, nfsappend_read3, &in);
	int r;

	x.reply_max = NFSAPPEND_MESSAGE_MAX + *len;
	r = nfsappend_exchange(s, wait, &x);
	if (r == 0)
		*len = in.len;
	return r;
}

/* RFC 1813 3.3.7, up to the data. */
static uint32_t encode_write(ZDR *zdr, WRITE3args *args)
{
	return zdr_nfs_fh3(zdr, &args->file) &&
		zdr_offset3(zdr, &args->offset) &&
		zdr_count3(zdr, &args->count) &&
		zdr_stable_how(zdr, &args->stable) &&
		zdr_u_int(zdr, &args->data.data_len);
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
		.data = {.data_len = len},
	};
	struct nfsappend_write3 w = {len, written};
	struct nfsappend_exchange x =
		NFSAPPEND_CALL3(WRITE, &args, nfsappend_write3, &w);
	uint32_t before = wait->rpcs;
	int r;

	x.encode = (zdrproc_t)encode_write;
	x.data = buf;
	x.len = len;
	r = nfsappend_exchange(s, wait, &x);
	wait->write_rpcs += wait->rpcs - before;
	return r;
}

int nfsappend_nfs3_commit(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint64_t offset, uint32_t len, uint64_t *verifier)
{
	COMMIT3args args = {.file = nfsappend_fh3(fh),
		.offset = offset,
		.count = len};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(COMMIT, &args, nfsappend_commit3, verifier));
}

int nfsappend_nfs3_fsinfo(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	uint32_t *rtmax, uint32_t *wtmax)
{
	FSINFO3args args = {.fsroot = nfsappend_fh3(fh)};
	struct nfsappend_fsinfo3 info = {0, 0};
	int r = nfsappend_exchange(
		s, wait, &NFSAPPEND_CALL3(FSINFO, &args, nfsappend_fsinfo3, &info));

	*rtmax = info.rtmax;
	*wtmax = info.wtmax;
	return r;
}
