/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "nfs/errors.h"
#include "nfs/nfs3_reply.h"

#define FHSIZE 64 /* NFS3_FHSIZE */

static int status(struct nfsappend_results *r)
{
	return nfsappend_errno3((int)nfsappend_get32(r));
}

static bool get_bool(struct nfsappend_results *r)
{
	return nfsappend_get32(r) != 0;
}

static struct timespec get_time(struct nfsappend_results *r)
{
	struct timespec t;

	t.tv_sec = nfsappend_get32(r);
	t.tv_nsec = nfsappend_get32(r);
	return t;
}

/* fattr3 */
static void get_attr(struct nfsappend_results *r, struct nfsappend_attr *a)
{
	a->type = nfsappend_get32(r);
	a->mode = nfsappend_get32(r) & 07777;
	a->nlink = nfsappend_get32(r);
	a->uid = nfsappend_get32(r);
	a->gid = nfsappend_get32(r);
	a->size = nfsappend_get64(r);
	a->used = nfsappend_get64(r);
	a->rdev = nfsappend_get64(r); /* specdata1, specdata2 */
	a->fsid = nfsappend_get64(r);
	a->fileid = nfsappend_get64(r);
	a->atime = get_time(r);
	a->mtime = get_time(r);
	a->ctime = get_time(r);
}

/* post_op_attr */
static bool get_post_op(struct nfsappend_results *r, struct nfsappend_attr *a)
{
	bool follow = get_bool(r);

	if (follow)
		get_attr(r, a);
	return follow;
}

/* wcc_data */
static bool get_wcc(struct nfsappend_results *r, struct nfsappend_attr *after)
{
	if (get_bool(r))
		nfsappend_get_fixed(r, 24); /* size, mtime, ctime before */
	return get_post_op(r, after);
}

int nfsappend_getattr3(struct nfsappend_results *r, void *out)
{
	int e = status(r);

	if (e == 0)
		get_attr(r, out);
	return e;
}

int nfsappend_status3(struct nfsappend_results *r, void *out)
{
	(void)out;
	return status(r);
}

int nfsappend_lookup3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_found3 *f = out;
	int e = status(r);

	if (e != 0)
		return e;
	nfsappend_get_fh(r, FHSIZE, f->fh);
	f->has_attr = get_post_op(r, f->attr);
	return 0;
}

int nfsappend_create3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_found3 *f = out;
	int e = status(r);

	if (e != 0)
		return e;
	if (get_bool(r))
		nfsappend_get_fh(r, FHSIZE, f->fh);
	f->has_attr = get_post_op(r, f->attr);
	return 0;
}

int nfsappend_access3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_attr unused;
	int e = status(r);

	if (e != 0)
		return e;
	get_post_op(r, &unused);
	*(uint32_t *)out = nfsappend_get32(r);
	return 0;
}

int nfsappend_readlink3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_path3 *path = out;
	struct nfsappend_attr unused;
	int e = status(r);

	if (e != 0)
		return e;
	get_post_op(r, &unused);
	return nfsappend_get_path(r, path->buf, path->len);
}

int nfsappend_read3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_read3 *in = out;
	struct nfsappend_attr unused;
	const uint8_t *data;
	uint32_t len;
	int e = status(r);

	if (e != 0)
		return e;
	get_post_op(r, &unused);
	nfsappend_get32(r); /* count: the length of the data says it again */
	*in->eof = get_bool(r);
	data = nfsappend_get_opaque(r, in->len, &len);
	if (data == NULL)
		return NFSAPPEND_LOST;
	memcpy(in->buf, data, len);
	in->len = len;
	return 0;
}

int nfsappend_write3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_write3 *w = out;
	struct nfsappend_attr after;
	int e = status(r);

	if (e != 0)
		return e;
	w->written->has_size = get_wcc(r, &after);
	if (w->written->has_size)
		w->written->size = after.size;
	nfsappend_get_written(r, w->len, w->written);
	return 0;
}

int nfsappend_commit3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_attr unused;
	const uint8_t *verifier;
	int e = status(r);

	if (e != 0)
		return e;
	get_wcc(r, &unused);
	verifier = nfsappend_get_fixed(r, 8);
	if (verifier != NULL)
		memcpy(out, verifier, 8);
	return 0;
}

int nfsappend_fsinfo3(struct nfsappend_results *r, void *out)
{
	struct nfsappend_fsinfo3 *info = out;
	struct nfsappend_attr unused;
	int e = status(r);

	if (e != 0)
		return e;
	get_post_op(r, &unused);
	info->rtmax = nfsappend_get32(r);
	nfsappend_get32(r); /* rtpref */
	nfsappend_get32(r); /* rtmult */
	info->wtmax = nfsappend_get32(r);
	return 0;
}

int nfsappend_mnt3(struct nfsappend_results *r, void *out)
{
	int e = nfsappend_errno_mount3((int)nfsappend_get32(r));

	if (e == 0)
		nfsappend_get_fh(r, FHSIZE, out);
	return e; /* the flavors that follow are the server's to enforce */
}
