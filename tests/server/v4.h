/* NFS version 4.0: the operations of a compound. */
#ifndef SERVER_V4_H
#define SERVER_V4_H

#include "server.h"

struct client;

/*
 * Decodes its arguments, executes, and puts the body of its result. The
 * status and the cutting of a failed body are v4.c's, but for c->keep_body.
 */
typedef uint32_t v4_fn(struct call *c);

v4_fn v4_access, v4_close, v4_commit, v4_create, v4_getattr, v4_getfh, v4_lock,
	v4_lockt, v4_locku, v4_lookup, v4_lookupp, v4_nverify, v4_open,
	v4_open_confirm, v4_open_downgrade, v4_putfh, v4_putrootfh, v4_read,
	v4_readdir, v4_readlink, v4_remove, v4_rename, v4_renew, v4_restorefh,
	v4_savefh, v4_setattr, v4_setclientid, v4_setclientid_confirm,
	v4_verify, v4_write, v4_release_lockowner;

/* For operations with a seqid: true, and the status that a rule wants, once
 * the seqid counts. The others are answered before they run. */
bool v4_forced(struct call *c, uint32_t *status);

#define ATTR_WORDS 2

struct mask {
	uint32_t w[ATTR_WORDS];
	bool more; /* bits beyond ours */
};

void get_mask(struct xdr *x, struct mask *m);
void put_mask(struct buf *b, const struct mask *m);
/* fattr4 of what is asked and supported. */
uint32_t put_attrs(
	struct call *c, struct buf *b, struct node *n, const struct mask *m);
/* What may be set: SETATTR, OPEN, CREATE. *m is what was given. */
uint32_t get_wish4(struct xdr *x, struct wish *w, struct mask *m);

void put_change_info(struct call *c, const struct node *dir, uint64_t before);
uint64_t change_of(const struct node *n);

void locks_drop_client(struct client *cl);

#endif
