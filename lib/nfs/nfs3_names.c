/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <string.h>

#include "nfs/errors.h"
#include "nfs/nfs3_call.h"
#include "nfs/nfs3_names.h"

static diropargs3 diropargs(const struct nfsappend_fh *dir, const char *name)
{
	return (diropargs3){nfsappend_fh3(dir), (char *)name};
}

int nfsappend_nfs3_mkdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, uint32_t mode)
{
	MKDIR3args args = {.where = diropargs(dir, name)};

	args.attributes.mode.set_it = 1;
	args.attributes.mode.set_mode3_u.mode = mode;
	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(MKDIR, &args, nfsappend_status3, NULL));
}

/* RFC 1813 3.3.10, up to the path, which may be longer than all of a call. */
static uint32_t encode_symlink(ZDR *zdr, SYMLINK3args *args)
{
	u_int len = (u_int)strlen(args->symlink.symlink_data);

	return zdr_diropargs3(zdr, &args->where) &&
		zdr_sattr3(zdr, &args->symlink.symlink_attributes) &&
		zdr_u_int(zdr, &len);
}

int nfsappend_nfs3_symlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, const char *target)
{
	SYMLINK3args args = {.where = diropargs(dir, name)};
	struct nfsappend_exchange x =
		NFSAPPEND_CALL3(SYMLINK, &args, nfsappend_status3, NULL);

	args.symlink.symlink_attributes.mode.set_it = 1;
	args.symlink.symlink_attributes.mode.set_mode3_u.mode = 0777;
	args.symlink.symlink_data = (char *)target;
	x.encode = (zdrproc_t)encode_symlink;
	x.data = target;
	x.len = (uint32_t)strlen(target);
	return nfsappend_exchange(s, wait, &x);
}

int nfsappend_nfs3_link(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *file,
	const struct nfsappend_fh *dir, const char *name)
{
	LINK3args args = {.file = nfsappend_fh3(file),
		.link = diropargs(dir, name)};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(LINK, &args, nfsappend_status3, NULL));
}

int nfsappend_nfs3_remove(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	REMOVE3args args = {.object = diropargs(dir, name)};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(REMOVE, &args, nfsappend_status3, NULL));
}

int nfsappend_nfs3_rmdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	RMDIR3args args = {.object = diropargs(dir, name)};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(RMDIR, &args, nfsappend_status3, NULL));
}

int nfsappend_nfs3_rename(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *from_dir,
	const char *from, const struct nfsappend_fh *to_dir, const char *to)
{
	RENAME3args args = {.from = diropargs(from_dir, from),
		.to = diropargs(to_dir, to)};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(RENAME, &args, nfsappend_status3, NULL));
}

#define FATTR3_BYTES 84 /* RFC 1813 section 2.6 */

/* RFC 1813 3.3.18. */
static int decode_fsstat(struct nfsappend_results *r, void *out)
{
	struct nfsappend_space *space = out;
	uint32_t status = nfsappend_get32(r);

	if (status != NFS3_OK)
		return r->bad ? NFSAPPEND_LOST
			      : nfsappend_errno3((int)status);
	if (nfsappend_get32(r) != 0)
		nfsappend_get_fixed(r, FATTR3_BYTES);
	space->total = nfsappend_get64(r);
	space->free = nfsappend_get64(r);
	space->avail = nfsappend_get64(r);
	space->files = nfsappend_get64(r);
	space->files_free = nfsappend_get64(r);
	space->files_avail = nfsappend_get64(r);
	return r->bad ? NFSAPPEND_LOST : 0;
}

int nfsappend_nfs3_statfs(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	struct nfsappend_space *space)
{
	FSSTAT3args args = {.fsroot = nfsappend_fh3(fh)};

	return nfsappend_exchange(s, wait,
		&NFSAPPEND_CALL3(FSSTAT, &args, decode_fsstat, space));
}
