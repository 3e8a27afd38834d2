/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfs/exchange.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_owner.h"

enum { /* RFC 7530 sections 5.6 and 5.7 */
	TYPE = 1,
	SIZE = 4,
	FSID = 8,
	LEASE_TIME = 10,
	FILEID = 20,
	MAXREAD = 30,
	MAXWRITE = 31,
	MODE = 33,
	NUMLINKS = 35,
	OWNER = 36,
	OWNER_GROUP = 37,
	RAWDEV = 41,
	SPACE_USED = 45,
	TIME_ACCESS = 47,
	TIME_ACCESS_SET = 48,
	TIME_METADATA = 52,
	TIME_MODIFY = 53,
	TIME_MODIFY_SET = 54,
};

#define BIT(n) (UINT32_C(1) << ((n) % 32))
#define WORD0 (BIT(TYPE) | BIT(SIZE) | BIT(FSID) | BIT(FILEID))
#define WORD0_SERVER (BIT(LEASE_TIME) | BIT(MAXREAD) | BIT(MAXWRITE))
#define WORD1                                                                  \
	(BIT(MODE) | BIT(NUMLINKS) | BIT(OWNER) | BIT(OWNER_GROUP) |           \
		BIT(RAWDEV) | BIT(SPACE_USED) | BIT(TIME_ACCESS) |             \
		BIT(TIME_METADATA) | BIT(TIME_MODIFY))

static void request(struct nfsappend_ops *o, uint32_t word0)
{
	nfsappend_op(o, NFSAPPEND_OP_GETATTR);
	o->reply_max = NFSAPPEND_REPLY_LONG; /* names of owners */
	nfsappend_put32(o, 2);
	nfsappend_put32(o, word0);
	nfsappend_put32(o, WORD1);
}

void nfsappend_op_getattr(struct nfsappend_ops *o)
{
	request(o, WORD0);
}

void nfsappend_op_getattr_server(struct nfsappend_ops *o)
{
	request(o, WORD0 | WORD0_SERVER);
}

static struct timespec get_time(struct nfsappend_results *r)
{
	struct timespec t;

	t.tv_sec = (time_t)nfsappend_get64(r);
	t.tv_nsec = nfsappend_get32(r);
	if (t.tv_nsec >= 1000000000)
		r->bad = true;
	return t;
}

static uint32_t get_owner(struct nfsappend_results *r,
	uint32_t (*translate)(const char *, uint32_t))
{
	uint32_t len;
	const uint8_t *p = nfsappend_get_opaque(r, 1024, &len);

	return p != NULL ? translate((const char *)p, len) : 0;
}

/* One attribute; in the order of their numbers (RFC 7531, fattr4). */
static void get_one(struct nfsappend_results *r, unsigned n,
	struct nfsappend_attr *a, struct nfsappend_server_attr *s)
{
	switch (n) {
	case TYPE:
		a->type = nfsappend_get32(r);
		break;
	case SIZE:
		a->size = nfsappend_get64(r);
		break;
	case FSID:
		a->fsid = nfsappend_get64(r);
		a->fsid ^= nfsappend_get64(r) << 32;
		break;
	case LEASE_TIME:
		s->lease_s = nfsappend_get32(r);
		break;
	case FILEID:
		a->fileid = nfsappend_get64(r);
		break;
	case MAXREAD:
		s->maxread = nfsappend_get64(r);
		break;
	case MAXWRITE:
		s->maxwrite = nfsappend_get64(r);
		break;
	case MODE:
		a->mode = nfsappend_get32(r) & 07777;
		break;
	case NUMLINKS:
		a->nlink = nfsappend_get32(r);
		break;
	case OWNER:
		a->uid = get_owner(r, nfsappend_owner_uid);
		break;
	case OWNER_GROUP:
		a->gid = get_owner(r, nfsappend_owner_gid);
		break;
	case RAWDEV:
		a->rdev = (uint64_t)nfsappend_get32(r) << 32;
		a->rdev |= nfsappend_get32(r);
		break;
	case SPACE_USED:
		a->used = nfsappend_get64(r);
		break;
	case TIME_ACCESS:
		a->atime = get_time(r);
		break;
	case TIME_METADATA:
		a->ctime = get_time(r);
		break;
	case TIME_MODIFY:
		a->mtime = get_time(r);
		break;
	default: /* not asked for: its length is not known */
		r->bad = true;
		break;
	}
}

