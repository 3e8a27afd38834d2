/* NFSv4.0 attributes (RFC 7530 section 5): get, set, compare. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "v4.h"
#include "v4state.h"

enum attr {
	A_SUPPORTED_ATTRS = 0,
	A_TYPE,
	A_FH_EXPIRE_TYPE,
	A_CHANGE,
	A_SIZE,
	A_LINK_SUPPORT,
	A_SYMLINK_SUPPORT,
	A_NAMED_ATTR,
	A_FSID,
	A_UNIQUE_HANDLES,
	A_LEASE_TIME,
	A_RDATTR_ERROR,
	A_FILEHANDLE = 19,
	A_FILEID,
	A_FILES_AVAIL,
	A_FILES_FREE,
	A_FILES_TOTAL,
	A_MAXFILESIZE = 27,
	A_MAXLINK,
	A_MAXNAME,
	A_MAXREAD,
	A_MAXWRITE,
	A_MODE = 33,
	A_NUMLINKS = 35,
	A_OWNER,
	A_OWNER_GROUP,
	A_RAWDEV = 41,
	A_SPACE_AVAIL,
	A_SPACE_FREE,
	A_SPACE_TOTAL,
	A_SPACE_USED,
	A_TIME_ACCESS = 47,
	A_TIME_ACCESS_SET,
	A_TIME_METADATA = 52,
	A_TIME_MODIFY,
	A_TIME_MODIFY_SET,
};

#define BIT(a) (1u << ((a) % 32))

static const uint32_t supported[ATTR_WORDS] = {
	0xfff | BIT(A_FILEHANDLE) | BIT(A_FILEID) | BIT(A_FILES_AVAIL) |
		BIT(A_FILES_FREE) | BIT(A_FILES_TOTAL) | BIT(A_MAXFILESIZE) |
		BIT(A_MAXLINK) | BIT(A_MAXNAME) | BIT(A_MAXREAD) |
		BIT(A_MAXWRITE),
	BIT(A_MODE) | BIT(A_NUMLINKS) | BIT(A_OWNER) | BIT(A_OWNER_GROUP) |
		BIT(A_RAWDEV) | BIT(A_SPACE_AVAIL) | BIT(A_SPACE_FREE) |
		BIT(A_SPACE_TOTAL) | BIT(A_SPACE_USED) | BIT(A_TIME_ACCESS) |
		BIT(A_TIME_ACCESS_SET) | BIT(A_TIME_METADATA) |
		BIT(A_TIME_MODIFY) | BIT(A_TIME_MODIFY_SET)};

void get_mask(struct xdr *x, struct mask *m)
{
	uint32_t i, v, n = get_u32(x);

	*m = (struct mask){0};
	for (i = 0; i < n && !x->bad; i++) {
		v = get_u32(x);
		if (i < ATTR_WORDS)
			m->w[i] = v;
		else if (v)
			m->more = true;
	}
}

void put_mask(struct buf *b, const struct mask *m)
{
	uint32_t i;

	put_u32(b, ATTR_WORDS);
	for (i = 0; i < ATTR_WORDS; i++)
		put_u32(b, m->w[i]);
}

static void put_time(struct buf *b, const struct statx_timestamp *t)
{
	put_u64(b, t->tv_sec);
	put_u32(b, t->tv_nsec);
}

static void put_id(struct buf *b, uint32_t id)
{
	char text[16];

	/* Section 5.9: the decimal form stands for the number itself. */
	snprintf(text, sizeof(text), "%u", id);
	put_string(b, text);
}

struct values { /* what attributes are made of */
	struct node *node;
	struct statx st;
	struct statvfs fs;
};

static void put_attr(
	struct call *c, struct buf *b, enum attr a, const struct values *v)
{
	const struct statx *st = &v->st;
	uint8_t fh[HANDLE_SIZE];

