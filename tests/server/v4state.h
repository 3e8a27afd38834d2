/*
 * NFSv4.0 state: clients and leases, owners and their seqids, stateids
 * (RFC 7530 section 9). Nothing of it survives the program or "restart".
 */
#ifndef SERVER_V4STATE_H
#define SERVER_V4STATE_H

#include "server.h"

struct client {
	struct client *next;
	uint8_t *id; /* owned */
	uint32_t id_len, uid;
	uint64_t verifier, clientid, confirm;
	bool confirmed, expired;
	int64_t renewed; /* us */
};

struct owner {
	struct owner *next;
	struct client *client;
	uint8_t *name; /* owned */
	uint32_t name_len;
	bool lock; /* a lock owner */
	bool confirmed;
	uint32_t seqid;	   /* the last that was used up */
	uint32_t reply_op; /* of the cached reply, 0: none */
	struct buf reply;  /* from its status on */
	struct node *reply_fh;
};

struct state {
	struct state *next;
	struct owner *owner;
	struct state *open; /* of a lock state */
	struct node *node;
	uint64_t id;
	uint32_t seqid, access, deny;
	bool closed; /* kept for the replay of its CLOSE */
};

struct stateid { /* on the wire: seqid and other[12] */
	uint32_t seqid, boot;
	uint64_t id;
};

/* v4client.c */
void state_restart(int64_t grace_ms);
void state_expire_all(void);
void state_print(FILE *out);
bool state_in_grace(void);
uint32_t state_boot(void);
/* ST_STALE_CLIENTID, ST_EXPIRED; renews the lease. */
uint32_t client_find(uint64_t clientid, struct client **out);
uint32_t client_alive(struct client *cl); /* the same for a known one */
bool client_overdue(const struct client *cl);
void client_expire(struct client *cl); /* its locks go */

/* v4owner.c */
struct owner *owner_find(
	struct client *cl, bool lock, const void *name, uint32_t len);
struct owner *owner_make(
	struct client *cl, bool lock, const void *name, uint32_t len);
void owner_drop(struct owner *o); /* and its states */
void owners_drop(struct client *cl);
/* ST_OK: c->sequenced is set. Else ST_BAD_SEQID, or ST_OK and c->replay. */
uint32_t owner_sequence(struct call *c, struct owner *o, uint32_t seqid);
/* What comes after the operation: uses the seqid up and keeps the reply. */
void owner_done(struct call *c, uint32_t status, const void *reply, size_t len);

void get_stateid(struct xdr *x, struct stateid *s);
void put_stateid(struct buf *b, const struct state *st);
bool stateid_is_special(const struct stateid *s);

struct state *state_make(struct owner *o, struct node *n, struct state *open);
struct state *state_of(const struct owner *o, const struct node *n);
void state_close(struct state *st); /* an open state, its lock states too */
void states_drop_owner(struct owner *o);
/* Another owner's open of this file that share reservations exclude. */
bool state_share_conflict(const struct node *n, const struct owner *o,
	uint32_t access, uint32_t deny);
/* For READ, WRITE, SETATTR. */
uint32_t state_check(
	struct call *c, const struct stateid *s, struct state **out);
/* For the operations that have a seqid; see owner_sequence. */
uint32_t state_sequenced(struct call *c, const struct stateid *s,
	uint32_t seqid, bool lock, struct state **out);

/* v4lock.c */
void locks_drop(struct state *st);
bool locks_held(const struct state *open); /* by any of its lock owners */

#endif
