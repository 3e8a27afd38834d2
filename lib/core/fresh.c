/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attributes that an open has just brought stand for the fstat() that follows
 * it, as a kernel client's would. A sequence lock: a reader in between gets
 * nothing, which costs a GETATTR and no more.
 */
#include "config.h"

#include "core/op.h"

/* Less than the least that a kernel client keeps them (acregmin, 3 s). */
#define FRESH INT64_C(1000000000) /* ns */

void nfsappend_attr_remember(struct nfsappend_file *f,
	const struct nfsappend_attr *attr)
{
	uint32_t seq = atomic_load(&f->attr_seq);

	if (seq & 1 ||
		!atomic_compare_exchange_strong(&f->attr_seq, &seq, seq + 1))
		return; /* somebody else is at it: as good */
	f->attr = *attr;
	atomic_store(&f->attr_time, nfsappend_now());
	atomic_store(&f->attr_seq, seq + 2);
}

bool nfsappend_attr_recall(struct nfsappend_file *f,
	struct nfsappend_attr *attr)
{
	struct nfsappend_segment *s = f->segment.shared;
	uint32_t seq = atomic_load(&f->attr_seq);
	int64_t seen = atomic_load(&f->attr_time);

	if (seq & 1 || seen == 0 || nfsappend_now() - seen > FRESH)
		return false;
	/* Nor after an append of another process of this host. */
	if (__atomic_load_n(&s->size_known, __ATOMIC_RELAXED) &&
		__atomic_load_n(&s->size, __ATOMIC_RELAXED) != f->attr.size)
		return false;
	*attr = f->attr;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load(&f->attr_seq) == seq;
}

void nfsappend_attr_forget(struct nfsappend_file *f)
{
	atomic_store(&f->attr_time, 0);
}

void nfsappend_file_hint(
	struct nfsappend_file *f, const struct nfsappend_attr *attr)
{
	struct nfsappend_op op;

	if (f->sharing == NFSAPPEND_SINGLE && !f->segment.shared->touched &&
		nfsappend_op_begin(&op, f) == 0) {
		/* From before somebody's append they would be a lie. */
		if (!op.seg->touched && !op.seg->size_known) {
			op.seg->size = attr->size;
			op.seg->size_known = 1;
		}
		nfsappend_op_finish(&op);
	}
	nfsappend_attr_remember(f, attr);
}
