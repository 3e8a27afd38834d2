/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host that knows where the file ends appends in one round trip and holds
 * the lock for the server's time only. Two hosts in turn need two round trips
 * each, hold the lock for one of them, and refuse each other. So whoever is
 * refused stays away for several appends of the other one, and then is the
 * one that goes on. Measured with bench/hosts.
 */
#include "config.h"

#include "core/rivals.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define PAUSE_MIN (800 * US)
#define PAUSE_MAX (8 * MS)
#define BURST 16
#define REMEMBERED 32 /* appends */

int64_t nfsappend_jitter(int64_t max)
{
	/* xorshift64, of no use but to spread hosts. */
	static __thread uint64_t x __attribute__((tls_model("initial-exec")));

	if (x == 0)
		x = ((uint64_t)nfsappend_now() ^ (uint64_t)sys_gettid() << 40 ^
			    (uintptr_t)&max) |
		    1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (int64_t)(x % (uint64_t)max);
}

/*
 * Several round trips within limits, less the one that the refusal took, so
 * that a host far away tries as often as those close by. Refused again it is
 * twice as long and no more: who waits long is not put behind those who come
 * anew.
 */
int nfsappend_rivals_back_off(struct nfsappend_rivals *v,
	struct nfsappend_waiting *w, bool again, int64_t took)
{
	int64_t base = 8 * took, pause;

	v->left = REMEMBERED;
	v->burst = 0;
	if (base < PAUSE_MIN)
		base = PAUSE_MIN;
	if (base > PAUSE_MAX)
		base = PAUSE_MAX;
	if (again)
		base *= 2;
	pause = base / 2 + nfsappend_jitter(base) - took;
	if (pause <= 0)
		pause = 20 * US + nfsappend_jitter(200 * US);
	return nfsappend_wait_sleep(w, pause);
}

/*
 * Where the server takes its time with a WRITE, the lock is hardly ever free
 * while one host goes on. After so many appends in a row, and with others
 * about, it is left free for about one more; what the program did in between
 * counts.
 */
int nfsappend_rivals_let(
	struct nfsappend_rivals *v, struct nfsappend_waiting *w)
{
	int64_t pause, now = nfsappend_now();

	if (v->left == 0 || v->burst < BURST || v->took <= 0)
		return 0;
	v->burst = 0;
	/* Over, or somebody scribbled on it. */
	if (v->last_end > now || v->last_end < now - PAUSE_MAX)
		return 0;
	pause = nfsappend_jitter(v->took < PAUSE_MAX ? v->took : PAUSE_MAX) -
		(now - v->last_end);
	return pause > 0 ? nfsappend_wait_sleep(w, pause) : 0;
}

void nfsappend_rivals_note(struct nfsappend_rivals *v, bool met, int64_t took)
{
	if (met) {
		v->left = REMEMBERED;
		v->burst = 0;
	} else if (v->left > 0) {
		v->left--;
		v->burst++;
	}
	v->took = took;
	v->last_end = nfsappend_now();
}