void nfsappend_get_attr(struct nfsappend_results *r, struct nfsappend_attr *a,
	struct nfsappend_server_attr *server)
{
	struct nfsappend_server_attr unused;
	uint32_t words = nfsappend_get32(r), mask[2] = {0, 0}, len;
	const uint8_t *end;

	memset(a, 0, sizeof *a);
	if (words > 8) {
		r->bad = true;
		return;
	}
	for (uint32_t i = 0; i < words; i++) {
		uint32_t m = nfsappend_get32(r);

		if (i < 2)
			mask[i] = m;
		else if (m != 0)
			r->bad = true;
	}
	len = nfsappend_get32(r);
	if (r->bad || len > (size_t)(r->end - r->p) || !(mask[0] & BIT(TYPE)) ||
		!(mask[0] & BIT(SIZE))) {
		r->bad = true;
		return;
	}
	end = r->p + len;
	a->mode = 0600; /* where the server keeps none */
	a->nlink = 1;
	for (unsigned n = 0; n < 64 && !r->bad; n++)
		if (mask[n / 32] & BIT(n))
			get_one(r, n, a, server != NULL ? server : &unused);
	if (r->p != end)
		r->bad = true;
}

/* Where both ends know users by number (RFC 7530 section 5.9). */
static void put_number(struct nfsappend_ops *o, uint32_t id)
{
	char text[12];
	int n = snprintf(text, sizeof text, "%u", id);

	nfsappend_put_opaque(o, text, (uint32_t)n);
}

static void put_time(
	struct nfsappend_ops *o, bool client, const struct timespec *t)
{
	nfsappend_put32(o, client); /* SET_TO_SERVER_TIME4 is 0 */
	if (!client)
		return;
	nfsappend_put64(o, (uint64_t)t->tv_sec);
	nfsappend_put32(o, (uint32_t)t->tv_nsec);
}

void nfsappend_put_attr(
	struct nfsappend_ops *o, unsigned set, const struct nfsappend_attr *a)
{
	struct nfsappend_ops values;
	uint32_t word0 = 0, word1 = 0;

	nfsappend_ops_begin(&values);
	if (set & NFSAPPEND_SET_SIZE) {
		word0 |= BIT(SIZE);
		nfsappend_put64(&values, a->size);
	}
	if (set & NFSAPPEND_SET_MODE) {
		word1 |= BIT(MODE);
		nfsappend_put32(&values, a->mode);
	}
	if (set & NFSAPPEND_SET_UID) {
		word1 |= BIT(OWNER);
		put_number(&values, a->uid);
	}
	if (set & NFSAPPEND_SET_GID) {
		word1 |= BIT(OWNER_GROUP);
		put_number(&values, a->gid);
	}
	if (set & (NFSAPPEND_SET_ATIME | NFSAPPEND_SET_ATIME_NOW)) {
		word1 |= BIT(TIME_ACCESS_SET);
		put_time(&values, set & NFSAPPEND_SET_ATIME, &a->atime);
	}
	if (set & (NFSAPPEND_SET_MTIME | NFSAPPEND_SET_MTIME_NOW)) {
		word1 |= BIT(TIME_MODIFY_SET);
		put_time(&values, set & NFSAPPEND_SET_MTIME, &a->mtime);
	}
	nfsappend_put32(o, 2);
	nfsappend_put32(o, word0);
	nfsappend_put32(o, word1);
	nfsappend_put_opaque(o, values.buf, values.n);
}