	switch (a) {
	case A_SUPPORTED_ATTRS:
		put_mask(b, &(struct mask){{supported[0], supported[1]}, 0});
		break;
	case A_TYPE:
		put_u32(b, file_type(st->stx_mode));
		break;
	case A_FH_EXPIRE_TYPE: /* FH4_PERSISTENT */
	case A_NAMED_ATTR:
	case A_RDATTR_ERROR:
		put_u32(b, 0);
		break;
	case A_CHANGE:
		put_u64(b, store_change(v->node, st));
		break;
	case A_SIZE:
		put_u64(b, faulty(c, F_SIZE) ? fault_value(c, F_SIZE)
					     : st->stx_size);
		break;
	case A_LINK_SUPPORT:
	case A_SYMLINK_SUPPORT:
	case A_UNIQUE_HANDLES:
		put_u32(b, 1);
		break;
	case A_FSID:
		put_u64(b, st->stx_dev_major);
		put_u64(b, st->stx_dev_minor);
		break;
	case A_LEASE_TIME:
		put_u32(b, (options.lease_ms + 999) / 1000);
		break;
	case A_FILEHANDLE:
		store_handle(v->node, fh);
		put_opaque(b, fh, sizeof(fh));
		break;
	case A_FILEID:
		put_u64(b, st->stx_ino);
		break;
	case A_FILES_AVAIL:
		put_u64(b, v->fs.f_favail);
		break;
	case A_FILES_FREE:
		put_u64(b, v->fs.f_ffree);
		break;
	case A_FILES_TOTAL:
		put_u64(b, v->fs.f_files);
		break;
	case A_MAXFILESIZE:
		put_u64(b, INT64_MAX);
		break;
	case A_MAXLINK:
		put_u32(b, 32000);
		break;
	case A_MAXNAME:
		put_u32(b, NAME_MAX);
		break;
	case A_MAXREAD:
	case A_MAXWRITE:
		put_u64(b, options.max_io);
		break;
	case A_MODE:
		put_u32(b, st->stx_mode & 07777);
		break;
	case A_NUMLINKS:
		put_u32(b, st->stx_nlink);
		break;
	case A_OWNER:
		put_id(b, st->stx_uid);
		break;
	case A_OWNER_GROUP:
		put_id(b, st->stx_gid);
		break;
	case A_RAWDEV:
		put_u32(b, st->stx_rdev_major);
		put_u32(b, st->stx_rdev_minor);
		break;
	case A_SPACE_AVAIL:
		put_u64(b, (uint64_t)v->fs.f_bavail * v->fs.f_frsize);
		break;
	case A_SPACE_FREE:
		put_u64(b, (uint64_t)v->fs.f_bfree * v->fs.f_frsize);
		break;
	case A_SPACE_TOTAL:
		put_u64(b, (uint64_t)v->fs.f_blocks * v->fs.f_frsize);
		break;
	case A_SPACE_USED:
		put_u64(b, st->stx_blocks * 512);
		break;
	case A_TIME_ACCESS:
		put_time(b, &st->stx_atime);
		break;
	case A_TIME_METADATA:
		put_time(b, &st->stx_ctime);
		break;
	case A_TIME_MODIFY:
		put_time(b, &st->stx_mtime);
		break;
	case A_TIME_ACCESS_SET: /* can be set, not read; put_attrs */
	case A_TIME_MODIFY_SET:
		break;
	}
}

uint32_t put_attrs(
	struct call *c, struct buf *b, struct node *n, const struct mask *asked)
{
	struct mask m = {
		{asked->w[0] & supported[0], asked->w[1] & supported[1]},
		false};
	struct values v = {.node = n};
	struct buf values = {0};
	uint32_t i, status = store_stat(n, &v.st);

	if (status)
		return status;
	/* Section 5.7: what can only be set cannot be asked for. */
	if (m.w[1] & (BIT(A_TIME_ACCESS_SET) | BIT(A_TIME_MODIFY_SET)))
		return ST_INVAL;
	if (faulty(c, F_NO_ATTRIBUTES))
		m = (struct mask){0};
	if (fstatvfs(store_dirfd(), &v.fs))
		return ST_IO;
	for (i = 0; i < ATTR_WORDS * 32; i++)
		if (m.w[i / 32] & BIT(i))
			put_attr(c, &values, i, &v);
	put_mask(b, &m);
	put_opaque(b, values.v, values.len);
	buf_free(&values);
	return ST_OK;
}

