/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who leads: the one that holds the leader lock of a host segment.
 *
 * A leader that dies leaves the lock to the next (robust mutex). One that is
 * stopped (SIGSTOP, a debugger) would keep all others waiting. While it waits
 * for the server it can do no harm: what it sent lies in the kernel, and all
 * that its successor has to know lies in the segment, as if it had died. So
 * before it sleeps it leaves a mark, and takes it away when it wakes, before
 * it touches anything. Who finds the mark of a stopped one takes it (compare
 * and swap: one of the two has it), and a new reign begins, with another
 * mutex. The deposed leader finds out when it wakes.
 *
 * Elsewhere than in such a sleep nobody can tell what a stopped leader will do
 * next, and the others wait.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/segment.h"

#define SLICE INT64_C(200000000) /* ns; then fatal signals get a chance */
#define STOPPED_SLICES 10 /* in a row, until it is deposed */

/* A mark: deposed, 19 bits of the reign, process and thread (PID_MAX_LIMIT is
 * 2^22, include/linux/threads.h). */
#define DEPOSED (UINT64_C(1) << 63)
#define MARK_REIGN(mark) ((uint32_t)((mark) >> 44 & 0x7ffff))
#define MARK_PID(mark) ((unsigned)((mark) >> 22 & 0x3fffff))
#define MARK_TID(mark) ((unsigned)((mark) & 0x3fffff))

static uint64_t mark_of(uint32_t reign)
{
	return (uint64_t)(reign & 0x7ffff) << 44 |
	       (uint64_t)(uint32_t)nfsappend_process->pid << 22 |
	       (uint64_t)(uint32_t)nfsappend_tid();
}

static bool is_of(uint64_t mark, uint32_t reign)
{
	return mark != 0 && MARK_REIGN(mark) == (reign & 0x7ffff);
}

static pthread_mutex_t *lock_of(struct nfsappend_segment *s, uint32_t reign)
{
	return &s->leaders[reign % NFSAPPEND_LEADS];
}

/* 0, 1 when the holder died, -EBUSY, -EIO. */
static int trylock(struct nfsappend_segment *s, uint32_t reign)
{
	int r = pthread_mutex_trylock(lock_of(s, reign));

	if (r == EOWNERDEAD) {
		pthread_mutex_consistent(lock_of(s, reign));
		return 1;
	}
	return r == 0 ? 0 : r == EBUSY ? -EBUSY : -EIO;
}

/* As a holder's death leaves it. */
static int inherit(struct nfsappend_segment *s)
{
	s->size_known = 0;
	s->orphaned = 1;
	return 1;
}

/*
 * The leader of that reign is deposed: a new reign, and we lead. Whoever dies
 * on the way leaves the mark, and the next one comes here.
 */
static int begin_reign(struct nfsappend_segment_view *v, uint32_t old)
{
	struct nfsappend_segment *s = v->shared;
	uint32_t new = old + 1;
	int r;

	/* An older one may not have woken yet. */
	while ((r = trylock(s, new)) == -EBUSY &&
		new - old < NFSAPPEND_LEADS - 1 && atomic_load(&s->reign) == old)
		new++;
	if (r < 0)
		return r;
	if (atomic_load(&s->reign) != old) {
		pthread_mutex_unlock(lock_of(s, new));
		return -EBUSY;
	}
	/* If it had a batch of its own, all before was settled. */
	if (s->deposed == 0)
		s->deposed = old + 1;
	atomic_store(&s->reign, new);
	return inherit(s);
}

int nfsappend_segment_trylead(struct nfsappend_segment_view *v)
{
	struct nfsappend_segment *s = v->shared;
	uint64_t heir = atomic_load(&s->heir);
	uint32_t reign;
	uint64_t mark;
	int r;

	/* Also who only ever follows is a user. */
	if (v->registered != nfsappend_process->pid)
		nfsappend_segment_enter(v);
	if (heir != 0 && heir != nfsappend_thread_name())
		return -EBUSY;
	reign = atomic_load(&s->reign);
	mark = atomic_load(&s->asleep);
	if (mark & DEPOSED && is_of(mark, reign))
		return begin_reign(v, reign);
	r = trylock(s, reign);
	if (r < 0)
		return r;
	mark = atomic_load(&s->asleep);
	if (atomic_load(&s->reign) != reign ||
		(mark & DEPOSED && is_of(mark, reign))) {
		/* Just deposed, and awake again. */
		pthread_mutex_unlock(lock_of(s, reign));
		return -EBUSY;
	}
	return r == 1 ? inherit(s) : 0;
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
		self = nfsappend_thread_name();
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
	struct nfsappend_segment *s = v->shared;

	/* Who leads is not deposed while it is here. */
	pthread_mutex_unlock(lock_of(s, atomic_load(&s->reign)));
	wake(s);
}

