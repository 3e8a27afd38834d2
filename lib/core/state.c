/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/client.h"
#include "core/log.h"
#include "core/state.h"

#define ROUNDS 32 /* of state refused as soon as it is made */

/* bad: as of nfsappend_client_get(). 0 or -errno. */
static int open_steps(struct nfsappend_server *s, struct nfsappend_waiting *w,
	uint64_t bad, struct nfsappend_slot *slot,
	struct nfsappend_open_args *args, struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	struct nfsappend_client client;
	unsigned tries = 0, rounds = 0;
	int r = nfsappend_client_get(s, w, bad, &client);

	while (r == 0) {
		r = nfsappend_backend->open(
			s->session, &w->wait, slot, &client, args, fh, attr);
		if (r == NFSAPPEND_CONTINUE) {
			r = 0;
			continue;
		}
		if (r == NFSAPPEND_STATE_LOST && ++rounds < ROUNDS) {
			r = nfsappend_client_get(
				s, w, client.generation, &client);
			continue;
		}
		if (r == NFSAPPEND_STATE_LOST)
			r = -EIO;
		if (r == NFSAPPEND_NO_RECLAIM && args->reclaim) {
			args->reclaim = false;
			r = 0;
			continue;
		}
		if (!nfsappend_server_again(s, w, &r, &tries))
			break;
		r = 0;
	}
	return r;
}

int nfsappend_state_create(struct nfsappend_server *s,
	struct nfsappend_waiting *w, struct nfsappend_slot *slot,
	struct nfsappend_open_args *args, struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	return open_steps(s, w, 0, slot, args, fh, attr);
}

void nfsappend_state_close(struct nfsappend_server *s,
	struct nfsappend_waiting *w, struct nfsappend_slot *slot,
	const struct nfsappend_fh *fh)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);
	int r;

	/* One try: what is left ends with the lease. */
	if (!st.opened || st.lost)
		return;
	r = nfsappend_backend->close(s->session, &w->wait, slot, fh);
	if (r != 0)
		nfsappend_log(NFSAPPEND_DEBUG, NFSAPPEND_MSG_STATE,
			"a CLOSE failed: error %d", r);
}

static bool usable(const struct nfsappend_slot *slot)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);

	return st.confirmed && !st.lost;
}

/* The name leads to another file by now. CLOSE empties the slot; what is in
 * doubt stays noted there. */
static void close_stranger(
	struct nfsappend_op *op, const struct nfsappend_fh *fh)
{
	struct nfsappend_slot *slot = &op->seg->slot;
	struct nfsappend_state st = nfsappend_slot_get(slot);
	struct nfsappend_state left = {
		.in_doubt = st.in_doubt, .offset = st.offset, .len = st.len};

	nfsappend_state_close(op->file->key.server, &op->w, slot, fh);
	nfsappend_slot_set(slot, &left);
}

int nfsappend_state_renew(struct nfsappend_op *op)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_slot *slot = &op->seg->slot;
	struct nfsappend_state st = nfsappend_slot_get(slot);
	struct nfsappend_open_args args = {
		.dir = &f->dir, .name = f->name, .expected = &f->key.fh,
		.reclaim = st.restarted};
	struct nfsappend_attr attr;
	struct nfsappend_fh fh = f->key.fh;
	bool had = st.generation != 0;
	int r;

	if (f->name[0] == '\0')
		return -ESTALE;
	if (had)
		nfsappend_log(NFSAPPEND_INFO, NFSAPPEND_MSG_STATE,
			"%s: the server has given up its open and lock state; "
			"opening it again",
			f->path);
	r = open_steps(f->key.server, &op->w, had ? st.generation : 0, slot,
		&args, &fh, &attr);
	if (r == -ENOENT)
		r = -ESTALE;
	if (r == 0 && (fh.len != f->key.fh.len ||
			      memcmp(fh.data, f->key.fh.data, fh.len) != 0)) {
		close_stranger(op, &fh);
		r = -ESTALE;
	}
	if (r == -ESTALE)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_RENAMED,
			"%s: its NFSv4 state has ended, and the name is not "
			"that file's any more (renamed or removed), so it "
			"cannot be opened again; the program gets ESTALE and "
			"should open the file anew",
			f->path);
	if (r == 0 && had)
		NFSAPPEND_COUNT(f, retries, 1);
	return r;
}

int nfsappend_state_prepare(
	struct nfsappend_file *f, struct nfsappend_slot *made)
{
	struct nfsappend_op op;
	struct nfsappend_state st;
	int r = nfsappend_op_begin(&op, f);

	if (r != 0)
		return r;
	if (made != NULL && !usable(&op.seg->slot)) {
		st = nfsappend_slot_get(made);
		nfsappend_slot_set(&op.seg->slot, &st);
	} else if (made != NULL) {
		nfsappend_state_close(f->key.server, &op.w, made, &f->key.fh);
	}
	if (!usable(&op.seg->slot))
		r = nfsappend_state_renew(&op);
	nfsappend_op_finish(&op);
	return r;
}
