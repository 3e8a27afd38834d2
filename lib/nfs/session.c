/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "core/sys.h"
#include "nfs/session.h"

#define MS INT64_C(1000000)
#define SLICE (200 * MS) /* ns; then fatal signals get a chance */

struct nfsappend_waiter {
	struct nfsappend_waiter *next;
	struct nfsappend_connection *got; /* NULL: may make one */
	_Atomic uint32_t served;	  /* futex */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nfsappend_session *sessions; /* under list_lock; only grows */

/* As the kernel's client over TCP: a request without an answer is sent again
 * after 60 s (nfs(5), timeo), but always on another connection, as RFC 7530
 * section 3.1.1 demands of NFSv4. */
static int64_t answer_ns(const struct nfsappend_target *target)
{
	return (target->timeo != 0 ? target->timeo : 600) * 100 * MS;
}

struct nfsappend_session *nfsappend_session_get(
	const struct nfsappend_target *target,
	const struct nfsappend_contact *contact,
	const struct nfsappend_cred *cred)
{
	struct nfsappend_session *s;

	pthread_mutex_lock(&list_lock);
	for (s = sessions; s != NULL; s = s->next)
		if (s->version == target->version &&
			s->answer_ns == answer_ns(target) &&
			s->unprivileged == target->unprivileged &&
			!memcmp(&s->address, &contact->address,
				sizeof s->address) &&
			!memcmp(&s->cred, cred, sizeof s->cred))
			break;
	if (s == NULL && (s = calloc(1, sizeof *s)) != NULL) {
		s->address = contact->address;
		s->cred = *cred;
		s->version = target->version;
		s->answer_ns = answer_ns(target);
		s->unprivileged = target->unprivileged;
		pthread_mutex_init(&s->lock, NULL);
		s->last = &s->first;
		s->next = sessions;
		sessions = s;
	}
	pthread_mutex_unlock(&list_lock);
	return s;
}

void nfsappend_session_adopt(
	struct nfsappend_session *s, struct nfsappend_connection *c)
{
	c->answer_ns = s->answer_ns;
	pthread_mutex_lock(&s->lock);
	c->next = s->idle;
	s->idle = c;
	s->count++;
	s->connected = true;
	pthread_mutex_unlock(&s->lock);
}

void nfsappend_sessions_after_fork(void)
{
	pthread_mutex_init(&list_lock, NULL);
	for (struct nfsappend_session *s = sessions; s != NULL; s = s->next) {
		/* Contexts and sockets are the parent's; core has closed
		 * our copies of the sockets. */
		pthread_mutex_init(&s->lock, NULL);
		s->idle = NULL;
		s->first = NULL;
		s->last = &s->first;
		s->count = 0;
		s->connected = false;
	}
}

/* The place of one connection is free: c, or NULL when it was closed. The
 * first that waits gets it. */
static void pass_on(struct nfsappend_session *s, struct nfsappend_connection *c)
{
	struct nfsappend_waiter *w;

	pthread_mutex_lock(&s->lock);
	w = s->first;
	if (w != NULL) {
		s->first = w->next;
		if (s->first == NULL)
			s->last = &s->first;
		w->got = c;
		atomic_store(&w->served, 1);
		/* Under the lock: w is gone as soon as it looks. */
		nfsappend_sys(SYS_futex, (long)&w->served, FUTEX_WAKE_PRIVATE,
			1, 0, 0, 0);
	} else if (c != NULL) {
		c->next = s->idle;
		s->idle = c;
	} else {
		s->count--;
	}
	pthread_mutex_unlock(&s->lock);
}

static void forget(struct nfsappend_session *s, struct nfsappend_connection *c)
{
	nfsappend_disconnect(c);
	pass_on(s, NULL);
}

/* No longer: true if it was served meanwhile. */
static bool leave(struct nfsappend_session *s, struct nfsappend_waiter *w)
{
	bool served;

	pthread_mutex_lock(&s->lock);
	served = atomic_load(&w->served) != 0;
	for (struct nfsappend_waiter **p = &s->first; !served && *p != NULL;
		p = &(*p)->next) {
		if (*p != w)
			continue;
		*p = w->next;
		if (s->last == &w->next)
			s->last = p;
		break;
	}
	pthread_mutex_unlock(&s->lock);
	return served;
}

/* Lets fatal signals through, and says so when the deadline has passed. */
static bool out_of_time(struct nfsappend_wait *wait)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return wait->poll(wait, NULL, 0,
		       t.tv_sec * 1000 * MS + t.tv_nsec + MS) < 0;
}

static int wait_for_one(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_waiter *w)
{
	struct timespec t = {0, SLICE};

	while (!atomic_load(&w->served)) {
		/* Short of the slice it is served, or woken for nothing. */
		if (nfsappend_sys(SYS_futex, (long)&w->served,
			    FUTEX_WAIT_PRIVATE, 0, (long)&t, 0,
			    0) != -ETIMEDOUT ||
			!out_of_time(wait))
			continue;
		if (leave(s, w))
			pass_on(s, w->got);
		return NFSAPPEND_TIMED_OUT;
	}
	/* Until it is let go of under the lock, it is not ours alone. */
	pthread_mutex_lock(&s->lock);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* An idle one, or permission to make one (*out NULL). */
static int take_place(struct nfsappend_session *s, struct nfsappend_wait *wait,
	struct nfsappend_connection **out)
{
	struct nfsappend_waiter w = {.next = NULL};
	int r;

	pthread_mutex_lock(&s->lock);
	*out = s->idle;
	if (*out != NULL) {
		s->idle = (*out)->next;
	} else if (s->count < NFSAPPEND_CONNECTIONS_MAX) {
		s->count++;
	} else {
		*s->last = &w;
		s->last = &w.next;
		pthread_mutex_unlock(&s->lock);
		r = wait_for_one(s, wait, &w);
		*out = w.got;
		return r;
	}
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int nfsappend_session_take(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_connection **out)
{
	int r;

	for (;;) {
		r = take_place(s, wait, out);
		if (r != 0)
			return r;
		if (*out == NULL)
			break;
		if (!nfsappend_connection_dead(*out))
			return 0;
		forget(s, *out);
	}
	r = nfsappend_connect(
		&s->address, &s->cred, s->unprivileged, wait, out);
	if (r == 0) {
		(*out)->answer_ns = s->answer_ns;
		if (s->connected)
			wait->reconnects++;
		s->connected = true;
		return 0;
	}
	pass_on(s, NULL);
	if (r == -EMFILE || r == -ENFILE || r == -ENOMEM) {
		/* Nothing that waiting for the server would cure. */
		nfsappend_services->log(NFSAPPEND_ERROR,
			NFSAPPEND_MSG_CONNECTION,
			"no connection to the server: this process has no "
			"free descriptor (raise its limit, ulimit -n) or "
			"memory");
		return -EIO;
	}
	return r == NFSAPPEND_TIMED_OUT ? r : NFSAPPEND_UNSENT;
}

void nfsappend_session_give(
	struct nfsappend_session *s, struct nfsappend_connection *c, int result)
{
	if (result == NFSAPPEND_LOST || result == NFSAPPEND_TIMED_OUT) {
		forget(s, c);
		return;
	}
	pass_on(s, c);
}
