/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A segment in use: its users, the leader lock, the memory behind it. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>

#include "core/segment_file.h"

#define SLICE INT64_C(200000000) /* ns; then fatal signals get a chance */

bool nfsappend_segment_unused_but(struct nfsappend_segment *s, int32_t but)
{
	if (atomic_load(&s->crowded))
		return false;
	for (int i = 0; i < NFSAPPEND_USERS; i++) {
		int32_t pid = atomic_load(&s->users[i]);

		if (pid != 0 && pid != but && sys_kill(pid, 0) != -ESRCH)
			return false;
	}
	return true;
}

bool nfsappend_segment_alone(struct nfsappend_segment_view *v)
{
	/* A private one may be a child's too, and its users are not told. */
	return !v->is_private &&
	       nfsappend_segment_unused_but(v->shared, nfsappend_process->pid);
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

/* The mutex is ours by r, of a pthread_mutex_trylock(). */
static int leads(struct nfsappend_segment_view *v, int r)
{
	if (r == EBUSY)
		return -EBUSY;
	if (r == EOWNERDEAD) {
		pthread_mutex_consistent(&v->shared->leader);
		v->shared->size_known = 0;
		v->shared->orphaned = 1;
		return 1;
	}
	return r == 0 ? 0 : -EIO;
}

static uint64_t me(void)
{
	return (uint64_t)(uint32_t)nfsappend_process->pid << 32 |
	       (uint32_t)sys_gettid();
}

int nfsappend_segment_trylead(struct nfsappend_segment_view *v)
{
	uint64_t heir = atomic_load(&v->shared->heir);

	/* Also who only ever follows is a user. */
	if (v->registered != nfsappend_process->pid)
		nfsappend_segment_enter(v);
	if (heir != 0 && heir != me())
		return -EBUSY;
	return leads(v, pthread_mutex_trylock(&v->shared->leader));
}

static void wake(struct nfsappend_segment *s)
{
	uint32_t turn = atomic_load(&s->turns);

	while (!atomic_compare_exchange_weak(
		&s->turns, &turn, (turn | 1) + 1))
		;
	if (turn & 1)
		nfsappend_sys(SYS_futex, (long)&s->turns, FUTEX_WAKE, INT_MAX,
			0, 0, 0);
}

static void disinherit(struct nfsappend_segment *s, uint64_t heir)
{
	if (heir != 0)
		atomic_compare_exchange_strong(&s->heir, &heir, 0);
}

int nfsappend_segment_lead(struct nfsappend_segment_view *v,
	struct nfsappend_waiting *w)
{
	struct nfsappend_segment *s = v->shared;
	uint64_t self = 0;

	for (;;) {
		uint32_t turn = nfsappend_segment_turn(v);
		uint64_t none = 0;
		int r = nfsappend_segment_trylead(v);

		if (r != -EBUSY) {
			disinherit(s, self);
			return r;
		}
		self = me();
		atomic_compare_exchange_strong(&s->heir, &none, self);
		if (nfsappend_segment_sleep(v, turn, w) != 0) {
			disinherit(s, self);
			wake(s); /* those who stood back */
			return -ETIMEDOUT;
		}
	}
}

void nfsappend_segment_unlead(struct nfsappend_segment_view *v)
{
	pthread_mutex_unlock(&v->shared->leader);
	wake(v->shared);
}

uint32_t nfsappend_segment_turn(struct nfsappend_segment_view *v)
{
	return atomic_load(&v->shared->turns);
}

int nfsappend_segment_sleep(struct nfsappend_segment_view *v, uint32_t turn,
	struct nfsappend_waiting *w)
{
	struct nfsappend_segment *s = v->shared;
	struct timespec t = {0, SLICE};
	uint32_t now = turn;

	if (!(turn & 1) &&
		!atomic_compare_exchange_strong(&s->turns, &now, turn | 1) &&
		now != (turn | 1))
		return 0; /* a leader has ended */
	if (nfsappend_sys(SYS_futex, (long)&s->turns, FUTEX_WAIT,
		    (long)(turn | 1), (long)&t, 0, 0) != -ETIMEDOUT)
		return 0;
	/* One that waits for the lead may be stopped, or dead. */
	disinherit(s, atomic_load(&s->heir));
	/* Fatal signals, "not responding", the deadline: long enough that it
	 * does sleep. */
	return nfsappend_wait_sleep(w, 1000000) != 0 ? -ETIMEDOUT : 0;
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
