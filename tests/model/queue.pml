/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commit queue as lib/core/{queue,group,append}.c have it, to be explored
 * by spin in all its interleavings. A record is one cell of the file.
 *
 *   WRITERS x RECORDS   each appends that many, one after the other
 *   CRASHES             kill -9 of any writer between any two steps
 *   LOSSES              answers that do not come: executed, or never, or later
 *                       than anything else ("late"): the first request may be
 *                       at work while it is sent again
 *   SHORTS              WRITEs that do less than asked (but not over what is
 *                       there, nor while a first sending of the same is at
 *                       work: without a lock on the server nothing would hold
 *                       that one back)
 *   GIVEUPS             a writer or a leader runs out of time
 *   DEPOSALS            a leader that waits for an answer is deposed (lead.c)
 *
 * A leader that is stopped is one that takes no step for as long as it likes;
 * others may run out of time, or depose it, meanwhile. Sleep ends when a leader has ended
 * (or, bounded in the code, after somebody has died): a lost wake-up is an
 * invalid end state. Mutations: NO_SETTLE, NO_OWNER_DIED,
 * WAKE_EARLY, NO_MARK (who wakes does not look whether it leads still),
 * NO_OUTCOME (and sends its record again in any case).
 */
#ifndef WRITERS
#define WRITERS 3
#endif
#ifndef RECORDS
#define RECORDS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef SHORTS
#define SHORTS 1
#endif
#ifndef GIVEUPS
#define GIVEUPS 1
#endif

#ifndef DEPOSALS
#define DEPOSALS 0
#endif

#define ALL (WRITERS * RECORDS)
#define CELLS (2 * ALL + 1)
#define NOBODY 255

mtype = { FREE, QUEUED, TAKEN, DONE, ABANDONED };
mtype = { OK, FAILED };

/* The server. */
byte file[CELLS];
byte size;
byte late_off = 0, late_len = 0;
byte late[WRITERS + 1];

/* The segment. */
byte owner = NOBODY;
bool owner_died;
byte asleep = NOBODY; /* the mark of a leader that waits for an answer */
byte deposed = NOBODY; /* whose batch is to be settled */
bool told[WRITERS];
byte outcome[WRITERS]; /* of a deposed leader's batch: what has landed */
byte turn; /* modulo: no one sleeps through 256 of them */
bool known_size;
byte seg_size;
bool pending;
byte p_off, p_len;
byte stage[WRITERS + 1];
byte landed, base;
bool orphaned;

/* The queue: one slot a writer. */
mtype state[WRITERS] = FREE;
byte rec[WRITERS], at[WRITERS];
mtype result[WRITERS] = FAILED;
byte ticket[WRITERS];
byte tickets;
bool known;
byte q_done;
bool q_failed;

/* What the test knows. */
bool acked[ALL + 1];
byte ended;
byte crashes, losses, shorts, giveups, deposals;
byte died; /* grows with the end of a killed writer */

#define MAY_DIE \
	if \
	:: skip \
	:: atomic { crashes < CRASHES -> crashes++; goto dead } \
	fi

inline put(off, many) {
	d_step {
		i = 0;
		do
		:: i < many -> file[off + i] = stage[i]; i++
		:: else -> break
		od;
		if
		:: off + many > size -> size = off + many
		:: else
		fi;
		i = 0
	}
}

/* A sleep is over. */
inline awake() {
#ifndef NO_MARK
	atomic {
		if
		:: asleep == _pid -> asleep = NOBODY
		:: else -> goto was_deposed
		fi
	}
#else
	skip
#endif
}