static uint32_t get_id(struct xdr *x, uint32_t *id)
{
	char text[256], *end;
	unsigned long v;

	get_string(x, text, sizeof(text));
	v = strtoul(text, &end, 10);
	*id = v;
	return !*text || *end || v > UINT32_MAX ? ST_BADOWNER : ST_OK;
}

static void get_settime(struct xdr *x, struct timespec *t)
{
	t->tv_nsec = UTIME_NOW;
	if (get_u32(x) == 1) { /* SET_TO_CLIENT_TIME4 */
		t->tv_sec = get_u64(x);
		t->tv_nsec = get_u32(x) % 1000000000;
	}
}

uint32_t get_wish4(struct xdr *x, struct wish *w, struct mask *m)
{
	uint32_t i, len, status = ST_OK;
	struct xdr a = {0};

	*w = NO_WISH;
	get_mask(x, m);
	a.p = get_opaque(x, &len, 65536);
	a.left = len;
	if (x->bad)
		return ST_BADXDR;
	if (m->more)
		return ST_ATTRNOTSUPP;
	for (i = 0; i < ATTR_WORDS * 32 && !status; i++) {
		if (!(m->w[i / 32] & BIT(i)))
			continue;
		switch (i) {
		case A_SIZE:
			w->set_size = true;
			w->size = get_u64(&a);
			break;
		case A_MODE:
			w->set_mode = true;
			w->mode = get_u32(&a);
			break;
		case A_OWNER:
			w->set_uid = true;
			status = get_id(&a, &w->uid);
			break;
		case A_OWNER_GROUP:
			w->set_gid = true;
			status = get_id(&a, &w->gid);
			break;
		case A_TIME_ACCESS_SET:
			get_settime(&a, &w->atime);
			break;
		case A_TIME_MODIFY_SET:
			get_settime(&a, &w->mtime);
			break;
		default:
			status = supported[i / 32] & BIT(i) ? ST_INVAL
							    : ST_ATTRNOTSUPP;
		}
	}
	return a.bad || (!status && a.left) ? ST_BADXDR : status;
}

uint32_t v4_getattr(struct call *c)
{
	struct mask m;

	get_mask(&c->args, &m);
	return c->args.bad ? ST_BADXDR : put_attrs(c, &c->out, c->cfh, &m);
}

uint32_t v4_setattr(struct call *c)
{
	struct stateid s;
	struct state *st;
	struct wish w;
	struct mask m;
	uint32_t status;

	get_stateid(&c->args, &s);
	status = get_wish4(&c->args, &w, &m);
	/* Section 16.32: the stateid matters for the size alone. */
	if (!status && w.set_size && !stateid_is_special(&s))
		status = state_check(c, &s, &st);
	if (!status)
		status = store_set(c->cfh, &w);
	if (!status)
		put_mask(&c->out, &m);
	return status;
}

/* ST_SAME or ST_NOT_SAME */
static uint32_t compare(struct call *c)
{
	struct fault none = {0}, *now = c->now;
	struct buf have = {0};
	struct mask m;
	struct xdr x;
	uint32_t len, have_len, status;
	const uint8_t *want, *p;

	get_mask(&c->args, &m);
	want = get_opaque(&c->args, &len, 65536);
	if (c->args.bad)
		return ST_BADXDR;
	if (m.more || m.w[0] & ~supported[0] || m.w[1] & ~supported[1])
		return ST_ATTRNOTSUPP;
	/* Rules change what is told, not what is compared. */
	c->now = &none;
	status = put_attrs(c, &have, c->cfh, &m);
	c->now = now;
	if (!status) {
		x = (struct xdr){have.v, have.len, false};
		get_mask(&x, &m);
		p = get_opaque(&x, &have_len, UINT32_MAX);
		status = len == have_len && !memcmp(want, p, len) ? ST_SAME
								  : ST_NOT_SAME;
	}
	buf_free(&have);
	return status;
}

uint32_t v4_verify(struct call *c)
{
	uint32_t status = compare(c);

	return status == ST_SAME ? ST_OK : status;
}

uint32_t v4_nverify(struct call *c)
{
	uint32_t status = compare(c);

	return status == ST_NOT_SAME ? ST_OK : status;
}
