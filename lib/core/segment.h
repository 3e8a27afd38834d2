/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Host segment: what the processes of one host that append to one file with
 * the same credentials share. A file in a private directory, mapped; or an
 * anonymous mapping (shared with children only) where there is no such
 * directory, and then each process is a host of its own.
 *
 * Whoever holds the leader lock may write to the NFS file. It is robust: a
 * holder that dies hands over what it had in flight, so the bytes of a WRITE
 * lie here before it is sent.
 */
#ifndef NFSAPPEND_CORE_SEGMENT_H
#define NFSAPPEND_CORE_SEGMENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/backend.h"
#include "core/figures.h"
#include "core/process.h"
#include "core/rivals.h"

#define NFSAPPEND_SEGMENT_KEY 512
#define NFSAPPEND_STAGE_MAX (1 << 20) /* bytes of one WRITE at most */
#define NFSAPPEND_USERS 128
#define NFSAPPEND_LEADS 4

enum nfsappend_pending {
	NFSAPPEND_SETTLED,
	/* Sent, no answer seen: in doubt, if the next leader finds it. */
	NFSAPPEND_IN_FLIGHT,
	NFSAPPEND_IN_FLIGHT_AT, /* a write at a given offset, no append */
};

/* Shared memory. Everything but the users and the flags is under leader.
 * Written by anybody of our uid: check before use. */
struct nfsappend_segment {
	uint64_t magic; /* changes with the layout */
	uint32_t keylen;
	uint32_t ready;
	uint8_t key[NFSAPPEND_SEGMENT_KEY];
	/* The leader lock is leaders[reign % NFSAPPEND_LEADS]: see lead.c. */
	pthread_mutex_t leaders[NFSAPPEND_LEADS];
	_Atomic uint32_t reign;
	/* Under the leader lock: the reign before, if its leader was deposed
	 * and what it had sent is not settled yet; 0: none. */
	uint32_t deposed;
	/* The leader sleeps, and will touch nothing when it wakes before it
	 * has taken its mark away; 0: no mark. */
	_Atomic uint64_t asleep;
	/* What became of the batches of deposed leaders, for them. */
	struct {
		_Atomic uint32_t reign;
		uint64_t landed, end;
	} outcomes[NFSAPPEND_LEADS];

	uint64_t size; /* the file's, as of the last answer; if size_known */
	uint32_t size_known;
	uint32_t touched; /* somebody has written through this segment */

	uint32_t pending; /* enum nfsappend_pending */
	uint32_t pending_len;
	uint64_t pending_offset;

	/* NFSv4.0: of a file's segment its state, of a client's segment the
	 * client. */
	struct nfsappend_slot slot;
	struct nfsappend_client client;

	/* Of a record, or of a batch from the commit queue: bytes of it in
	 * the stage, 0 when it has come to its end; of those on stable
	 * storage and the file's end behind them; where in the stage those
	 * that are being sent begin. under_lock: these go under the mutex
	 * byte, and their outcome is not noted yet; the slot tells (wrote).
	 * orphaned: the leader died, or ran out of time, before it could tell
	 * the writers. */
	uint64_t staged;
	uint64_t landed;
	uint64_t landed_end;
	uint64_t batch_base;
	uint32_t under_lock;
	uint32_t orphaned;

	struct nfsappend_rivals rivals; /* of appends under the mutex byte */

	/* Futex: grows by 2 whenever a leader ends; odd: somebody sleeps. */
	_Atomic uint32_t turns;
	/* Who waits for the lead itself goes before those who can queue, or
	 * would never find it free: its pid and tid, or 0. */
	_Atomic uint64_t heir;

	/* Of a file on a kernel mount. kernel_served: by the kernel from now
	 * on; set before the leader lock is taken, obeyed under it. checked:
	 * the server takes our handle for this file. held_writable: some
	 * descriptor is open for writing, so the kernel must be made to drop
	 * what it thinks of the file after each append of ours. */
	_Atomic uint32_t kernel_served;
	_Atomic uint32_t checked;
	_Atomic uint32_t held_writable;
	/* Its local readers (readers.c), in CLOCK_MONOTONIC ns: the last open
	 * by a program, whether there was one just before that, and (under the
	 * leader lock) up to when they have been told. */
	_Atomic int64_t opened;
	_Atomic uint32_t reopened;
	int64_t told;