/* One WRITE of the stage: count, or lost. */
inline send() {
	count = 0; lost = false;
	if
	:: put(p_off, p_len); count = p_len
	:: atomic { shorts < SHORTS && p_len > 1 && late_len == 0 &&
			size < p_off + p_len -> shorts++ };
		put(p_off, p_len - 1); count = p_len - 1
	:: atomic { losses < LOSSES -> losses++; lost = true };
		if
		:: put(p_off, p_len)
		:: p_len > 1 -> put(p_off, p_len - 1)
		:: skip
		:: late_len == 0 -> d_step {
			i = 0;
			do
			:: i < p_len -> late[i] = stage[i]; i++
			:: else -> break
			od;
			late_off = p_off; late_len = p_len; i = 0 }
		fi
	fi;
	asleep = _pid /* what is sent is sent; the answer is yet to come */
}

/* Is what is staged there? */
inline read_back() {
	d_step {
		i = 0; there = (size >= p_off + p_len);
		do
		:: i < p_len && there -> there = (file[p_off + i] == stage[i]); i++
		:: else -> break
		od;
		i = 0
	}
}

/* Until the staged WRITE has an answer; nothing else is sent before. */
inline settle() {
	do
	:: read_back();
		if
		:: there -> count = p_len; break
		:: else
		fi;
		MAY_DIE;
		send();
		MAY_DIE;
		awake();
		if
		:: !lost -> break
		:: else
		fi
	:: send(); /* single: without looking */
		MAY_DIE;
		awake();
		if
		:: !lost -> break
		:: else
		fi
	:: atomic { giveups < GIVEUPS -> giveups++; gave_up = true; break }
	od
}

inline note() {
	seg_size = p_off + count; known_size = true;
	landed = base + count;
	MAY_DIE;
	pending = false
}

inline settle_one() {
	d_step {
		result[s] = (at[s] < q_done -> OK : FAILED);
		if
		:: state[s] == TAKEN -> state[s] = DONE
		:: else -> state[s] = FREE
		fi
	}
}

inline settle_taken() {
	s = 0;
	do
	:: s < WRITERS ->
		if
		:: (state[s] == TAKEN || state[s] == ABANDONED) && at[s] >= q_done &&
			!q_failed ->
			/* Its writer may give up between look and step. */
			if
			:: atomic { state[s] == TAKEN -> state[s] = QUEUED }
			:: atomic { state[s] == ABANDONED -> state[s] = FREE }
			fi
		:: (state[s] == TAKEN || state[s] == ABANDONED) &&
			!(at[s] >= q_done && !q_failed) -> settle_one()
		:: else
		fi;
		MAY_DIE;
		s++
	:: else -> break
	od;
	s = 0
}

inline publish(done, failed) {
	q_done = done; q_failed = failed;
	MAY_DIE;
	known = true;
	MAY_DIE;
	settle_taken();
	known = false
}

inline recover() {
	if
	:: known -> settle_taken(); known = false
	:: else -> publish(landed, false)
	fi;
	orphaned = false
}

