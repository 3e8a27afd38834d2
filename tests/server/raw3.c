/* The raw client's MOUNT and NFSv3 commands. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"

static struct handle dir, file;

static void keep(struct handle *h, const char *v, uint32_t len)
{
	h->len = len <= sizeof(h->v) ? len : 0;
	memcpy(h->v, v, h->len);
}

static nfs_fh3 fh(struct handle *h)
{
	return (nfs_fh3){.data = {.data_len = h->len, .data_val = h->v}};
}

static struct reply *got(int status, void *arg)
{
	struct reply *r = arg;

	r->done = true;
	r->rpc_status = status;
	return status == RPC_STATUS_SUCCESS ? r : NULL;
}

static void size_of(struct reply *r, const post_op_attr *a)
{
	r->size_known = a->attributes_follow;
	if (a->attributes_follow)
		r->size = a->post_op_attr_u.attributes.size;
}

static void on_mount(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	mountres3 *m = data;

	(void)c;
	if (!r)
		return;
	r->status = m->fhs_status;
	if (!r->status)
		keep(&dir, m->mountres3_u.mountinfo.fhandle.fhandle3_val,
			m->mountres3_u.mountinfo.fhandle.fhandle3_len);
}

static void on_lookup(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	LOOKUP3res *m = data;

	(void)c;
	if (!r)
		return;
	r->status = m->status;
	if (r->status)
		return;
	keep(&file, m->LOOKUP3res_u.resok.object.data.data_val,
		m->LOOKUP3res_u.resok.object.data.data_len);
	size_of(r, &m->LOOKUP3res_u.resok.obj_attributes);
}

static void on_create(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	CREATE3res *m = data;
	post_op_fh3 *h;

	(void)c;
	if (!r)
		return;
	r->status = m->status;
	h = &m->CREATE3res_u.resok.obj;
	if (!r->status && h->handle_follows)
		keep(&file, h->post_op_fh3_u.handle.data.data_val,
			h->post_op_fh3_u.handle.data.data_len);
}

static void on_getattr(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	GETATTR3res *m = data;

	(void)c;
	if (!r)
		return;
	r->status = m->status;
	r->size_known = !r->status;
	r->size = m->GETATTR3res_u.resok.obj_attributes.size;
}

static void on_write(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	WRITE3res *m = data;

	(void)c;
	if (!r)
		return;
	r->status = m->status;
	if (r->status) {
		size_of(r, &m->WRITE3res_u.resfail.file_wcc.after);
		return;
	}
	r->count = m->WRITE3res_u.resok.count;
	r->committed = m->WRITE3res_u.resok.committed;
	memcpy(&r->verifier, m->WRITE3res_u.resok.verf, 8);
	size_of(r, &m->WRITE3res_u.resok.file_wcc.after);
}

static void on_read(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	READ3res *m = data;

	(void)c;
	if (!r)
		return;
	r->status = m->status;
	r->count = m->READ3res_u.resok.count;
	size_of(r, &m->READ3res_u.resok.file_attributes);
}

static void on_commit(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);
	COMMIT3res *m = data;

	(void)c;
	if (!r)
		return;
	r->status = m->status;
	memcpy(&r->verifier, m->COMMIT3res_u.resok.verf, 8);
}

static void on_remove(struct rpc_context *c, int status, void *data, void *arg)
{
	struct reply *r = got(status, arg);

	(void)c;
	if (r)
		r->status = ((REMOVE3res *)data)->status;
}

static void print(const char *name, struct reply *r, bool io, bool verifier)
{
	const char *bad = raw_wait(r);

	if (bad) {
		printf("%s: %s\n", name, bad);
		/* Its callback may still come, and r is ours no more. */
		raw_connect();
		return;
	}
	printf("%s: status %u", name, r->status);
	if (io && !r->status)
		printf(" count %u", r->count);
	if (io && verifier && !r->status)
		printf(" committed %u", r->committed);
	if (r->size_known)
		printf(" size %lu", r->size);
	if (verifier && !r->status)
		printf(" verifier %016lx", r->verifier);
	printf("\n");
}

static void write_command(struct reply *r, char ***at)
{
	WRITE3args a = {.file = fh(&file), .stable = FILE_SYNC};

	a.offset = raw_number(*(*at)++);
	a.count = raw_number(*(*at)++);
	a.data.data_len = a.count;
	a.data.data_val = raw_bytes(a.count);
	if (**at && !strcmp(**at, "unstable"))
		a.stable = UNSTABLE;
	else if (**at && !strcmp(**at, "datasync"))
		a.stable = DATA_SYNC;
	*at += a.stable != FILE_SYNC;
	rpc_nfs3_write_async(rpc, on_write, &a, r);
}

static void create_command(struct reply *r, char ***at)
{
	CREATE3args a = {.where = {fh(&dir), *(*at)++}};
	sattr3 *s = &a.how.createhow3_u.obj_attributes;

	a.how.mode = UNCHECKED;
	s->mode.set_it = 1;
	s->mode.set_mode3_u.mode = 0640;
	rpc_nfs3_create_async(rpc, on_create, &a, r);
}

static void read_command(struct reply *r, char ***at)
{
	READ3args a = {.file = fh(&file)};

	a.offset = raw_number(*(*at)++);
	a.count = raw_number(*(*at)++);
	rpc_nfs3_read_async(rpc, on_read, &a, r);
}

bool raw3_command(const char *name, char ***at)
{
	struct reply r = {0};
	bool io = false, verifier = false;

	if (!strcmp(name, "mount")) {
		rpc_mount3_mnt_async(rpc, on_mount, *(*at)++, &r);
	} else if (!strcmp(name, "create")) {
		create_command(&r, at);
	} else if (!strcmp(name, "lookup")) {
		LOOKUP3args a = {.what = {fh(&dir), *(*at)++}};

		rpc_nfs3_lookup_async(rpc, on_lookup, &a, &r);
	} else if (!strcmp(name, "getattr")) {
		GETATTR3args a = {fh(&file)};

		rpc_nfs3_getattr_async(rpc, on_getattr, &a, &r);
	} else if (!strcmp(name, "write")) {
		io = verifier = true;
		write_command(&r, at);
	} else if (!strcmp(name, "read")) {
		io = true;
		read_command(&r, at);
	} else if (!strcmp(name, "commit")) {
		COMMIT3args a = {.file = fh(&file)};

		verifier = true;
		rpc_nfs3_commit_async(rpc, on_commit, &a, &r);
	} else if (!strcmp(name, "remove")) {
		REMOVE3args a = {.object = {fh(&dir), *(*at)++}};

		rpc_nfs3_remove_async(rpc, on_remove, &a, &r);
	} else {
		return false;
	}
	print(name, &r, io, verifier);
	return true;
}
