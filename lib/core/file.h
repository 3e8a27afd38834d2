/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Append file: a file on a server that this process has open, however often.
 * All appends of the process to it go through the one object.
 */
#ifndef NFSAPPEND_CORE_FILE_H
#define NFSAPPEND_CORE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <uthash.h>

#include "core/backend.h"
#include "core/placeholder.h"
#include "core/segment.h"
#include "core/server.h"
#include "core/stats.h"

/* A server (with its credential) and a file handle; zeroed before filling. */
struct nfsappend_file_key {
	struct nfsappend_server *server;
	struct nfsappend_fh fh;
};

struct nfsappend_file {
	void *slab_link;
	UT_hash_handle hh;
	struct nfsappend_file_key key;
	int64_t idle_since; /* CLOCK_MONOTONIC ns, of refs 0; ditto */
	uint32_t refs; /* under the registry's lock; 0: kept for the next */
	enum nfsappend_sharing sharing; /* as asked for at the first open, or
					 * stricter: nfsappend_file_agree() */
	uint32_t timeout_s;
	uint64_t fileid;
	/* Attributes seen a moment ago, as a kernel client would use them: a
	 * sequence lock, odd while somebody writes; looked up by nobody
	 * after an append of ours. */
	_Atomic uint32_t attr_seq;
	_Atomic int64_t attr_time; /* CLOCK_MONOTONIC ns, 0: none */
	struct nfsappend_attr attr;
	/* What ACCESS granted, to which mode and owner, since when
	 * (CLOCK_MONOTONIC ns); under the registry's lock. */
	uint32_t rights, rights_mode, rights_uid, rights_gid;
	int64_t rights_since;
	_Atomic bool told; /* N402 has been said */
	_Atomic int last_error; /* -errno told last, 0 after a success */
	struct nfsappend_segment_view segment;
	struct nfsappend_stats stats;
	/* Where it was found at the last open: NFSv4.0 opens by name. */
	struct nfsappend_fh dir;
	char name[NFSAPPEND_NAME_MAX + 1];
	char path[1024]; /* as resolved at the first open, for messages */
	/* On a kernel mount (key.server->target.mounted): */
	uint64_t device;  /* as makedev() */
	bool local_lock;  /* locks of the kernel's client ask no server */
	_Atomic int some_fd; /* a descriptor of it, as of the last use: look
			      * whether it still is one */
	_Atomic uint64_t may_write; /* of which mode and owner W_OK was said */
	/* The size that the kernel's client has just fetched for an open(), and
	 * when that began (CLOCK_MONOTONIC ns, 0: none): on NFSv3 it stands
	 * for the first guard, once. */
	_Atomic uint64_t open_size;
	_Atomic int64_t open_time;
};

/* Counts for the statistics of this process, and for the whole host's. */
#define NFSAPPEND_COUNT(file, what, n)                                         \
	do {                                                                   \
		nfsappend_count(&(file)->stats.what, (n));                     \
		nfsappend_count(&(file)->segment.shared->figures.what, (n));   \
	} while (0)

void nfsappend_file_start(void);

static inline bool nfsappend_file_mounted(const struct nfsappend_file *f)
{
	return f->key.server->target.mounted;
}

/* Does the kernel write it (its descriptors, not libnfs)? */
static inline bool nfsappend_file_by_kernel(const struct nfsappend_file *f)
{
	return nfsappend_file_mounted(f) &&
		atomic_load(&f->segment.shared->kernel_served);
}

/* The object for that file, counted; attr (may be NULL) is fresh. 0/-errno. */
int nfsappend_file_get(struct nfsappend_server *, const struct nfsappend_fh *,
	const struct nfsappend_attr *, enum nfsappend_sharing,
	uint32_t timeout_s, uint64_t fileid, const char *path,
	struct nfsappend_file **);
/* The processes of a host that append to one file share a segment, and so a
 * sharing mode: the strictest that one of them was told. Before each append;
 * says so when it changes. */
