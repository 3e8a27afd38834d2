#include "loop.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

struct watch {
	struct watch *next;
	int fd;
	short events;
	bool dead; /* freed by the loop, so that callbacks may remove any */
	watch_fn *fn;
	void *arg;
};

struct timer {
	struct timer *next;
	int64_t due;
	timer_fn *fn;
	void *arg;
};

static struct watch *watches;
static struct timer *timers; /* earliest first, in order of arrival */
static volatile sig_atomic_t stopped;
static sigset_t while_waiting; /* signals come in only there */

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

struct watch *watch_add(int fd, short events, watch_fn *fn, void *arg)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		err(1, "watch");
	*w = (struct watch){watches, fd, events, false, fn, arg};
	watches = w;
	return w;
}

void watch_set(struct watch *w, short events)
{
	w->events = events;
}

void watch_del(struct watch *w)
{
	w->dead = true;
}

struct timer *timer_add(int64_t ms, timer_fn *fn, void *arg)
{
	struct timer **at = &timers, *t = calloc(1, sizeof(*t));

	if (!t)
		err(1, "timer");
	*t = (struct timer){NULL, now_us() + ms * 1000, fn, arg};
	while (*at && (*at)->due <= t->due)
		at = &(*at)->next;
	t->next = *at;
	*at = t;
	return t;
}

void timer_del(struct timer *t)
{
	struct timer **at = &timers;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at) {
		*at = t->next;
		free(t);
	}
}

static void run_timers(void)
{
	while (timers && timers->due <= now_us()) {
		struct timer *t = timers;

		timers = t->next;
		t->fn(t->arg);
		free(t);
	}
}

static void free_dead(void)
{
	struct watch **at = &watches, *w;

	while ((w = *at)) {
		if (w->dead) {
			*at = w->next;
			free(w);
		} else {
			at = &w->next;
		}
	}
}

static int wait_ms(void)
{
	int64_t left;

	if (!timers)
		return -1;
	left = timers->due - now_us();
	return left <= 0 ? 0 : (left + 999) / 1000;
}

static void poll_once(void)
{
	struct watch *w, *of[1024];
	struct pollfd p[1024];
	struct timespec ts;
	int i, ms, n = 0;

	/* A watch with no events takes no place: it would spin on POLLHUP. */
	for (w = watches; w && n < 1024; w = w->next) {
		if (!w->events)
			continue;
		p[n] = (struct pollfd){w->fd, w->events, 0};
		of[n++] = w;
	}
	ms = wait_ms();
	ts = (struct timespec){ms / 1000, ms % 1000 * 1000000L};
	if (ppoll(p, n, ms < 0 ? NULL : &ts, &while_waiting) < 0) {
		if (errno != EINTR)
			err(1, "poll");
		return;
	}
	for (i = 0; i < n; i++)
		if (p[i].revents && !of[i]->dead)
			of[i]->fn(of[i]->arg, p[i].revents);
}

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

void loop_run(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, &while_waiting);
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGPIPE, SIG_IGN);
	while (!stopped) {
		free_dead();
		poll_once();
		run_timers();
	}
}

void loop_stop(void)
{
	stopped = 1;
}
