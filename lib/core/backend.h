/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line between core and nfs. Core knows no libnfs, nfs knows no
 * descriptor: they meet in struct nfsappend_backend, which the nfs module
 * exports under the name nfsappend_backend_module and a unit test replaces.
 *
 * Every operation is one attempt. Its result is 0, -errno (the server's own
 * answer, final), or a positive enum nfsappend_outcome when there was no
 * answer; who may send it again is core's decision, since only core knows
 * whether that could append a record twice.
 */
#ifndef NFSAPPEND_CORE_BACKEND_H
#define NFSAPPEND_CORE_BACKEND_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#define NFSAPPEND_BACKEND_ABI 4
/* How long recv() on a connection blocks at most (SO_RCVTIMEO). */
#define NFSAPPEND_RECV_MS 50
#define NFSAPPEND_FH_MAX 128 /* NFS4_FHSIZE; NFS3_FHSIZE is 64 */
#define NFSAPPEND_GROUPS_MAX 16 /* RFC 5531 section 8.2, AUTH_SYS gids<16> */
#define NFSAPPEND_NAME_MAX 255

enum nfsappend_outcome {
	/* Never reached the server: may be sent again. */
	NFSAPPEND_UNSENT = 1,
	/* No answer, connection lost or answer unusable: in doubt. */
	NFSAPPEND_LOST,
	/* NFS3ERR_JUKEBOX, NFS4ERR_DELAY: not executed, try again later. */
	NFSAPPEND_DELAY,
	/* The deadline of the wait passed: in doubt. */
	NFSAPPEND_TIMED_OUT,
	/* NFS4ERR_GRACE: the server has restarted; not executed. */
	NFSAPPEND_GRACE,

	/* Of the operations with NFSv4.0 state only. */

	/* A step is done, call again at once for the next one. */
	NFSAPPEND_CONTINUE,
	/* The file does not end where the record was to go; nothing written,
	 * and the size is told. */
	NFSAPPEND_NOT_END,
	/* The same in the answer to a repeated request, and the record may
	 * be what lies there: only its bytes can tell. */
	NFSAPPEND_NOT_END_OR_IN,
	/* The lock seqid says that the request without an answer was
	 * executed to its end. How much was written is not known. */
	NFSAPPEND_LANDED,
	/* Another host holds the mutex byte. */
	NFSAPPEND_BUSY,
	/* A lock of an application covers it. */
	NFSAPPEND_APP_LOCK,
	/* A reclaim came too late, or the server knows of nothing to be
	 * reclaimed: open or lock in the common way. */
	NFSAPPEND_NO_RECLAIM,
	/* Open and lock state are gone, or of no use: make them anew. What
	 * was in doubt stays so (struct nfsappend_state). */
	NFSAPPEND_STATE_LOST,
};

struct nfsappend_fh {
	uint32_t len;
	uint8_t data[NFSAPPEND_FH_MAX];
};

/* AUTH_SYS: the effective ids and groups of whoever opened the file. */
struct nfsappend_cred {
	uint32_t uid;
	uint32_t gid;
	uint32_t ngroups;
	uint32_t groups[NFSAPPEND_GROUPS_MAX];
};

enum nfsappend_sharing {
	NFSAPPEND_SINGLE,
	NFSAPPEND_GUARDED,
	NFSAPPEND_LOCKED,
};

/* Where a map leads. Plain data: it is copied into placeholders. */
struct nfsappend_target {
	char host[256];	   /* as configured, for messages and look-up */
	char path[1024];   /* as configured, begins with '/' */
	uint16_t nfsport;  /* 0: ask the port mapper (v3), 2049 (v4) */
	uint16_t mountport; /* 0: ask the port mapper */
	uint16_t version;  /* 3 or 4 */
	uint16_t has_uid, has_gid;
	uint16_t mounted; /* 1: of a kernel mount, 0: of a map */
	uint16_t unprivileged; /* 1: not from a port below 1024 */
	uint32_t uid, gid; /* instead of the process's, when has_* */
	uint32_t timeo;	   /* tenths of a second without an answer until a
			    * request is sent again, 0: the default */
};

/* What first contact found out. Plain data: it is copied into placeholders
 * so that a process which inherits one need not ask again. */
struct nfsappend_contact {
	struct sockaddr_in6 address; /* of the NFS service, v4 as mapped */
	uint32_t wtmax;		     /* bytes, FSINFO */
	uint32_t rtmax;
	struct nfsappend_fh root;
};

