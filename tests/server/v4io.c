/* NFSv4.0 data: READ, WRITE, COMMIT (RFC 7530 sections 16.23, 16.36, 16.3). */
#include <stdlib.h>

#include "v4.h"
#include "v4state.h"

/* The anonymous stateids pass without state; knfsd has them wait too while
 * locks may still be reclaimed. */
static uint32_t check_stateid(
	struct call *c, const struct stateid *s, uint32_t access)
{
	struct state *st, *open;
	uint32_t status;

	if (stateid_is_special(s)) {
		call_log(c, " anonymous");
		if (state_in_grace() && options.seqid_first)
			return ST_GRACE;
		return state_share_conflict(c->cfh, NULL, access, 0) ? ST_LOCKED
								     : ST_OK;
	}
	status = state_check(c, s, &st);
	if (status)
		return status;
	call_log(c, " %s-stateid", st->open ? "lock" : "open");
	open = st->open ? st->open : st;
	/* Section 16.23.4: a server may let those read who opened to write. */
	return open->access & access || access == 1 ? ST_OK : ST_OPENMODE;
}

uint32_t v4_read(struct call *c)
{
	struct stateid s;
	bool eof = false;
	uint64_t offset;
	uint32_t count, status;
	uint8_t *data;

	get_stateid(&c->args, &s);
	offset = get_u64(&c->args);
	count = get_u32(&c->args);
	call_log(c, " offset=%lu count=%u", offset, count);
	if (c->args.bad)
		return ST_BADXDR;
	status = check_stateid(c, &s, 1);
	if (status)
		return status;
	count = io_limit(c, count);
	data = malloc(count + 1);
	status = data ? store_read(c->cfh, offset, data, &count, &eof)
		      : ST_SERVERFAULT;
	if (!status) {
		put_u32(&c->out, eof);
		/* v4 has no count beside the length of the data. */
		put_u32(&c->out,
			faulty(c, F_COUNT) ? fault_value(c, F_COUNT) : count);
		put_fixed(&c->out, data, count);
		call_log(c, " got=%u", count);
	}
	free(data);
	return status;
}

uint32_t v4_write(struct call *c)
{
	struct stateid s;
	uint64_t offset;
	uint32_t count, stable, stated, status;
	const uint8_t *data;

	get_stateid(&c->args, &s);
	offset = get_u64(&c->args);
	stable = get_u32(&c->args);
	data = get_opaque(&c->args, &count, UINT32_MAX);
	call_log(c, " offset=%lu count=%u stable=%u", offset, count, stable);
	if (c->args.bad || stable > 2)
		return ST_BADXDR;
	status = check_stateid(c, &s, 2);
	if (status)
		return status;
	count = io_limit(c, count);
	if (!faulty(c, F_NOT_STORED))
		status = store_write(
			c->cfh, offset, data, &count, options.fsync && stable);
	if (status)
		return status;
	stated = faulty(c, F_COUNT) ? fault_value(c, F_COUNT) : count;
	put_u32(&c->out, stated);
	if (faulty(c, F_COMMITTED))
		stable = fault_value(c, F_COMMITTED);
	put_u32(&c->out, stable);
	put_u64(&c->out, verifier_now());
	call_log(c, " done=%u told=%u committed=%u", count, stated, stable);
	return ST_OK;
}

uint32_t v4_commit(struct call *c)
{
	uint64_t offset = get_u64(&c->args);
	uint32_t count = get_u32(&c->args);

	call_log(c, " offset=%lu count=%u", offset, count);
	if (c->args.bad)
		return ST_BADXDR;
	put_u64(&c->out, verifier_now());
	return ST_OK;
}
