/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_names.h"
#include "nfs/nfs4_wire.h"

enum { NF4DIR = 2, NF4LNK = 5 }; /* nfs_ftype4 */

static void put_name(struct nfsappend_ops *o, const char *name)
{
	nfsappend_put_opaque(o, name, (uint32_t)strlen(name));
}

/* PUTFH of one directory, then the operation that *out names. */
static int decode_one(struct nfsappend_results *results, void *out)
{
	int e = nfsappend_expect(results, NFSAPPEND_OP_PUTFH);

	return e != 0 ? e : nfsappend_expect(results, *(uint32_t *)out);
}

/* PUTFH, SAVEFH, then as above. */
static int decode_two(struct nfsappend_results *results, void *out)
{
	int e = nfsappend_expect(results, NFSAPPEND_OP_PUTFH);

	if (e == 0)
		e = nfsappend_expect(results, NFSAPPEND_OP_SAVEFH);
	return e != 0 ? e : decode_one(results, out);
}

static int one(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_ops *o, uint32_t op)
{
	return nfsappend_compound(s, wait, o, decode_one, &op);
}

static int two(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_ops *o, uint32_t op)
{
	return nfsappend_compound(s, wait, o, decode_two, &op);
}

int nfsappend_nfs4_mkdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, uint32_t mode)
{
	struct nfsappend_attr attr = {.mode = mode};
	struct nfsappend_ops o;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_CREATE);
	nfsappend_put32(&o, NF4DIR);
	put_name(&o, name);
	nfsappend_put_attr(&o, NFSAPPEND_SET_MODE, &attr);
	return one(s, wait, &o, NFSAPPEND_OP_CREATE);
}

int nfsappend_nfs4_symlink(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name, const char *target)
{
	struct nfsappend_attr attr = {.mode = 0777};
	struct nfsappend_ops o;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_CREATE);
	nfsappend_put32(&o, NF4LNK);
	put_name(&o, target);
	put_name(&o, name);
	nfsappend_put_attr(&o, NFSAPPEND_SET_MODE, &attr);
	if (o.overflow)
		return -ENAMETOOLONG;
	return one(s, wait, &o, NFSAPPEND_OP_CREATE);
}

int nfsappend_nfs4_link(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *file,
	const struct nfsappend_fh *dir, const char *name)
{
	struct nfsappend_ops o;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, file);
	nfsappend_op(&o, NFSAPPEND_OP_SAVEFH);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_LINK);
	put_name(&o, name);
	return two(s, wait, &o, NFSAPPEND_OP_LINK);
}

int nfsappend_nfs4_remove(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	struct nfsappend_ops o;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, dir);
	nfsappend_op(&o, NFSAPPEND_OP_REMOVE);
	put_name(&o, name);
	return one(s, wait, &o, NFSAPPEND_OP_REMOVE);
}

int nfsappend_nfs4_rmdir(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *dir,
	const char *name)
{
	return nfsappend_nfs4_remove(s, wait, dir, name);
}

int nfsappend_nfs4_rename(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *from_dir,
	const char *from, const struct nfsappend_fh *to_dir, const char *to)
{
	struct nfsappend_ops o;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, from_dir);
	nfsappend_op(&o, NFSAPPEND_OP_SAVEFH);
	nfsappend_op_putfh(&o, to_dir);
	nfsappend_op(&o, NFSAPPEND_OP_RENAME);
	put_name(&o, from);
	put_name(&o, to);
	return two(s, wait, &o, NFSAPPEND_OP_RENAME);
}

/* RFC 7530 section 5.8.2: the attributes, in the order of their numbers. */
#define FILES_WORD0 (UINT32_C(7) << 21) /* files_avail, _free, _total */
#define SPACE_WORD1 (UINT32_C(7) << (42 - 32)) /* space_avail, _free, _total */

static int decode_statfs(struct nfsappend_results *results, void *out)
{
	struct nfsappend_space *space = out;
	struct nfsappend_results *r = results;
	uint64_t *fields[] = {&space->files_avail, &space->files_free,
		&space->files, &space->avail, &space->free, &space->total};
	uint32_t op = NFSAPPEND_OP_GETATTR, words, mask[2] = {0, 0};
	int e = decode_one(results, &op);

	if (e != 0)
		return e;
	words = nfsappend_get32(r);
	for (uint32_t i = 0; i < words && !r->bad; i++) {
		uint32_t m = nfsappend_get32(r);

		if (i < 2)
			mask[i] = m;
	}
	nfsappend_get32(r); /* bytes that follow */
	if (mask[0] & ~FILES_WORD0 || mask[1] & ~SPACE_WORD1)
		return NFSAPPEND_LOST;
	memset(space, 0, sizeof *space);
	for (int i = 0; i < 6; i++) {
		bool has = i < 3 ? mask[0] >> (21 + i) & 1
				 : mask[1] >> (10 + i - 3) & 1;

		if (has)
			*fields[i] = nfsappend_get64(r);
	}
	return 0;
}

int nfsappend_nfs4_statfs(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	struct nfsappend_space *space)
{
	struct nfsappend_ops o;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, fh);
	nfsappend_op(&o, NFSAPPEND_OP_GETATTR);
	nfsappend_put32(&o, 2);
	nfsappend_put32(&o, FILES_WORD0);
	nfsappend_put32(&o, SPACE_WORD1);
	return nfsappend_compound(s, wait, &o, decode_statfs, space);
}
