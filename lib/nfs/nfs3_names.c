/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "nfs/errors.h"
#include "nfs/nfs3.h"
#include "nfs/nfs3_names.h"
#include "nfs/session.h"

/* The results of these procedures begin with the status, and nothing behind
 * it is of use: weak cache consistency data (RFC 1813 section 2.6). */
static int decode_status(void *data, void *out)
{
	(void)out;
	return nfsappend_errno3(*(nfsstat3 *)data);
}

static diropargs3 diropargs(const struct nfsappend_fh *dir, const char *name)
{
	return (diropargs3){nfsappend_fh3(dir), (char *)name};
}

int nfsappend_nfs3_mkdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, uint32_t mode)
{
	MKDIR3args args = {.where = diropargs(dir, name)};
	int r;

	args.attributes.mode.set_it = 1;
	args.attributes.mode.set_mode3_u.mode = mode;
	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_mkdir_async, &args, decode_status,
		NULL);
	return r;
}

int nfsappend_nfs3_symlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, const char *target)
{
	SYMLINK3args args = {.where = diropargs(dir, name)};
	int r;

	args.symlink.symlink_attributes.mode.set_it = 1;
	args.symlink.symlink_attributes.mode.set_mode3_u.mode = 0777;
	args.symlink.symlink_data = (char *)target;
	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_symlink_async, &args, decode_status,
		NULL);
	return r;
}

int nfsappend_nfs3_link(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *file,
	const struct nfsappend_fh *dir, const char *name)
{
	LINK3args args = {.file = nfsappend_fh3(file),
		.link = diropargs(dir, name)};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_link_async, &args, decode_status,
		NULL);
	return r;
}

int nfsappend_nfs3_remove(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	REMOVE3args args = {.object = diropargs(dir, name)};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_remove_async, &args, decode_status,
		NULL);
	return r;
}

int nfsappend_nfs3_rmdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	RMDIR3args args = {.object = diropargs(dir, name)};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_rmdir_async, &args, decode_status,
		NULL);
	return r;
}

int nfsappend_nfs3_rename(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *from_dir,
	const char *from, const struct nfsappend_fh *to_dir, const char *to)
{
	RENAME3args args = {.from = diropargs(from_dir, from),
		.to = diropargs(to_dir, to)};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_rename_async, &args, decode_status,
		NULL);
	return r;
}

static int decode_fsstat(void *data, void *out)
{
	FSSTAT3res *res = data;
	FSSTAT3resok *ok = &res->FSSTAT3res_u.resok;

	if (res->status != NFS3_OK)
		return nfsappend_errno3(res->status);
	*(struct nfsappend_space *)out = (struct nfsappend_space){
		.total = ok->tbytes,
		.free = ok->fbytes,
		.avail = ok->abytes,
		.files = ok->tfiles,
		.files_free = ok->ffiles,
		.files_avail = ok->afiles,
	};
	return 0;
}

int nfsappend_nfs3_statfs(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	struct nfsappend_space *space)
{
	FSSTAT3args args = {.fsroot = nfsappend_fh3(fh)};
	int r;

	NFSAPPEND_RPC(s, wait, r, rpc_nfs3_fsstat_async, &args, decode_fsstat,
		space);
	return r;
}