/* The next in the order of the tickets, not yet looked at. */
inline next_queued() {
	d_step {
		i = 0; s = WRITERS;
		do
		:: i < WRITERS ->
			if
			:: state[i] == QUEUED && (s == WRITERS ||
				ticket[i] < ticket[s]) -> s = i
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

/* With the lock: all that is queued, and own (0: none), in one WRITE. */
inline lead(own) {
	gave_up = false;
	landed = 0; cells = 0; own_sent = false;
	do
	:: next_queued();
		if
		:: s == WRITERS -> break
		:: else
		fi;
		if
		:: d_step { state[s] == QUEUED -> at[s] = cells; state[s] = TAKEN };
			MAY_DIE;
			stage[cells] = rec[s]; cells++
		:: else
		fi
	od;
	s = 0;
	if
	:: own != 0 -> stage[cells] = own; cells++; own_sent = true; own_at = cells
	:: else
	fi;
	if
	:: cells > 0 ->
		base = 0; count = 0;
		do
		:: base < cells ->
			if
			:: !known_size -> seg_size = size; known_size = true
			:: else
			fi;
			p_off = seg_size; p_len = cells - base;
			MAY_DIE;
			pending = true;
			MAY_DIE;
			send();
			MAY_DIE;
			awake();
			if
			:: lost -> settle()
			:: else
			fi;
			if
			:: gave_up -> break
			:: else
			fi;
			MAY_DIE;
			note();
			MAY_DIE;
			d_step { /* the rest moves up */
				i = 0;
				do
				:: i + count < cells - base -> stage[i] = stage[i + count]; i++
				:: else -> break
				od;
				i = 0;
				base = base + count
			}
		:: else -> break
		od;
		MAY_DIE;
		if
		:: gave_up -> orphaned = true; known_size = false
		:: else -> publish(cells, false)
		fi
	:: else
	fi
}

/* With the lock: what a predecessor left. */
inline settle_lead() {
	gave_up = false;
	if
	:: pending ->
#ifndef NO_SETTLE
		settle();
		if
		:: !gave_up -> note()
		:: else
		fi
#else
		pending = false; known_size = false
#endif
	:: else
	fi;
	if
	:: !gave_up && deposed != NOBODY -> d_step {
		outcome[deposed] = landed; told[deposed] = true;
		deposed = NOBODY }
	:: else
	fi;
	if
	:: !gave_up && orphaned -> recover()
	:: else
	fi
}

inline try_lock() {
	atomic {
		if
		:: owner == NOBODY -> owner = _pid; got = true; asleep = NOBODY
		:: owner != NOBODY && !owner_died && asleep == owner &&
			deposals < DEPOSALS -> deposals++;
			if
			:: deposed == NOBODY -> deposed = owner
			:: else
			fi;
			owner = _pid; got = true; asleep = NOBODY;
			known_size = false; orphaned = true
		:: owner != NOBODY && owner_died -> owner = _pid; got = true;
			owner_died = false; asleep = NOBODY;
#ifndef NO_OWNER_DIED
			known_size = false; orphaned = true
#endif
		:: else -> got = false
		fi
	}
}

/* What nobody reads any more is not a difference between states. */
inline forget() {
	d_step {
		count = 0; lost = false; there = false; cells = 0; s = 0;
		q_done = 0; q_failed = false;
		if
		:: !orphaned && !pending -> landed = 0; base = 0; p_off = 0; p_len = 0;
			do
			:: i < WRITERS + 1 -> stage[i] = 0; i++
			:: else -> break
			od;
			i = 0;
			do
			:: i < WRITERS -> at[i] = 0; i++
			:: else -> break
			od;
			i = 0
		:: else
		fi;
		if
		:: !known_size -> seg_size = 0
		:: else
		fi
	}
}

inline unlock() {
	forget();
#ifdef WAKE_EARLY
	turn++;
	MAY_DIE;
	owner = NOBODY
#else
	owner = NOBODY;
	MAY_DIE;
	turn++
#endif
}

active [WRITERS] proctype writer() {
	byte n, i, s, cells, count, seen, seen_died;
	bool lost, there, got, gave_up, own_sent, waiting;
	byte own_at;

	do
	:: n == RECORDS -> break
	:: n < RECORDS ->
		n++;
again:		own_sent = false;
		try_lock();
		if
		:: got ->
			settle_lead();
			if
			:: gave_up -> unlock() /* EIO, nothing sent */
			:: else ->
				lead(_pid * RECORDS + n);
				if
				:: !gave_up -> acked[_pid * RECORDS + n] = true
				:: else /* in doubt */
				fi;
				unlock()
			fi;
			goto next
		:: else
		fi;
		MAY_DIE;
		rec[_pid] = _pid * RECORDS + n;
		d_step { ticket[_pid] = tickets; tickets++ };
		MAY_DIE;
		state[_pid] = QUEUED;
queued:		do
		:: seen = turn; seen_died = died;
			if
			:: state[_pid] == DONE ->
				if
				:: result[_pid] == OK ->
					acked[_pid * RECORDS + n] = true
				:: else -> assert(false) /* no errors here */
				fi;
				MAY_DIE;
				d_step { state[_pid] = FREE; rec[_pid] = 0; result[_pid] = FAILED;
					ticket[_pid] = 0 };
				break
			:: else
			fi;
			MAY_DIE;
			try_lock();
			if
			:: got ->
				settle_lead();
				if
				:: !gave_up ->
					lead(0);
					/* Whoever leads knows of his own record. */
					assert(gave_up || state[_pid] != TAKEN)
				:: else
				fi;
				unlock();
				MAY_DIE
			:: else ->
				if
				:: turn != seen || owner_died || died != seen_died
				:: atomic { giveups < GIVEUPS -> giveups++ };
					gave_up = true
				fi
			fi;
			if
			:: gave_up ->
				gave_up = false;
				/* Withdrawn, abandoned, or too late. */
				if
				:: atomic { state[_pid] == QUEUED -> state[_pid] = FREE }; break
				:: atomic { state[_pid] == TAKEN -> state[_pid] = ABANDONED }; break
				:: state[_pid] == DONE
				fi
			:: else
			fi
		od;
		goto next;
was_deposed:	skip;
		/* Nothing of the segment is touched but by the queue's rules. */
		d_step { count = 0; lost = false; there = false; cells = 0; s = 0 };
		if
		:: waiting
		:: !waiting && !own_sent && state[_pid] != FREE -> goto queued
		:: !waiting && !own_sent && state[_pid] == FREE -> goto again
		:: !waiting && own_sent
		fi;
#ifdef NO_OUTCOME
		goto again;
#endif
		waiting = true;
		do
		:: told[_pid] ->
			told[_pid] = false; waiting = false;
			if
			:: outcome[_pid] >= own_at ->
				acked[_pid * RECORDS + n] = true; goto next
			:: else -> goto again
			fi
		:: !told[_pid] ->
			try_lock();
			if
			:: got ->
				settle_lead();
				unlock();
				if
				:: gave_up -> /* EIO */
					gave_up = false; waiting = false;
					goto next
				:: else
				fi
			:: else ->
				(told[_pid] || owner_died || owner == NOBODY)
			fi
		od;
next:	skip;
		d_step { seen = 0; seen_died = 0 };
		/* The slot that was abandoned is the leader's to free: take another,
		 * here: wait for it. */
		(state[_pid] == FREE || n == RECORDS || owner_died ||
			owner == NOBODY);
		if
		:: state[_pid] != FREE -> break
		:: else
		fi
	od;
	goto over;
dead:
	atomic {
		if
		:: owner == _pid -> owner_died = true
		:: else
		fi;
		died++
	}
over:
	ended++
}

/* The first request, executed after all. */
active proctype slow_server() {
	byte i;

end:
	do
	:: atomic { late_len > 0 ->
		i = 0;
		do
		:: i < late_len -> file[late_off + i] = late[i]; i++
		:: else -> break
		od;
		if
		:: late_off + late_len > size -> size = late_off + late_len
		:: else
		fi;
		i = 0; late_len = 0 }
	:: atomic { late_len > 0 -> late_len = 0 } /* or never */
	od
}

/* At the end: all that was acknowledged is there once, the rest at most once,
 * no hole, and a writer's records in order. */
active proctype check() {
	byte i, r, n, last;

	(ended == WRITERS && late_len == 0);
	atomic {
		r = 1;
		do
		:: r <= ALL ->
			n = 0; i = 0;
			do
			:: i < size ->
				if
				:: file[i] == r -> n++
				:: else
				fi;
				i++
			:: else -> break
			od;
			assert(n <= 1);
			assert(!acked[r] || n == 1);
			r++
		:: else -> break
		od;
		i = 0;
		do
		:: i < size -> assert(file[i] != 0); i++
		:: else -> break
		od
	}
}
