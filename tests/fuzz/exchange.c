/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/exchange.h"
#include "exchange.h"

static const uint8_t *at, *end;

static int no_sleep(struct nfsappend_wait *wait, struct pollfd *fds,
	unsigned n, int64_t until)
{
	(void)wait;
	(void)fds;
	(void)n;
	(void)until;
	return at < end ? 0 : -ETIMEDOUT;
}

static void no_log(int level, int id, const char *fmt, ...)
{
	(void)level;
	(void)id;
	(void)fmt;
}

static struct nfsappend_session session;
struct nfsappend_session *fuzz_session = &session;
struct nfsappend_wait fuzz_wait = {.poll = no_sleep};
static const struct nfsappend_services services = {.log = no_log};
const struct nfsappend_services *nfsappend_services = &services;

void fuzz_input(const uint8_t *data, size_t size)
{
	at = data;
	end = data + size;
}

uint8_t fuzz_byte(void)
{
	return at < end ? *at++ : 0;
}

void fuzz_bytes(void *to, size_t len)
{
	size_t n = (size_t)(end - at) < len ? (size_t)(end - at) : len;

	memset(to, 0, len);
	memcpy(to, at, n);
	at += n;
}

/* A piece: its length (2 bytes) with the highest bit set where the RPC header
 * is in it too, else only the results. In a block of its own, so that a step
 * over its end is seen. */
int nfsappend_exchange(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_exchange *x)
{
	struct nfsappend_results results = {0};
	uint8_t call[NFSAPPEND_MESSAGE_MAX], *reply;
	size_t size;
	ZDR zdr;
	int r = 0;

	(void)s;
	(void)wait;
	zdrmem_create(&zdr, (char *)call, sizeof call - 300, ZDR_ENCODE);
	if (!x->encode(&zdr, x->args))
		return -ENOMEM;
	if (end - at < 2)
		return NFSAPPEND_TIMED_OUT;
	size = (size_t)at[0] << 8 | at[1];
	at += 2;
	bool with_head = size & 0x8000;

	size &= 0x7fff;
	if (size > (size_t)(end - at))
		size = (size_t)(end - at);
	reply = malloc(size);
	if (reply == NULL)
		abort();
	memcpy(reply, at, size);
	at += size;
	results.p = reply;
	results.end = reply + size;
	if (with_head)
		r = nfsappend_get_accepted(&results, FUZZ_XID);
	if (r == 0)
		r = x->decode(&results, x->out);
	if (results.p < reply || results.p > results.end)
		abort();
	free(reply);
	return results.bad ? NFSAPPEND_LOST : r;
}

int nfsappend_exchange_on(struct nfsappend_connection *c,
	struct nfsappend_wait *wait, const struct nfsappend_exchange *x)
{
	(void)c;
	return nfsappend_exchange(NULL, wait, x);
}

int nfsappend_connect(const struct sockaddr_in6 *address,
	const struct nfsappend_cred *cred, bool unprivileged,
	struct nfsappend_wait *wait, struct nfsappend_connection **out)
{
	(void)unprivileged;
	static struct nfsappend_connection connection;

	(void)address;
	(void)cred;
	(void)wait;
	*out = &connection;
	return 0;
}

void nfsappend_disconnect(struct nfsappend_connection *c)
{
	(void)c;
}

struct nfsappend_session *nfsappend_session_get(
	const struct nfsappend_target *target,
	const struct nfsappend_contact *contact,
	const struct nfsappend_cred *cred)
{
	(void)target;
	(void)contact;
	(void)cred;
	return &session;
}

void nfsappend_session_adopt(
	struct nfsappend_session *s, struct nfsappend_connection *c)
{
	(void)s;
	(void)c;
}
