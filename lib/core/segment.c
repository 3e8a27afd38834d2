/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A segment in use: its users, the memory behind it. */
#include "config.h"

#include <errno.h>
#include <limits.h>

#include "core/segment_file.h"

bool nfsappend_segment_alone(struct nfsappend_segment_view *v)
{
	struct nfsappend_segment *s = v->shared;

	/* A private one may be a child's too, and its users are not told. */
	if (v->is_private || atomic_load(&s->crowded))
		return false;
	for (int i = 0; i < NFSAPPEND_USERS; i++) {
		int32_t pid = atomic_load(&s->users[i]);

		if (pid != 0 && pid != nfsappend_process->pid &&
			sys_kill(pid, 0) != -ESRCH)
			return false;
	}
	return true;
}

void nfsappend_segment_enter(struct nfsappend_segment_view *v)
{
	struct nfsappend_segment *s = v->shared;
	int32_t me = nfsappend_process->pid;

	v->registered = me;
	atomic_store(&s->used_s, nfsappend_now() / INT64_C(1000000000));
	if (v->is_private)
		return;
	for (int i = 0; i < NFSAPPEND_USERS; i++)
		if (atomic_load(&s->users[i]) == me)
			return;
	for (int i = 0; i < NFSAPPEND_USERS; i++) {
		int32_t pid = atomic_load(&s->users[i]);

		if ((pid == 0 || sys_kill(pid, 0) == -ESRCH) &&
			atomic_compare_exchange_strong(&s->users[i], &pid, me))
			return;
	}
	atomic_store(&s->crowded, 1);
}

void nfsappend_segment_close(struct nfsappend_segment_view *v)
{
	int32_t me = nfsappend_process->pid;

	if (v->shared == NULL)
		return;
	atomic_store(&v->shared->used_s,
		nfsappend_now() / INT64_C(1000000000));
	for (int i = 0; !v->is_private && i < NFSAPPEND_USERS; i++) {
		int32_t mine = me;

		if (atomic_compare_exchange_strong(&v->shared->users[i], &mine,
			    0))
			break;
	}
	sys_munmap(v->shared, SEGMENT_BYTES);
	v->shared = NULL;
}

/* Memory first, or a full /dev/shm would be a SIGBUS. */
static int grow(struct nfsappend_segment_view *v, off_t from, off_t len)
{
	struct statx stx;
	long fd = nfsappend_segment_open_file(v->path, O_RDWR);
	long r;

	if (fd < 0)
		return (int)fd;
	r = sys_statx(fd, "", AT_EMPTY_PATH, STATX_INO, &stx);
	if (r == 0 && stx.stx_ino != v->ino)
		r = -ESTALE; /* replaced: that is no memory of ours */
	if (r == 0)
		r = sys_fallocate(fd, 0, from, len);
	sys_close(fd);
	return (int)r;
}

struct nfsappend_queue *nfsappend_segment_queue(
	struct nfsappend_segment_view *v, bool make)
{
	struct nfsappend_segment *s = v->shared;
	struct nfsappend_queue *q =
		(struct nfsappend_queue *)((char *)s + STAGE_END);

	if (atomic_load_explicit(&s->queue_ready, memory_order_acquire))
		return q;
	/* Zeroes are a queue with all slots free. */
	if (!make || (!v->is_private && grow(v, STAGE_END, QUEUE_BYTES) != 0))
		return NULL;
	atomic_store_explicit(&s->queue_ready, 1, memory_order_release);
	return q;
}

uint32_t nfsappend_segment_stage(struct nfsappend_segment_view *v,
	uint32_t want)
{
	struct nfsappend_segment *s = v->shared;
	uint64_t have = s->allocated;

	if (want > NFSAPPEND_STAGE_MAX)
		want = NFSAPPEND_STAGE_MAX;
	if (have < FIRST_STAGE || have > STAGE_END - sizeof *s)
		have = FIRST_STAGE; /* somebody scribbled on it */
	if (want <= have)
		return want;
	if (grow(v, 0, (off_t)(sizeof *s + want + PAGE - 1) / PAGE * PAGE) ==
		0) {
		s->allocated = want;
		have = want;
	}
	return (uint32_t)have;
}