void nfsappend_file_agree(struct nfsappend_file *);
/* The object that a placeholder speaks of; no input or output. */
int nfsappend_file_inherit(const struct nfsappend_placeholder *,
	struct nfsappend_file **);
void nfsappend_file_name(struct nfsappend_file *, const struct nfsappend_fh *dir,
	const char *name);
void nfsappend_file_put(struct nfsappend_file *);
/* told.c: N402 at that level, once for a process. why: the kernel serves it,
 * if this process knows. */
void nfsappend_file_tell(struct nfsappend_file *, int level, const char *why);
/* One of a kernel mount that this process has open, counted: as whoever has
 * opened it. NULL: none. */
struct nfsappend_file *nfsappend_file_on_mount(uint64_t device,
	uint64_t fileid);

/* Rights (NFSAPPEND_ACCESS_*) that an ACCESS has just granted, and whether one
 * did a moment ago, to that mode and owner. A kernel client asks no sooner
 * again, and what may no longer be is refused by the server in any case. */
void nfsappend_file_grant(struct nfsappend_file *, const struct nfsappend_attr *,
	uint32_t rights);
bool nfsappend_file_granted(struct nfsappend_server *,
	const struct nfsappend_fh *, const struct nfsappend_attr *,
	uint32_t rights);

/* A file of that server that has been closed for a while and not looked at
 * since, counted; NULL: none. */
struct nfsappend_file *nfsappend_file_take_idle(struct nfsappend_server *);

/* Attributes just seen: fstat() soon after needs no RPC; in sharing mode single a segment that does not know
 * the size yet takes it from there, which saves the first GETATTR. */
void nfsappend_file_hint(struct nfsappend_file *,
	const struct nfsappend_attr *);

/* fresh.c: attributes seen a moment ago. recall() is false when there are
 * none, or when something of this host has been written since. */
void nfsappend_attr_remember(struct nfsappend_file *,
	const struct nfsappend_attr *);
bool nfsappend_attr_recall(struct nfsappend_file *, struct nfsappend_attr *);
void nfsappend_attr_forget(struct nfsappend_file *);

/* Something by path has changed the attributes of a file that may be open. */
void nfsappend_file_changed(struct nfsappend_server *,
	const struct nfsappend_fh *);
/* It has another name now. */
void nfsappend_file_renamed(struct nfsappend_server *,
	const struct nfsappend_fh *, const struct nfsappend_fh *dir,
	const char *name);

/* Has this process had any? */
bool nfsappend_file_any(void);
/* Calls fn for every file that this process has had, under the registry's
 * lock. */
void nfsappend_file_each(void (*fn)(struct nfsappend_file *, void *),
	void *arg);

/*
 * Appends the record; whole and once, however many WRITEs it takes. Returns
 * how many bytes are on stable storage (all, or fewer when an error or
 * another writer came between), or -errno when none is. limit: no byte at or
 * behind it (RLIMIT_FSIZE); *over_limit when that alone made it fail. *end:
 * the offset behind the record.
 */
ssize_t nfsappend_file_append(struct nfsappend_file *, const struct iovec *,
	int iovcnt, size_t total, uint64_t limit, uint64_t *end,
	bool *over_limit);

/* Writes at offset, FILE_SYNC, as pwrite() without O_APPEND would. */
ssize_t nfsappend_file_write_at(struct nfsappend_file *, const struct iovec *,
	int iovcnt, size_t total, uint64_t offset);

/* Short only at the end of the file or on an error. */
ssize_t nfsappend_file_read_at(struct nfsappend_file *, const struct iovec *,
	int iovcnt, size_t total, uint64_t offset);
int nfsappend_file_getattr(struct nfsappend_file *, struct nfsappend_attr *);
/* The size is set under the leader lock, so no append races with it. */
int nfsappend_file_setattr(struct nfsappend_file *, unsigned set,
	const struct nfsappend_attr *);

#endif