void nfsappend_segment_may_depose(struct nfsappend_segment_view *v,
	struct nfsappend_waiting *w)
{
	struct nfsappend_segment *s = v->shared;

	w->mark_at = &s->asleep;
	w->reign = atomic_load(&s->reign);
	w->mark = mark_of(w->reign);
}

void nfsappend_segment_stay(struct nfsappend_waiting *w)
{
	w->mark_at = NULL;
}

void nfsappend_segment_abdicate(
	struct nfsappend_segment_view *v, const struct nfsappend_waiting *w)
{
	pthread_mutex_unlock(lock_of(v->shared, w->reign));
}

int nfsappend_segment_outcome(struct nfsappend_segment_view *v, uint32_t reign,
	uint64_t *landed, uint64_t *end)
{
	struct nfsappend_segment *s = v->shared;
	unsigned i = reign % NFSAPPEND_LEADS;
	uint32_t seen = atomic_load(&s->outcomes[i].reign);

	/* One more than the reign, so that zeroes are none. */
	if (seen != reign + 1)
		return atomic_load(&s->reign) - reign < NFSAPPEND_LEADS
			? -EAGAIN
			: -ENOENT;
	*landed = s->outcomes[i].landed;
	*end = s->outcomes[i].end;
	return atomic_load(&s->outcomes[i].reign) == seen ? 0 : -ENOENT;
}

void nfsappend_segment_settled(struct nfsappend_segment_view *v)
{
	struct nfsappend_segment *s = v->shared;
	uint32_t reign = s->deposed - 1;
	unsigned i = reign % NFSAPPEND_LEADS;

	if (s->deposed == 0)
		return;
	atomic_store(&s->outcomes[i].reign, 0);
	s->outcomes[i].landed = s->landed;
	s->outcomes[i].end = s->landed_end;
	atomic_store(&s->outcomes[i].reign, reign + 1);
	s->deposed = 0;
}

uint32_t nfsappend_segment_turn(struct nfsappend_segment_view *v)
{
	return atomic_load(&v->shared->turns);
}

/* Is the thread stopped, or held by a debugger? */
static bool is_stopped(uint64_t mark)
{
	char path[64], text[256];
	const char *state;

	snprintf(path, sizeof path, "/proc/%u/task/%u/stat", MARK_PID(mark),
		MARK_TID(mark));
	if (sys_read_text(AT_FDCWD, path, text, sizeof text) <= 0)
		return false;
	state = strrchr(text, ')'); /* behind the program's name */
	return state != NULL && state[1] == ' ' &&
	       (state[2] == 'T' || state[2] == 't');
}

static void depose_if_stopped(
	struct nfsappend_segment *s, struct nfsappend_waiting *w)
{
	uint64_t mark = atomic_load(&s->asleep);

	if (mark == 0 || mark & DEPOSED ||
		!is_of(mark, atomic_load(&s->reign)) || !is_stopped(mark)) {
		w->stopped = 0;
		return;
	}
	if (++w->stopped < STOPPED_SLICES ||
		!atomic_compare_exchange_strong(
			&s->asleep, &mark, mark | DEPOSED))
		return;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_DEPOSED,
		"process %u was stopped (a signal, a debugger) while it "
		"appended for others too; another one goes on in its place",
		MARK_PID(mark));
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
	depose_if_stopped(s, w);
	/* Fatal signals, "not responding", the deadline: long enough that it
	 * does sleep. */
	return nfsappend_wait_sleep(w, 1000000) != 0 ? -ETIMEDOUT : 0;
}