	_Atomic uint32_t queue_ready; /* memory stands behind the queue */
	uint64_t allocated; /* of the stage, bytes that memory stands behind */

	/* enum nfsappend_sharing, the strictest that one of the users asked
	 * for: what all of them do. */
	_Atomic uint32_t sharing;

	_Atomic int64_t used_s; /* CLOCK_MONOTONIC, last use */
	_Atomic uint32_t crowded; /* more users than fit below */
	_Atomic int32_t users[NFSAPPEND_USERS];

	struct nfsappend_figures figures;

	/* What is sent, staged. Runs on after the first pages. */
	uint8_t stage[] __attribute__((aligned(64)));
};

/* Our view of one. Owned by a struct nfsappend_file. */
struct nfsappend_segment_view {
	struct nfsappend_segment *shared;
	bool is_private; /* anonymous */
	_Atomic pid_t registered; /* this process is among the users */
	uint64_t ino;	 /* of the file that is mapped */
	char path[300];	 /* in the runtime directory */
};

struct nfsappend_queue;

/* key: what makes two processes meet. 0 or -ENOMEM; with no usable runtime
 * directory the segment is private, and told so once. */
int nfsappend_segment_open(struct nfsappend_segment_view *, const void *key,
	size_t keylen);
void nfsappend_segment_close(struct nfsappend_segment_view *);

/* The commit queue, if memory stands behind it; make: see that it does (the
 * first time two writers meet). NULL: each writer leads for itself. */
struct nfsappend_queue *nfsappend_segment_queue(
	struct nfsappend_segment_view *, bool make);

/* lead.c. Takes the leader lock: 0, 1 when the holder before died with it, or
 * was deposed (the lock is held, size_known is false, pending and the slot
 * tell), -ETIMEDOUT. */
int nfsappend_segment_lead(struct nfsappend_segment_view *,
	struct nfsappend_waiting *);
/* The same without waiting: -EBUSY. */
int nfsappend_segment_trylead(struct nfsappend_segment_view *);
/* Gives it back and wakes who sleeps for it. */
void nfsappend_segment_unlead(struct nfsappend_segment_view *);

/*
 * As leader: from now on, while the wait sleeps, a leader whose process is
 * stopped may be deposed (wait.deposed says so when it wakes, with the poll's
 * -ETIMEDOUT): nothing of the segment may be touched any more then, but
 * nfsappend_segment_abdicate() called in place of unlead(). Until stay().
 */
void nfsappend_segment_may_depose(struct nfsappend_segment_view *,
	struct nfsappend_waiting *);
void nfsappend_segment_stay(struct nfsappend_waiting *);
/* After that: gives the old lock back, wait.reign is what was lost. */
void nfsappend_segment_abdicate(struct nfsappend_segment_view *,
	const struct nfsappend_waiting *);
/* What became of that leader's batch: 0 when it is known, -EAGAIN not yet,
 * -ENOENT not any more. */
int nfsappend_segment_outcome(struct nfsappend_segment_view *, uint32_t reign,
	uint64_t *landed, uint64_t *end);
/* As leader: all is settled that leaders before had sent. */
void nfsappend_segment_settled(struct nfsappend_segment_view *);

/* To be read before trylead() and given to sleep(), which then misses no end
 * of a leader: 0, or -ETIMEDOUT at the deadline. A leader that dies wakes
 * nobody; the sleep is bounded. One that is stopped is deposed, if it may. */
uint32_t nfsappend_segment_turn(struct nfsappend_segment_view *);
int nfsappend_segment_sleep(struct nfsappend_segment_view *, uint32_t turn,
	struct nfsappend_waiting *);
/* This process is one of its users. */
void nfsappend_segment_enter(struct nfsappend_segment_view *);
/* Does no other process that is alive use it? */
bool nfsappend_segment_alone(struct nfsappend_segment_view *);

/* How many bytes of the stage can be used, at most want; as leader. */
uint32_t nfsappend_segment_stage(struct nfsappend_segment_view *,
	uint32_t want);

#endif
