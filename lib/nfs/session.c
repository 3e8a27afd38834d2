/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "nfs/session.h"

#define MS INT64_C(1000000)

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
			!memcmp(&s->address, &contact->address,
				sizeof s->address) &&
			!memcmp(&s->cred, cred, sizeof s->cred))
			break;
	if (s == NULL && (s = calloc(1, sizeof *s)) != NULL) {
		s->address = contact->address;
		s->cred = *cred;
		s->version = target->version;
		s->answer_ns = answer_ns(target);
		pthread_mutex_init(&s->lock, NULL);
		s->next = sessions;
		sessions = s;
	}
	pthread_mutex_unlock(&list_lock);
	return s;
}

void nfsappend_session_adopt(struct nfsappend_session *s,
	struct nfsappend_connection *c)
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
		s->count = 0;
		s->connected = false;
	}
}

static void forget(struct nfsappend_session *s, struct nfsappend_connection *c)
{
	nfsappend_disconnect(c);
	pthread_mutex_lock(&s->lock);
	s->count--;
	pthread_mutex_unlock(&s->lock);
}

/* An idle one, or permission to make one (*out NULL). false: all in use. */
static bool take_idle(struct nfsappend_session *s,
	struct nfsappend_connection **out)
{
	bool may;

	pthread_mutex_lock(&s->lock);
	*out = s->idle;
	if (*out != NULL)
		s->idle = (*out)->next;
	may = *out != NULL || s->count < NFSAPPEND_CONNECTIONS_MAX;
	if (*out == NULL && may)
		s->count++;
	pthread_mutex_unlock(&s->lock);
	return may;
}

int nfsappend_session_take(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_connection **out)
{
	struct timespec t;
	int r;

	for (;;) {
		while (!take_idle(s, out)) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			if (wait->poll(wait, NULL, 0,
				    t.tv_sec * 1000 * MS + t.tv_nsec + MS) < 0)
				return NFSAPPEND_TIMED_OUT;
		}
		if (*out == NULL)
			break;
		if (!nfsappend_connection_dead(*out))
			return 0;
		forget(s, *out);
	}
	r = nfsappend_connect(&s->address, &s->cred, wait, out);
	if (r == 0) {
		(*out)->answer_ns = s->answer_ns;
		if (s->connected)
			wait->reconnects++;
		s->connected = true;
		return 0;
	}
	pthread_mutex_lock(&s->lock);
	s->count--;
	pthread_mutex_unlock(&s->lock);
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

void nfsappend_session_give(struct nfsappend_session *s,
	struct nfsappend_connection *c, int result)
{
	if (result == NFSAPPEND_LOST || result == NFSAPPEND_TIMED_OUT) {
		forget(s, c);
		return;
	}
	pthread_mutex_lock(&s->lock);
	c->next = s->idle;
	s->idle = c;
	pthread_mutex_unlock(&s->lock);
}
