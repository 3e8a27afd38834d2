/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Living in somebody else's process: fork detection, the guard round every
 * operation of ours (signals and cancellation held off), and how we sleep.
 */
#ifndef NFSAPPEND_CORE_PROCESS_H
#define NFSAPPEND_CORE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/backend.h"
#include "core/sys.h"

/* On a page of its own that the kernel wipes in every child (MADV_WIPEONFORK
 * sees fork, _Fork and raw clone, which pthread_atfork does not). */
struct nfsappend_process {
	_Atomic uint32_t alive; /* 0 in a child that has not been seen yet */
	pid_t pid;
	bool raw_clone; /* made by clone(2) itself: glibc's tid is stale */
};

extern struct nfsappend_process *nfsappend_process;

/* Once, before anything else of core. */
int nfsappend_process_start(void);

/* The thread is inside the library: hooks pass everything through. */
extern __thread unsigned nfsappend_depth
	__attribute__((tls_model("initial-exec")));

/*
 * The guard. While it is held no handler of the program runs in this thread
 * (so none can meet a lock of ours that its own thread holds), and a pending
 * cancellation waits. SIGSETXID of glibc stays open: setuid() in another
 * thread waits for it. Guards nest; only the outermost does the work.
 */
struct nfsappend_guard {
	nfsappend_sigset mask; /* the program's */
	int cancelstate;
	int saved_errno; /* the program's, given back unless a hook sets it */
	bool outermost;
};
void nfsappend_guard_enter(struct nfsappend_guard *);
void nfsappend_guard_leave(struct nfsappend_guard *);

/* Is this the process that owns the memory, or a vfork child in it? */
static inline bool nfsappend_in_vfork_child(void)
{
	return sys_getpid() != nfsappend_process->pid;
}

/*
 * A wait of core: what struct nfsappend_wait is for the module, with the
 * server's name for "not responding" after 5 s and "OK" when that is over.
 */
struct nfsappend_waiting {
	struct nfsappend_wait wait; /* first: the module hands it back */
	int64_t start;
	const char *server;
	bool reported;
	bool steps; /* of an append: one call that is answered, be it that of
		     * a GETATTR on the way, is not yet the end of it */
	bool grace; /* told of a grace period */
	/* Of a leader that may be deposed while it sleeps (segment.h): the
	 * mark, and where it lies while we do; NULL: none. */
	_Atomic uint64_t *mark_at;
	uint64_t mark;
	uint32_t reign;
	unsigned stopped; /* times in a row that a leader was found stopped */
};
void nfsappend_wait_start(struct nfsappend_waiting *, const char *server,
	unsigned timeout_s);
/* Says "OK" if it had said "not responding". */
void nfsappend_wait_over(struct nfsappend_waiting *);
/* Sleep ns, or less at the deadline: 0 or -ETIMEDOUT. */
int nfsappend_wait_sleep(struct nfsappend_waiting *, int64_t ns);
/* The signal mask for a sleep that began at start: for the first second
 * everything stays blocked; later those that the program leaves unblocked
 * and at SIG_DFL get through, so that fatal ones kill as on a hard mount. */
nfsappend_sigset nfsappend_wait_mask(int64_t start);

/* Called in a new child, once, with the guard held. */
typedef void nfsappend_child_fn(void);
void nfsappend_process_on_child(nfsappend_child_fn *);

/* gettid(), without asking each time. */
pid_t nfsappend_tid(void);
/* Process and thread as one word, never 0. */
uint64_t nfsappend_thread_name(void);

/* Memory straight from the kernel, for what lives long. NULL on failure. */
void *nfsappend_pages(size_t n);

#endif