enum nfsappend_type { /* the values of ftype3, RFC 1813 section 2.5 */
	NFSAPPEND_REG = 1,
	NFSAPPEND_DIR = 2,
	NFSAPPEND_BLK = 3,
	NFSAPPEND_CHR = 4,
	NFSAPPEND_LNK = 5,
	NFSAPPEND_SOCK = 6,
	NFSAPPEND_FIFO = 7,
};

struct nfsappend_attr {
	uint32_t type;
	uint32_t mode; /* permission bits, without the type */
	uint32_t nlink;
	uint32_t uid;
	uint32_t gid;
	uint64_t size;
	uint64_t used;
	uint64_t rdev;
	uint64_t fsid;
	uint64_t fileid;
	struct timespec atime, mtime, ctime;
};

/* An entry of a directory; reclen is a multiple of 8. */
struct nfsappend_dirent {
	uint64_t fileid;
	uint64_t cookie; /* of what comes after it */
	uint16_t reclen;
	uint8_t type; /* enum nfsappend_type, 0: not told */
	char name[];
};

/* Of a file system; bytes, and files. avail: for whoever asks. */
struct nfsappend_space {
	uint64_t total, free, avail;
	uint64_t files, files_free, files_avail;
};

/* What SETATTR shall change; a field counts when its bit is set. */
enum {
	NFSAPPEND_SET_MODE = 1,
	NFSAPPEND_SET_UID = 2,
	NFSAPPEND_SET_GID = 4,
	NFSAPPEND_SET_SIZE = 8,
	NFSAPPEND_SET_ATIME = 16, /* to .atime */
	NFSAPPEND_SET_MTIME = 32,
	NFSAPPEND_SET_ATIME_NOW = 64, /* to the server's clock */
	NFSAPPEND_SET_MTIME_NOW = 128,
};

enum nfsappend_create {
	NFSAPPEND_UNCHECKED,
	NFSAPPEND_EXCLUSIVE, /* EEXIST if it is there and not by verifier */
};

enum { /* RFC 1813 section 3.3.4 */
	NFSAPPEND_ACCESS_READ = 0x01,
	NFSAPPEND_ACCESS_LOOKUP = 0x02,
	NFSAPPEND_ACCESS_MODIFY = 0x04,
	NFSAPPEND_ACCESS_EXTEND = 0x08,
	NFSAPPEND_ACCESS_DELETE = 0x10,
	NFSAPPEND_ACCESS_EXECUTE = 0x20,
};

enum { NFSAPPEND_UNSTABLE, NFSAPPEND_DATA_SYNC, NFSAPPEND_FILE_SYNC };

struct nfsappend_written {
	uint32_t count;
	uint32_t committed; /* stable_how */
	uint64_t verifier;
	bool has_size; /* of the file after the write, where the server told */
	uint64_t size;
};

/*
 * NFSv4.0 state: plain data that core keeps in shared memory, so that all
 * processes of a host are one client with one owner per file. It is not tied
 * to a connection (RFC 7530 section 9.1), which may come and go under it.
 */
struct nfsappend_stateid {
	uint32_t seqid;
	uint8_t other[12];
};

/* One per server and credential. */
struct nfsappend_client {
	uint64_t generation; /* of the verifier; 0: never confirmed */
	uint64_t clientid;
	uint8_t id[16]; /* random, drawn once, never used again */
	uint8_t verifier[8]; /* a new one ends all that was under the old */
	uint32_t has_id;
	uint32_t lease_s;
};

/* What is under way to the server, with a seqid. Sent again, it must be the
 * same to the last bit. */
enum nfsappend_in_flight {
	NFSAPPEND_NOTHING,
	NFSAPPEND_OPEN,
	NFSAPPEND_OPEN_CONFIRM,
	NFSAPPEND_LOCK_NEW,	  /* a first LOCK, GETATTR */
	NFSAPPEND_LOCK,		  /* LOCK, GETATTR */
	NFSAPPEND_LOCK_AND_WRITE, /* LOCK, GETATTR, VERIFY, WRITE, LOCKU */
	NFSAPPEND_WRITE_UNLOCK,	  /* WRITE, LOCKU */
	NFSAPPEND_WRITE_HELD,	  /* WRITE: more is to come */
	NFSAPPEND_UNLOCK,
};

/* One per file and host, under the leader lock. */
struct nfsappend_state {
	uint64_t generation; /* of the client; 0: no state */
	uint64_t clientid;
	uint8_t owner[16]; /* of the open and of its lock, random */
	uint32_t opened;   /* open holds; to be confirmed, if not confirmed */
	uint32_t confirmed;
	uint32_t lost;	    /* the server refused it */
	uint32_t restarted; /* and that because it has restarted */
	uint32_t has_lock;  /* the server knows the lock owner: lock holds */
	uint32_t held;	    /* the mutex byte is ours at this moment */
	uint32_t was_held;  /* it was, when the server restarted */
	uint32_t two_steps; /* the server's stateids can't be predicted */
	uint32_t open_seqid, lock_seqid; /* of the next request */
	struct nfsappend_stateid open, lock;

