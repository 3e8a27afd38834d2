/* NFSv4.0 clients and their leases (RFC 7530 sections 9.1.1, 9.6, 16.33). */
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loop.h"
#include "v4.h"
#include "v4state.h"

static struct client *clients;
static uint32_t boot;
static uint64_t last_number;
static int64_t grace_end; /* us */

uint32_t state_boot(void)
{
	return boot;
}

bool state_in_grace(void)
{
	return now_us() < grace_end;
}

static void free_client(struct client *cl)
{
	struct client **at = &clients;

	owners_drop(cl);
	while (*at != cl)
		at = &(*at)->next;
	*at = cl->next;
	free(cl->id);
	free(cl);
}

void state_restart(int64_t grace_ms)
{
	struct timespec t;

	while (clients)
		free_client(clients);
	clock_gettime(CLOCK_REALTIME, &t);
	/* Another one for each start, also within a second. */
	boot = boot ? boot + 1 : t.tv_sec * 100 + t.tv_nsec / 10000000;
	grace_end = now_us() + grace_ms * 1000;
}

bool client_overdue(const struct client *cl)
{
	return now_us() - cl->renewed > options.lease_ms * 1000;
}

void client_expire(struct client *cl)
{
	cl->expired = true;
	/* The stateids stay known, so that their users hear EXPIRED. */
	locks_drop_client(cl);
	call_note("expired client=%016lx", cl->clientid);
}

void state_expire_all(void)
{
	struct client *cl;

	for (cl = clients; cl; cl = cl->next)
		client_expire(cl);
}

uint32_t client_alive(struct client *cl)
{
	/* knfsd lets a client live until somebody wants what it holds. */
	if (!cl->expired && !options.seqid_first && client_overdue(cl))
		client_expire(cl);
	if (cl->expired)
		return ST_EXPIRED;
	cl->renewed = now_us();
	return ST_OK;
}

uint32_t client_find(uint64_t clientid, struct client **out)
{
	struct client *cl;

	*out = NULL;
	for (cl = clients; cl; cl = cl->next)
		if (cl->clientid == clientid && cl->confirmed)
			break;
	if (!cl)
		return ST_STALE_CLIENTID;
	*out = cl;
	return client_alive(cl);
}

void state_print(FILE *out)
{
	struct client *cl;

	if (state_in_grace())
		fprintf(out, "grace %ldms\n", (grace_end - now_us()) / 1000);
	for (cl = clients; cl; cl = cl->next)
		fprintf(out, "client %016lx id=%.*s%s%s\n", cl->clientid,
			(int)cl->id_len, (char *)cl->id,
			cl->confirmed ? "" : " unconfirmed",
			cl->expired ? " expired" : "");
}

static struct client *by_id(const void *id, uint32_t len, bool confirmed)
{
	struct client *cl;

	for (cl = clients; cl; cl = cl->next)
		if (cl->id_len == len && !memcmp(cl->id, id, len) &&
			cl->confirmed == confirmed && !cl->expired)
			return cl;
	return NULL;
}

uint32_t v4_setclientid(struct call *c)
{
	uint64_t verifier = get_u64(&c->args);
	uint32_t len, id_len;
	const uint8_t *id = get_opaque(&c->args, &id_len, 1024);
	struct client *old, *cl;

	get_u32(&c->args);		 /* callback program */
	get_opaque(&c->args, &len, 256); /* netid, address: never called */
	get_opaque(&c->args, &len, 256);
	get_u32(&c->args); /* callback_ident */
	if (c->args.bad)
		return ST_BADXDR;
	old = by_id(id, id_len, true);
	if (old && old->uid != c->cred.uid && !client_overdue(old)) {
		put_string(&c->out, "tcp");
		put_string(&c->out, "0.0.0.0.0.0");
		c->keep_body = true;
		return ST_CLID_INUSE;
	}
	while ((cl = by_id(id, id_len, false)))
		free_client(cl);
	cl = calloc(1, sizeof(*cl));
	if (cl)
		cl->id = malloc(id_len + 1);
	if (!cl || !cl->id)
		err(1, "client");
	memcpy(cl->id, id, id_len);
	cl->id_len = id_len;
	cl->uid = c->cred.uid;
	cl->verifier = verifier;
	/* The same instance of the client keeps its id: a callback update. */
	cl->clientid = old && old->verifier == verifier
			       ? old->clientid
			       : (uint64_t)boot << 32 | ++last_number;
	cl->confirm = (uint64_t)boot << 32 | ++last_number;
	cl->renewed = now_us();
	cl->next = clients;
	clients = cl;
	put_u64(&c->out, cl->clientid);
	put_u64(&c->out, cl->confirm);
	return ST_OK;
}

uint32_t v4_setclientid_confirm(struct call *c)
{
	uint64_t clientid = get_u64(&c->args), confirm = get_u64(&c->args);
	struct client *cl, *old;

	for (cl = clients; cl; cl = cl->next)
		if (cl->clientid == clientid && cl->confirm == confirm)
			break;
	if (!cl)
		return ST_STALE_CLIENTID;
	cl->renewed = now_us();
	if (cl->confirmed)
		return cl->expired ? ST_EXPIRED : ST_OK;
	old = by_id(cl->id, cl->id_len, true);
	if (old && old->clientid == clientid) {
		old->confirm = confirm;
		old->renewed = cl->renewed;
		free_client(cl);
		return ST_OK;
	}
	/* A new instance: the old one's state ends here, and not before. */
	if (old)
		client_expire(old);
	cl->confirmed = true;
	return ST_OK;
}

uint32_t v4_renew(struct call *c)
{
	uint64_t clientid = get_u64(&c->args);
	struct client *cl;

	return c->args.bad ? ST_BADXDR : client_find(clientid, &cl);
}
