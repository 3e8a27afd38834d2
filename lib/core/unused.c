/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <string.h>

#include "core/file.h"
#include "core/op.h"
#include "core/state.h"
#include "core/unused.h"

#define AT_ONCE 4 /* files at each open */
#define NOTES 16
#define TIMEOUT_S 2

struct note {
	uint8_t key[140]; /* of the server */
	size_t keylen;
	struct nfsappend_fh fh;
	struct nfsappend_slot slot;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note notes[NOTES]; /* under lock; keylen 0: free */

static bool open_at(const struct nfsappend_slot *slot)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);

	return st.opened && !st.lost;
}

void nfsappend_unused_note(const uint8_t *key, size_t keylen,
	const struct nfsappend_slot *slot)
{
	struct note *n = NULL;

	if (!open_at(slot))
		return;
	/* Another thread's fork may have left it locked. */
	if (pthread_mutex_trylock(&lock) != 0)
		return;
	for (unsigned i = 0; i < NOTES && n == NULL; i++)
		if (notes[i].keylen == 0)
			n = &notes[i];
	/* A file's key is its server's and the file handle (file.c); where
	 * the one ends is found by the server that it is compared with. */
	if (n != NULL && keylen <= sizeof n->key + sizeof n->fh.data) {
		size_t head = keylen < sizeof n->key ? keylen : sizeof n->key;

		memcpy(n->key, key, head);
		n->fh.len = (uint32_t)(keylen - head);
		memcpy(n->fh.data, key + head, keylen - head);
		n->slot = *slot;
		n->keylen = keylen;
	}
	pthread_mutex_unlock(&lock);
}

/* The note of a file of that server: taken, with its handle put right. */
static bool take_note(const struct nfsappend_server *s, struct note *out)
{
	uint8_t key[140], whole[sizeof out->key + NFSAPPEND_FH_MAX];
	size_t len = nfsappend_server_key(s, key);
	bool found = false;

	if (pthread_mutex_trylock(&lock) != 0)
		return false;
	for (unsigned i = 0; i < NOTES && !found; i++) {
		struct note *n = &notes[i];
		size_t head = n->keylen < sizeof n->key ? n->keylen
							: sizeof n->key;

		if (n->keylen <= len || n->keylen - len > NFSAPPEND_FH_MAX)
			continue;
		memcpy(whole, n->key, head);
		memcpy(whole + head, n->fh.data, n->fh.len);
		if (memcmp(whole, key, len) != 0)
			continue;
		*out = *n;
		out->fh.len = (uint32_t)(n->keylen - len);
		memcpy(out->fh.data, whole + len, out->fh.len);
		n->keylen = 0;
		found = true;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Only where nobody else on this host has it open. */
static void close_idle(struct nfsappend_file *f)
{
	struct nfsappend_op op;

	if (!nfsappend_segment_alone(&f->segment))
		return;
	nfsappend_op_start(&op, f);
	op.w.wait.deadline = op.w.start + TIMEOUT_S * INT64_C(1000000000);
	if (nfsappend_segment_lead(&f->segment, &op.w) < 0 ||
		nfsappend_op_settle_lead(&op) != 0)
		return;
	if (nfsappend_segment_alone(&f->segment))
		nfsappend_state_close(f->key.server, &op.w, &op.seg->slot,
			&f->key.fh);
	nfsappend_op_finish(&op);
}

void nfsappend_unused_close(struct nfsappend_server *s)
{
	struct nfsappend_waiting w;
	struct nfsappend_file *f;
	struct note n;

	if (s->target.version != 4 || s->session == NULL)
		return;
	for (int i = 0; i < AT_ONCE; i++) {
		f = nfsappend_file_take_idle(s);
		if (f == NULL)
			break;
		if (open_at(&f->segment.shared->slot))
			close_idle(f);
		nfsappend_file_put(f);
	}
	for (int i = 0; i < AT_ONCE && take_note(s, &n); i++) {
		nfsappend_wait_start(&w, NULL, TIMEOUT_S);
		nfsappend_state_close(s, &w, &n.slot, &n.fh);
	}
}
