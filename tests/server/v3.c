/* NFS version 3: the procedures, their failures, their attributes. */
#include "v3.h"

#include <sys/sysmacros.h>

/* What the result of a failure holds besides the status. */
enum failure { BARE, POST_OP, WCC, TWO_WCC, POST_OP_WCC };

static const struct {
	v3_fn *run;
	enum failure failure;
} procs[V3_PROCS] = {
	[V3_GETATTR] = {v3_getattr, BARE},
	[V3_SETATTR] = {v3_setattr, WCC},
	[V3_LOOKUP] = {v3_lookup, POST_OP},
	[V3_ACCESS] = {v3_access, POST_OP},
	[V3_READLINK] = {v3_readlink, POST_OP},
	[V3_READ] = {v3_read, POST_OP},
	[V3_WRITE] = {v3_write, WCC},
	[V3_CREATE] = {v3_create, WCC},
	[V3_MKDIR] = {v3_mkdir, WCC},
	[V3_SYMLINK] = {v3_symlink, WCC},
	[V3_REMOVE] = {v3_remove, WCC},
	[V3_RMDIR] = {v3_rmdir, WCC},
	[V3_RENAME] = {v3_rename, TWO_WCC},
	[V3_LINK] = {v3_link, POST_OP_WCC},
	[V3_READDIR] = {v3_readdir, POST_OP},
	[V3_READDIRPLUS] = {v3_readdirplus, POST_OP},
	[V3_FSSTAT] = {v3_fsstat, POST_OP},
	[V3_FSINFO] = {v3_fsinfo, POST_OP},
	[V3_PATHCONF] = {v3_pathconf, POST_OP},
	[V3_COMMIT] = {v3_commit, WCC},
};

uint32_t v3_get_node(struct call *c, struct node **out)
{
	uint32_t len;
	const uint8_t *fh = get_opaque(&c->args, &len, 64);

	*out = NULL;
	return fh ? store_by_handle(fh, len, out) : V3_BAD_XDR;
}

/* set_atime and set_mtime */
static void get_time(struct xdr *x, struct timespec *t)
{
	uint32_t how = get_u32(x);

	t->tv_nsec = how == 1 ? UTIME_NOW : UTIME_OMIT;
	if (how == 2) {
		t->tv_sec = get_u32(x);
		t->tv_nsec = get_u32(x) % 1000000000;
	}
}

uint32_t v3_get_wish(struct call *c, struct wish *w)
{
	struct xdr *x = &c->args;

	*w = NO_WISH;
	if ((w->set_mode = get_u32(x)))
		w->mode = get_u32(x);
	if ((w->set_uid = get_u32(x)))
		w->uid = get_u32(x);
	if ((w->set_gid = get_u32(x)))
		w->gid = get_u32(x);
	if ((w->set_size = get_u32(x)))
		w->size = get_u64(x);
	get_time(x, &w->atime);
	get_time(x, &w->mtime);
	return x->bad ? V3_BAD_XDR : ST_OK;
}

void v3_put_handle(struct call *c, struct node *n)
{
	uint8_t fh[HANDLE_SIZE];

	store_handle(n, fh);
	put_opaque(&c->out, fh, sizeof(fh));
}

uint32_t file_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return 2;
	case S_IFBLK:
		return 3;
	case S_IFCHR:
		return 4;
	case S_IFLNK:
		return 5;
	case S_IFSOCK:
		return 6;
	case S_IFIFO:
		return 7;
	default:
		return 1;
	}
}

static void put_time(struct call *c, const struct statx_timestamp *t)
{
	put_u32(&c->out, t->tv_sec);
	put_u32(&c->out, t->tv_nsec);
}

void v3_put_fattr(struct call *c, const struct statx *st)
{
	struct buf *b = &c->out;

	put_u32(b, file_type(st->stx_mode));
	put_u32(b, st->stx_mode & 07777);
	put_u32(b, st->stx_nlink);
	put_u32(b, st->stx_uid);
	put_u32(b, st->stx_gid);
	put_u64(b, faulty(c, F_SIZE) ? fault_value(c, F_SIZE) : st->stx_size);
	put_u64(b, st->stx_blocks * 512);
	put_u32(b, st->stx_rdev_major);
	put_u32(b, st->stx_rdev_minor);
	put_u64(b, makedev(st->stx_dev_major, st->stx_dev_minor));
	put_u64(b, st->stx_ino);
	put_time(c, &st->stx_atime);
	put_time(c, &st->stx_mtime);
	put_time(c, &st->stx_ctime);
}

void v3_put_post(struct call *c, struct node *n)
{
	struct statx st;

	if (faulty(c, F_NO_ATTRIBUTES) || !n || store_stat(n, &st)) {
		put_u32(&c->out, 0);
		return;
	}
	put_u32(&c->out, 1);
	v3_put_fattr(c, &st);
}

void v3_put_wcc(struct call *c, struct node *n)
{
	/* No `before`: neither nfs-ganesha nor knfsd gave it in WRITE. */
	put_u32(&c->out, 0);
	v3_put_post(c, n);
}

uint32_t access_of(const struct call *c, const struct statx *st)
{
	uint32_t i, bits = st->stx_mode, can;
	bool group = st->stx_gid == c->cred.gid;

	for (i = 0; i < c->cred.n_groups; i++)
		group = group || st->stx_gid == c->cred.groups[i];
	if (st->stx_uid == c->cred.uid)
		bits >>= 6;
	else if (group)
		bits >>= 3;
	if (!c->cred.uid)
		bits = 6 | (S_ISDIR(st->stx_mode) || st->stx_mode & 0111);
	can = bits & 4 ? 0x01 : 0; /* READ */
	if (bits & 2)
		can |= 0x04 | 0x08 | (S_ISDIR(st->stx_mode) ? 0x10 : 0);
	if (bits & 1)
		can |= S_ISDIR(st->stx_mode) ? 0x02 : 0x20;
	return can;
}

static void put_failure(struct call *c, enum failure failure)
{
	switch (failure) {
	case BARE:
		break;
	case POST_OP:
		v3_put_post(c, c->node);
		break;
	case WCC:
		v3_put_wcc(c, c->node);
		break;
	case TWO_WCC:
		v3_put_wcc(c, c->node);
		v3_put_wcc(c, c->node2);
		break;
	case POST_OP_WCC:
		v3_put_post(c, c->node);
		v3_put_wcc(c, c->node2);
		break;
	}
}

uint32_t v3_run(struct call *c)
{
	bool forced = faulty(c, F_REPLY), execute;
	size_t at = c->out.len;
	uint32_t status = ST_OK;

	if (c->proc == V3_NULL)
		return RPC_SUCCESS;
	if (c->proc >= V3_PROCS || !procs[c->proc].run)
		return RPC_PROC_UNAVAIL;
	execute = !forced || faulty(c, F_EXECUTED);
	if (faulty(c, F_VERIFIER))
		verifier_change();
	call_others(c, c->node);
	if (c->node)
		call_log(c, " file=%s", store_name(c->node));
	put_u32(&c->out, 0);
	if (execute)
		status = procs[c->proc].run(c);
	if (status == V3_BAD_XDR)
		return RPC_GARBAGE_ARGS;
	if (forced)
		status = fault_value(c, F_REPLY);
	if (status || !execute) {
		c->out.len = at;
		put_u32(&c->out, status);
		put_failure(c, procs[c->proc].failure);
	}
	call_log(c, " %s", status_name(status));
	return RPC_SUCCESS;
}