	uint32_t in_flight; /* enum nfsappend_in_flight */
	/* Bytes of the last record that were written, by the server's
	 * answer. Set with the step that ends the request; core resets it. */
	uint32_t wrote;
	/* The record under way, or in doubt after the state was lost. */
	uint32_t in_doubt;
	uint32_t len;
	int32_t error; /* -errno to return once the lock is released */
	uint64_t offset;
};

/* Written as a whole: whoever dies in between leaves the one before. */
struct nfsappend_slot {
	uint32_t current; /* 0 or 1 */
	struct nfsappend_state copy[2];
};

static inline struct nfsappend_state nfsappend_slot_get(
	const struct nfsappend_slot *slot)
{
	return slot->copy[__atomic_load_n(&slot->current, __ATOMIC_ACQUIRE) &
		1];
}

static inline void nfsappend_slot_set(struct nfsappend_slot *slot,
	const struct nfsappend_state *state)
{
	uint32_t next = (slot->current & 1) ^ 1;

	slot->copy[next] = *state;
	__atomic_store_n(&slot->current, next, __ATOMIC_RELEASE);
}

struct nfsappend_open_args {
	const struct nfsappend_fh *dir;
	const char *name;
	/* The file that it must be, or NULL for any. */
	const struct nfsappend_fh *expected;
	bool reclaim; /* CLAIM_PREVIOUS of expected: in a grace period */
	bool create;
	enum nfsappend_create how;
	uint32_t mode;
	uint64_t verifier;
};

/* A record for the end of the file, or a piece of one. */
struct nfsappend_record {
	const void *data;
	uint32_t len;	 /* 0: only release the lock */
	uint64_t offset; /* where the file is thought to end */
	bool more;	 /* keep the lock: another piece follows */
	/* A repeated request that answers NOT_END_OR_IN: it is not in. */
	bool not_in;
	struct nfsappend_written written;
	uint64_t size; /* with NOT_END and NOT_END_OR_IN */
};

struct pollfd;

/*
 * How one operation waits: its deadline, what it counts, and the way to
 * sleep that lets fatal signals through and tells of a silent server.
 * Owned by core; the module only calls poll().
 */
struct nfsappend_wait {
	int64_t deadline; /* CLOCK_MONOTONIC ns, 0: none */
	/* Sleep until ready or until (CLOCK_MONOTONIC ns, 0: no bound of the
	 * caller's): >0 ready, 0 at until, -ETIMEDOUT at the deadline. */
	int (*poll)(struct nfsappend_wait *, struct pollfd *, unsigned n,
		int64_t until);
	/* recv() that sleeps at most NFSAPPEND_RECV_MS: what it returns, or
	 * -errno; -ETIMEDOUT when another process does the work by now. One
	 * system call where poll() and a second look at the socket are three:
	 * most answers come within that time. */
	ssize_t (*receive)(struct nfsappend_wait *, int fd, void *buf,
		size_t n);
	uint32_t rpcs;
	uint32_t write_rpcs;
	uint32_t reconnects;
	/* Another process does the work by now (poll() said -ETIMEDOUT):
	 * nothing of shared memory may be touched any more. */
	bool deposed;
};

/* What the module may ask of core. */
struct nfsappend_services {
	/* Our sockets, which the program's close() and dup2() must spare.
	 * adopt: takes a descriptor, moves it high, returns a slot or -errno.
	 * hold: the number to use now and until unhold, or -EBADF when the
	 * program has taken the number away. drop: closes it, if it is ours. */
	int (*socket_adopt)(int fd);
	int (*socket_hold)(int slot);
	void (*socket_unhold)(int slot);
	void (*socket_drop)(int slot);
	void (*log)(int level, int id, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
};

struct nfsappend_session; /* the module's: a pool of connections to one server
			     under one credential */

struct nfsappend_backend {
	unsigned abi;
	void (*init)(const struct nfsappend_services *);
	/* In the child of a fork: forget every connection and lock. */
	void (*after_fork)(void);

