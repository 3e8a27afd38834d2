/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/client.h"

#define MS INT64_C(1000000)

/* Maps the client's segment on the first need. 0 or -errno. */
static int map(struct nfsappend_server *s, struct nfsappend_waiting *w)
{
	uint8_t key[200];
	size_t len;
	int r = 0;

	if (__atomic_load_n(&s->client_mapped, __ATOMIC_ACQUIRE))
		return 0;
	while (pthread_mutex_trylock(&s->contacting) != 0)
		if (nfsappend_wait_sleep(w, 5 * MS) != 0)
			return -EIO;
	if (!s->client_mapped) {
		len = (size_t)snprintf((char *)key, sizeof key, "client ");
		len += nfsappend_server_key(s, key + len);
		r = nfsappend_segment_open(&s->client, key, len);
		if (r == 0)
			__atomic_store_n(
				&s->client_mapped, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&s->contacting);
	return r;
}

/* The id before the word that it is there: whoever dies in between has not
 * told it to any server. */
static void store(
	struct nfsappend_client *to, const struct nfsappend_client *from)
{
	memcpy(to->id, from->id, sizeof to->id);
	__atomic_store_n(&to->has_id, from->has_id, __ATOMIC_RELEASE);
	memcpy(to->verifier, from->verifier, sizeof to->verifier);
	to->clientid = from->clientid;
	to->lease_s = from->lease_s;
	__atomic_store_n(&to->generation, from->generation, __ATOMIC_RELEASE);
}

static int incarnate(struct nfsappend_server *s, struct nfsappend_waiting *w,
	struct nfsappend_client *shared)
{
	struct nfsappend_client c = *shared;
	unsigned tries = 0;
	int r;

	do {
		r = nfsappend_backend->client(s->session, &w->wait, &c);
		store(shared, &c);
	} while (nfsappend_server_again(s, w, &r, &tries));
	return r;
}

int nfsappend_client_get(struct nfsappend_server *s,
	struct nfsappend_waiting *w, uint64_t bad, struct nfsappend_client *out)
{
	struct nfsappend_client *shared;
	int r = map(s, w);

	if (r != 0)
		return r;
	shared = &s->client.shared->client;
	r = nfsappend_segment_lead(&s->client, w);
	if (r < 0)
		return -EIO;
	/* Who died with the lock may have been about to store a new one. */
	if (r == 1 || shared->generation == bad || shared->generation == 0)
		r = incarnate(s, w, shared);
	*out = *shared;
	nfsappend_segment_unlead(&s->client);
	return r;
}
