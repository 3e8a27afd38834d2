/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "core/log.h"
#include "core/process.h"

#define SECOND INT64_C(1000000000)
#define SIGSETXID 33 /* glibc's, nptl/descr.h; not in any public header */
#define CHILD_FNS 12

static struct nfsappend_process process_fallback;
struct nfsappend_process *nfsappend_process = &process_fallback;
__thread unsigned nfsappend_depth;

/* The program's mask while a guard is held, for nfsappend_wait_mask(). */
static __thread nfsappend_sigset outer_mask
	__attribute__((tls_model("initial-exec")));

/* Written at start-up only. */
static nfsappend_child_fn *child_fns[CHILD_FNS];
static bool wiped_on_fork;

static void process_seen(void)
{
	clockid_t clock;

	nfsappend_process->pid = sys_getpid();
	/* glibc derives the clock from the tid it remembers for the thread:
	 * ~(tid) << 3 | 6 (include/linux/posix-timers.h). A raw clone's
	 * memory still has the parent's. */
	nfsappend_process->raw_clone =
		pthread_getcpuclockid(pthread_self(), &clock) == 0 &&
		(pid_t)~((unsigned)clock >> 3 | 7u << 29) != sys_gettid();
	atomic_store(&nfsappend_process->alive, 1);
}

void *nfsappend_pages(size_t n)
{
	return sys_mmap(n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1);
}

int nfsappend_process_start(void)
{
	struct nfsappend_process *page = nfsappend_pages(4096);

	if (page == NULL)
		return -ENOMEM;
	wiped_on_fork = sys_madvise(page, 4096, MADV_WIPEONFORK) == 0;
	nfsappend_process = page;
	process_seen();
	return 0;
}

void nfsappend_process_on_child(nfsappend_child_fn *fn)
{
	for (int i = 0; i < CHILD_FNS; i++) {
		if (child_fns[i] == NULL || child_fns[i] == fn) {
			child_fns[i] = fn;
			return;
		}
	}
}

/* 0 unseen, 1 seen, 2 some thread is at it. */
static void notice_child(void)
{
	uint32_t unseen = 0;

	if (!wiped_on_fork && nfsappend_process->pid != sys_getpid())
		atomic_store(&nfsappend_process->alive, 0);
	if (atomic_load_explicit(&nfsappend_process->alive,
		    memory_order_acquire) == 1)
		return;
	if (!atomic_compare_exchange_strong(&nfsappend_process->alive, &unseen,
		    2)) {
		struct timespec tick = {0, 100000};

		while (atomic_load(&nfsappend_process->alive) == 2)
			nfsappend_sys(SYS_nanosleep, (long)&tick, 0, 0, 0, 0,
				0);
		return;
	}
	for (int i = 0; i < CHILD_FNS && child_fns[i] != NULL; i++)
		child_fns[i]();
	process_seen();
}

void nfsappend_guard_enter(struct nfsappend_guard *guard)
{
	guard->saved_errno = errno;
	guard->outermost = nfsappend_depth++ == 0;
	if (!guard->outermost)
		return;
	nfsappend_sigset all = ~(UINT64_C(1) << (SIGSETXID - 1));

	sys_sigprocmask(SIG_SETMASK, &all, &guard->mask);
	outer_mask = guard->mask;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancelstate);
	notice_child();
}

void nfsappend_guard_leave(struct nfsappend_guard *guard)
{
	errno = guard->saved_errno;
	nfsappend_depth--;
	if (!guard->outermost)
		return;
	/* The real old state first, so that a handler that runs at once
	 * finds nothing of ours left. */
	pthread_setcancelstate(guard->cancelstate, NULL);
	sys_sigprocmask(SIG_SETMASK, &guard->mask, NULL);
}

pid_t nfsappend_tid(void)
{
	static __thread struct {
		pid_t pid, tid;
	} known __attribute__((tls_model("initial-exec")));

	if (known.pid != nfsappend_process->pid) {
		/* Its parent has this memory, and another number. */
		if (nfsappend_in_vfork_child())
			return (pid_t)sys_gettid();
		known.tid = sys_gettid();
		known.pid = nfsappend_process->pid;
	}
	return known.tid;
}

uint64_t nfsappend_thread_name(void)
{
	return (uint64_t)(uint32_t)nfsappend_process->pid << 32 |
	       (uint32_t)nfsappend_tid();
}

