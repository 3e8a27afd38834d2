/* NFS version 3: procedures on a file and on the file system. */
#include <limits.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "v3.h"

uint32_t v3_getattr(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);
	struct statx st;

	if (!status)
		status = store_stat(c->node, &st);
	if (!status)
		v3_put_fattr(c, &st);
	return status;
}

uint32_t v3_setattr(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node), bad, guard;
	uint32_t sec = 0, nsec = 0;
	struct statx st;
	struct wish w;

	bad = v3_get_wish(c, &w);
	if ((guard = get_u32(&c->args))) {
		sec = get_u32(&c->args);
		nsec = get_u32(&c->args);
	}
	if (bad || c->args.bad)
		return V3_BAD_XDR;
	if (!status)
		status = store_stat(c->node, &st);
	if (!status && guard &&
		(sec != (uint32_t)st.stx_ctime.tv_sec ||
			nsec != st.stx_ctime.tv_nsec))
		status = ST_NOT_SYNC;
	if (!status)
		status = store_set(c->node, &w);
	if (!status)
		v3_put_wcc(c, c->node);
	return status;
}

uint32_t v3_access(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node), asked = get_u32(&c->args);
	struct statx st;

	if (c->args.bad)
		return V3_BAD_XDR;
	if (!status)
		status = store_stat(c->node, &st);
	if (!status) {
		v3_put_post(c, c->node);
		put_u32(&c->out, asked & access_of(c, &st));
	}
	return status;
}

uint32_t v3_readlink(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);
	char target[PATH_MAX];

	if (!status)
		status = store_readlink(c->node, target, sizeof(target));
	if (!status) {
		v3_put_post(c, c->node);
		put_string(&c->out, target);
	}
	return status;
}

uint32_t v3_read(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);
	uint64_t offset = get_u64(&c->args);
	uint32_t count = get_u32(&c->args);
	bool eof = false;
	uint8_t *data;

	call_log(c, " offset=%lu count=%u", offset, count);
	if (c->args.bad)
		return V3_BAD_XDR;
	if (status)
		return status;
	count = io_limit(c, count);
	data = malloc(count + 1);
	status = data ? store_read(c->node, offset, data, &count, &eof)
		      : ST_SERVERFAULT;
	if (!status) {
		v3_put_post(c, c->node);
		put_u32(&c->out,
			faulty(c, F_COUNT) ? fault_value(c, F_COUNT) : count);
		put_u32(&c->out, eof);
		put_opaque(&c->out, data, count);
		call_log(c, " got=%u", count);
	}
	free(data);
	return status;
}

uint32_t v3_write(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node), len, stable, stated;
	uint64_t offset = get_u64(&c->args);
	uint32_t count = get_u32(&c->args);
	const uint8_t *data;

	stable = get_u32(&c->args);
	data = get_opaque(&c->args, &len, UINT32_MAX);
	call_log(c, " offset=%lu count=%u stable=%u", offset, count, stable);
	if (c->args.bad || stable > 2)
		return V3_BAD_XDR;
	if (status)
		return status;
	if (count > len)
		count = len;
	count = io_limit(c, count);
	if (!faulty(c, F_NOT_STORED))
		status = store_write(
			c->node, offset, data, &count, options.fsync && stable);
	if (status)
		return status;
	v3_put_wcc(c, c->node);
	stated = faulty(c, F_COUNT) ? fault_value(c, F_COUNT) : count;
	put_u32(&c->out, stated);
	if (faulty(c, F_COMMITTED))
		stable = fault_value(c, F_COMMITTED);
	put_u32(&c->out, stable);
	put_u64(&c->out, verifier_now());
	call_log(c, " done=%u told=%u committed=%u", count, stated, stable);
	return ST_OK;
}

uint32_t v3_commit(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);
	uint64_t offset = get_u64(&c->args);
	uint32_t count = get_u32(&c->args);

	call_log(c, " offset=%lu count=%u", offset, count);
	if (c->args.bad)
		return V3_BAD_XDR;
	if (status)
		return status;
	v3_put_wcc(c, c->node);
	put_u64(&c->out, verifier_now());
	return ST_OK;
}

uint32_t v3_fsstat(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);
	struct statvfs v;

	if (status)
		return status;
	if (fstatvfs(store_dirfd(), &v))
		return ST_IO;
	v3_put_post(c, c->node);
	put_u64(&c->out, (uint64_t)v.f_blocks * v.f_frsize);
	put_u64(&c->out, (uint64_t)v.f_bfree * v.f_frsize);
	put_u64(&c->out, (uint64_t)v.f_bavail * v.f_frsize);
	put_u64(&c->out, v.f_files);
	put_u64(&c->out, v.f_ffree);
	put_u64(&c->out, v.f_favail);
	put_u32(&c->out, 0); /* invarsec */
	return ST_OK;
}

uint32_t v3_fsinfo(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);

	if (status)
		return status;
	v3_put_post(c, c->node);
	put_u32(&c->out, options.max_io); /* rtmax, rtpref, rtmult */
	put_u32(&c->out, options.max_io);
	put_u32(&c->out, 4096);
	put_u32(&c->out, options.max_io); /* wtmax, wtpref, wtmult */
	put_u32(&c->out, options.max_io);
	put_u32(&c->out, 4096);
	put_u32(&c->out, 65536);     /* dtpref */
	put_u64(&c->out, INT64_MAX); /* maxfilesize */
	put_u64(&c->out, 1);	     /* time_delta: 1 ns */
	put_u32(&c->out, 0x1b);	     /* LINK SYMLINK HOMOGENEOUS CANSETTIME */
	return ST_OK;
}

uint32_t v3_pathconf(struct call *c)
{
	uint32_t status = v3_get_node(c, &c->node);

	if (status)
		return status;
	v3_put_post(c, c->node);
	put_u32(&c->out, 32000); /* linkmax */
	put_u32(&c->out, NAME_MAX);
	put_u32(&c->out, 1); /* no_trunc */
	put_u32(&c->out, 1); /* chown_restricted */
	put_u32(&c->out, 0); /* case_insensitive */
	put_u32(&c->out, 1); /* case_preserving */
	return ST_OK;
}
