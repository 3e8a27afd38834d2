/* The scripted server: connections, calls, and the programs that answer. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "names.h"
#include "rules.h"
#include "store.h"
#include "xdr.h"

struct options {
	FILE *log;	  /* NULL: none */
	bool fsync;	  /* stable writes reach the disk */
	bool seqid_first; /* v4: knfsd's order of checks, else ganesha's */
	bool v3, v4;	  /* programs served */
	uint32_t max_io;  /* rtmax, wtmax */
	int64_t lease_ms, grace_ms;
};

extern struct options options; /* set before the loop, lease by a command */

/* conn.c */
struct conn;

int conn_listen(const char *host, int port); /* the port that it got */
void conn_send(struct conn *c, const void *data, size_t len);
void conn_close(struct conn *c);  /* at once */
void conn_finish(struct conn *c); /* once what was sent is flushed */
void conn_close_all(void);
uint32_t conn_id(const struct conn *c);

/* call.c */
#define V4_MAX_OPS 64

struct call {
	struct call *next;
	struct conn *conn; /* NULL when it is gone; the call runs on */
	uint64_t number;   /* of the arrival, from 1 */
	uint32_t xid, prog, vers, proc;
	struct cred cred;
	uint8_t *record; /* owned */
	struct xdr args; /* in record */
	struct buf out;	 /* the reply, without record mark */
	size_t body;	 /* where its result begins */
	enum { CALL_ARRIVED, CALL_RUN, CALL_RAN, CALL_SEND } stage;
	bool held;
	struct timer *timer; /* or this: it waits for its time */
	bool close;	     /* the connection ends here, with nothing sent */
	struct fault fault;  /* for the whole call */
	char log[2048];
	size_t log_len;

	/* While a procedure or an operation runs. */
	struct fault *now;	   /* what applies to it */
	struct node *node, *node2; /* v3: for the attributes of a failure */

	/* v4.c */
	struct node *cfh, *sfh;
	uint32_t op, n_ops, done_ops;
	size_t count_at; /* of the result count in out */
	bool op_matched; /* a suspended operation is not matched again */
	struct fault op_fault;
	bool keep_body; /* the failing operation has a body of its own */
	struct owner *sequenced; /* whose seqid the operation uses up ... */
	uint32_t seqid;		 /* ... and that seqid */
	struct owner *replay;	 /* whose last reply answers the operation */
};

void call_arrived(struct conn *conn, uint8_t *record, size_t len); /* owns */
/* In the middle of a request: true when it ends here. */
bool call_partial(const uint8_t *data, size_t len);
void call_conn_gone(struct conn *conn);
void call_log(struct call *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void call_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int calls_release(void); /* number of those that were held */
void calls_forget(void); /* those that wait, as a crash would */
int calls_held(void);
uint64_t calls_seen(void);

/* For delays in the middle of a compound: true when the call must stop here
 * and will be run again. */
bool call_suspend(struct call *c, struct fault *f);

static inline bool faulty(const struct call *c, enum verb verb)
{
	return c->now->of[verb].set;
}

static inline uint64_t fault_value(const struct call *c, enum verb verb)
{
	return c->now->of[verb].v;
}

void call_others(struct call *c, struct node *n); /* what other hosts do */

/* reply.c: applies what the rules say about the bytes of the reply. */
void reply_send(struct call *c);

/* Each answers in c->out and returns an accept_stat, or RUN_SUSPENDED. */
#define RUN_SUSPENDED 1000u
uint32_t mount_run(struct call *c);
uint32_t v3_run(struct call *c);
uint32_t v4_run(struct call *c);
/* Bit per operation that stands in as much of a compound as there is. */
uint64_t v4_scan(struct xdr args);

/* v3.c: ftype3 and the bits of ACCESS that the caller has; the same in v4 */
uint32_t file_type(uint32_t mode);
uint32_t access_of(const struct call *c, const struct statx *st);

/* How much of READ or WRITE is done: what we serve, and what a rule leaves. */
static inline uint32_t io_limit(const struct call *c, uint32_t count)
{
	if (count > options.max_io)
		count = options.max_io;
	if (faulty(c, F_SHORT) && count > fault_value(c, F_SHORT))
		count = fault_value(c, F_SHORT);
	return count;
}

/* scripted.c: the write verifier, another one after each restart and change */
uint64_t verifier_now(void);
void verifier_change(void);

#endif
