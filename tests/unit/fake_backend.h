/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A backend that keeps its files in memory that forked processes share, as a
 * server would be shared, and fails on command. It knows which bytes are on
 * stable storage, so that a test can take them away by a restart. Of NFSv4.0
 * state it has what core sees: a lock that each append takes and gives back,
 * with a seqid that tells a request that has been executed.
 */
#ifndef NFSAPPEND_FAKE_BACKEND_H
#define NFSAPPEND_FAKE_BACKEND_H

#include "core/backend.h"

enum fake_op {
	FAKE_CONTACT,
	FAKE_LOOKUP,
	FAKE_GETATTR,
	FAKE_SETATTR,
	FAKE_ACCESS,
	FAKE_READLINK,
	FAKE_CREATE,
	FAKE_READ,
	FAKE_WRITE,
	FAKE_COMMIT,
	FAKE_MKDIR,
	FAKE_SYMLINK,
	FAKE_LINK,
	FAKE_REMOVE,
	FAKE_RMDIR,
	FAKE_RENAME,
	FAKE_CLIENT,
	FAKE_OPEN,
	FAKE_CLOSE,
	FAKE_APPEND,
	FAKE_OPS,
};

enum fake_death { FAKE_ALIVE, FAKE_DIE_BEFORE, FAKE_DIE_AFTER };

/* What shall happen to some calls; all zero: nothing unusual. Of several that
 * are due at one call the oldest counts, the others at the next. */
struct fake_rule {
	enum fake_op op;
	unsigned at;	 /* from the at-th call from now on; 0: the next */
	unsigned times;	 /* for so many calls; 0: one */
	int result;	 /* the caller's: 0, -errno, enum nfsappend_outcome */
	bool executed;	 /* although result is not 0, the server does it */
	bool late;	 /* the deadline passes during the call */
	uint32_t count;	 /* READ and WRITE move at most so much; 0: all */
	unsigned lesser; /* WRITE: 1 DATA_SYNC, 2 UNSTABLE */
	bool cached;	 /* WRITE: what it says is a lie: not stable */
	bool restart;	 /* after the call the server loses what is unstable */
	bool no_handle;	 /* CREATE: no post_op_fh3 in the answer */
	const char *before, *after; /* records another writer appends */
	bool truncate; /* another program truncates it before the call */
	uint64_t size; /* to that */
	bool remade; /* after REMOVE, RMDIR or RENAME another client makes a
			file under the name that has become free */
	enum fake_death death; /* of the calling process, by SIGKILL */
	int *reached; /* a pipe's writing end: told, then the caller stops */
};

#define FAKE(...) fake_inject(&(struct fake_rule){__VA_ARGS__})

extern const struct nfsappend_backend fake_backend;

/* An empty server; once in a test's process, before any fork. */
void fake_start(void);
void fake_inject(const struct fake_rule *);
/* Rules that have not been used up. */
unsigned fake_rules_left(void);
void fake_rules_clear(void);

/* What every WRITE takes, as a disk would; the deaths of a test fall there. */
void fake_latency(unsigned us);

/* Calls of op so far. */
unsigned fake_calls(enum fake_op);
void fake_calls_reset(void);

/* Objects: an index for the calls below. room: bytes that it can hold. */
int fake_add(int parent, const char *name, enum nfsappend_type, uint32_t mode,
	size_t room);
int fake_add_link(int parent, const char *name, const char *target);
int fake_find(int parent, const char *name); /* -1: none */
void fake_remove(int node);		     /* ESTALE from now on */
struct nfsappend_fh fake_handle(int node);
struct nfsappend_attr *fake_attr(int node);
/* NFSAPPEND_ACCESS_* that it refuses. */
void fake_deny(int node, uint32_t access);
const uint8_t *fake_content(int node, size_t *len);
/* How much of it a restart would leave. */
size_t fake_stable(int node);
void fake_append(int node, const void *, size_t);
void fake_truncate(int node, uint64_t size);

/* What contact() tells. */
void fake_set_contact(uint32_t wtmax, uint32_t rtmax, int root);
struct nfsappend_contact fake_contact_now(void);

#endif