nfsappend_sigset nfsappend_wait_mask(int64_t start)
{
	nfsappend_sigset mask = ~(UINT64_C(1) << (SIGSETXID - 1));

	if (nfsappend_now() - start < SECOND)
		return mask;
	for (int sig = 1; sig <= 64; sig++) {
		struct {
			void *handler;
			unsigned long flags;
			void *restorer;
			nfsappend_sigset mask;
		} act = {0};
		uint64_t bit = UINT64_C(1) << (sig - 1);

		if (outer_mask & bit)
			continue;
		if (nfsappend_sys(SYS_rt_sigaction, sig, 0, (long)&act, 8, 0,
			    0) == 0 &&
			act.handler == (void *)SIG_DFL)
			mask &= ~bit;
	}
	return mask;
}

static void report_silence(struct nfsappend_waiting *w)
{
	if (w->reported || w->server == NULL ||
		nfsappend_now() - w->start < 5 * SECOND)
		return;
	w->reported = true;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_NOT_RESPONDING,
		"server %s not responding, still trying", w->server);
}

/* The sleep of a leader: false when it is none any more. */
static long poll_marked(struct nfsappend_waiting *w, struct pollfd *fds,
	unsigned n, const struct timespec *t, const nfsappend_sigset *mask)
{
	uint64_t mark = w->mark;
	long r;

	if (w->mark_at == NULL)
		return sys_ppoll(fds, n, t, mask);
	atomic_store(w->mark_at, mark);
	r = sys_ppoll(fds, n, t, mask);
	if (!atomic_compare_exchange_strong(w->mark_at, &mark, 0))
		w->wait.deposed = true;
	return r;
}

/* So short a sleep needs no look at signals, deadline and silence. */
static ssize_t waiting_receive(
	struct nfsappend_wait *wait, int fd, void *buf, size_t n)
{
	struct nfsappend_waiting *w = (struct nfsappend_waiting *)wait;
	uint64_t mark = w->mark;
	ssize_t r;

	if (w->mark_at != NULL)
		atomic_store(w->mark_at, mark);
	r = sys_recv(fd, buf, n, 0);
	if (w->mark_at != NULL &&
		!atomic_compare_exchange_strong(w->mark_at, &mark, 0))
		wait->deposed = true;
	if (wait->deposed)
		return -ETIMEDOUT;
	/* TCP's own (tcp(7), TCP_USER_TIMEOUT) means that it is broken. */
	return r == -ETIMEDOUT ? -ECONNRESET : r;
}

static int waiting_poll(struct nfsappend_wait *wait, struct pollfd *fds,
	unsigned n, int64_t until)
{
	struct nfsappend_waiting *w = (struct nfsappend_waiting *)wait;

	for (;;) {
		int64_t now = nfsappend_now();
		/* The mask and the report change at 1 s and 5 s. */
		int64_t end = now + SECOND;

		if (wait->deposed ||
			(wait->deadline != 0 && now >= wait->deadline))
			return -ETIMEDOUT;
		if (wait->deadline != 0 && wait->deadline < end)
			end = wait->deadline;
		if (until != 0 && until < end)
			end = until > now ? until : now;

		/* Even without time: so that fatal signals have a chance. */
		struct timespec t = {(end - now) / SECOND,
			(end - now) % SECOND};
		nfsappend_sigset mask = nfsappend_wait_mask(w->start);
		long r = poll_marked(w, fds, n, &t, &mask);

		if (w->wait.deposed)
			return -ETIMEDOUT;
		if (r > 0)
			return (int)r;
		report_silence(w);
		if (until != 0 && nfsappend_now() >= until)
			return 0;
	}
}

void nfsappend_wait_start(struct nfsappend_waiting *w, const char *server,
	unsigned timeout_s)
{
	*w = (struct nfsappend_waiting){
		.wait.poll = waiting_poll,
		.wait.receive = waiting_receive,
		.start = nfsappend_now(),
		.server = server,
	};
	if (timeout_s != 0)
		w->wait.deadline = w->start + timeout_s * SECOND;
}

void nfsappend_wait_over(struct nfsappend_waiting *w)
{
	if (w->reported)
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_RESPONDING,
			"server %s OK", w->server);
	w->reported = false;
}

int nfsappend_wait_sleep(struct nfsappend_waiting *w, int64_t ns)
{
	return w->wait.poll(&w->wait, NULL, 0, nfsappend_now() + ns);
}