	/* First contact: resolves the name, mounts, fills *contact. Its
	 * -errno: EHOSTUNREACH, ECONNREFUSED, ENOENT, EACCES, ...; why gets
	 * a sentence on the cause. */
	int (*contact)(const struct nfsappend_target *,
		const struct nfsappend_cred *, struct nfsappend_wait *,
		struct nfsappend_contact *, char *why, size_t whylen);
	/* No input or output; never given back in a process's life. */
	struct nfsappend_session *(*session)(const struct nfsappend_target *,
		const struct nfsappend_contact *,
		const struct nfsappend_cred *);

	int (*lookup)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, const char *name,
		struct nfsappend_fh *, struct nfsappend_attr *);
	int (*getattr)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, struct nfsappend_attr *);
	int (*setattr)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, unsigned set,
		const struct nfsappend_attr *);
	/* Granted bits of asked, in *granted. */
	int (*access)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, uint32_t asked, uint32_t *granted);
	/* NUL-terminated; -ENAMETOOLONG when len does not suffice. */
	int (*readlink)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, char *buf, size_t len);
	/* verifier makes an EXCLUSIVE create repeatable (RFC 1813 3.3.8). */
	int (*create)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, const char *name,
		enum nfsappend_create, uint32_t mode, uint64_t verifier,
		struct nfsappend_fh *, struct nfsappend_attr *);
	/* *len: in the room, out what was read; *eof. */
	int (*read)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, uint64_t offset, void *buf,
		uint32_t *len, bool *eof);
	/* One WRITE asked to be FILE_SYNC. count is at most len (checked). */
	int (*write)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, uint64_t offset, const void *buf,
		uint32_t len, struct nfsappend_written *);
	/* The same if the file ends at offset, else NFSAPPEND_NOT_END and
	 * written->size. Not atomic. NFSv4 only; under the open stateid, or
	 * where that is NULL under the anonymous one. */
	int (*write_at_end)(struct nfsappend_session *,
		struct nfsappend_wait *, const struct nfsappend_fh *,
		const struct nfsappend_stateid *open, uint64_t offset, const void *buf, uint32_t len,
		struct nfsappend_written *);
	/* COMMIT of [offset, offset + len); *verifier to compare. */
	int (*commit)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, uint64_t offset, uint32_t len,
		uint64_t *verifier);

	/*
	 * NFSv4.0 with state. Each may do a step only and return
	 * NFSAPPEND_CONTINUE; each keeps the slot such that the next call,
	 * also of another process after the death of this one, goes on or
	 * repeats what has no answer yet.
	 */

	/* A new incarnation: a new verifier, which ends all state of the one
	 * before (RFC 7530 section 16.33.5), and a confirmed client id. */
	int (*client)(struct nfsappend_session *, struct nfsappend_wait *,
		struct nfsappend_client *);
	/* OPEN for writing and OPEN_CONFIRM, into an empty or lost slot. A
	 * record in doubt stays noted there. */
	int (*open)(struct nfsappend_session *, struct nfsappend_wait *,
		struct nfsappend_slot *, const struct nfsappend_client *,
		const struct nfsappend_open_args *, struct nfsappend_fh *,
		struct nfsappend_attr *);
	/* CLOSE, into an empty slot. */
	int (*close)(struct nfsappend_session *, struct nfsappend_wait *,
		struct nfsappend_slot *, const struct nfsappend_fh *);
	/* Appends under the mutex byte. 0: record->written, and the lock is
	 * free unless more (or the slot says held). -errno: nothing written,
	 * the lock is free. */
	int (*append)(struct nfsappend_session *, struct nfsappend_wait *,
		struct nfsappend_slot *, const struct nfsappend_fh *,
		struct nfsappend_record *);

	/* Names. In doubt when there was no answer: see core/naming.h. */
	int (*mkdir)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, const char *name,
		uint32_t mode);
	int (*symlink)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, const char *name,
		const char *target);
	int (*link)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *file,
		const struct nfsappend_fh *dir, const char *name);
	int (*remove)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, const char *name);
	int (*rmdir)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, const char *name);
	int (*rename)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *from_dir, const char *from,
		const struct nfsappend_fh *to_dir, const char *to);

	/* What comes after cookie (0: from the start), as records of struct
	 * nfsappend_dirent. *len: in the room, out what they take; *eof:
	 * nothing comes after them. *verifier: 0 at first, then what the call
	 * before gave. */
	int (*readdir)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *dir, uint64_t cookie,
		uint64_t *verifier, void *buf, uint32_t *len, bool *eof);
	int (*statfs)(struct nfsappend_session *, struct nfsappend_wait *,
		const struct nfsappend_fh *, struct nfsappend_space *);
};

#define NFSAPPEND_BACKEND_SYMBOL "nfsappend_backend_module"

#endif
