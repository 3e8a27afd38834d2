/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptor table: what each number is, as far as we know. It is a cache of
 * the truth (the placeholder), never the truth: hooks only make entries
 * forget, a look at the descriptor itself learns them again, and every use
 * checks device and inode. So a vfork child, which shares it, a raw system
 * call and a descriptor that came over a socket can do no harm.
 */
#ifndef NFSAPPEND_CORE_TABLE_H
#define NFSAPPEND_CORE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/backend.h"

struct nfsappend_directory;
struct nfsappend_file;

/*
 * An open file as POSIX means it, seen from one process. In memory that is
 * never given back (slabs), so that a stale pointer can be told by its count.
 */
struct nfsappend_open {
	void *slab_link;       /* the slab's */
	_Atomic uint32_t refs; /* the table's and those of calls in progress */
	uint32_t accmode;
	uint32_t sync; /* O_SYNC, O_DSYNC as opened */
	_Atomic uint64_t appended; /* offset after the last append */
	uint64_t dev; /* of the placeholder */
	uint64_t ino;
	struct nfsappend_file *file;
	struct nfsappend_directory *dir; /* in place of file */
};

/* Values of a slot; larger ones are a struct nfsappend_open. */
#define NFSAPPEND_FD_UNKNOWN ((uintptr_t)0)   /* no hook has seen it yet */
#define NFSAPPEND_FD_UNMANAGED ((uintptr_t)1) /* certainly none of ours */
#define NFSAPPEND_FD_UNSURE ((uintptr_t)2)    /* look before you say so */
#define NFSAPPEND_CHUNK 1024
#define NFSAPPEND_CHUNKS 1024

typedef _Atomic uintptr_t nfsappend_slot;

/* What the hot paths of hooks read: found without the GOT. */
#define NFSAPPEND_HOT __attribute__((visibility("hidden")))

extern nfsappend_slot *_Atomic nfsappend_chunks[NFSAPPEND_CHUNKS]
	NFSAPPEND_HOT;
/* The first of them: there from the start. */
extern nfsappend_slot nfsappend_first_chunk[NFSAPPEND_CHUNK] NFSAPPEND_HOT;

/* False once there is certainly nothing to do for this process. */
extern bool nfsappend_active NFSAPPEND_HOT;

/* A placeholder is, or was, among this process's descriptors: only then can
 * a write that went to the kernel have met one. */
extern bool nfsappend_met_placeholder NFSAPPEND_HOT;

/* The hot question of write() and close(): one load. false may mean
 * anything, true is certain; without nfsappend_active, since a process that
 * has nothing to do gets its numbers marked on first use. */
static inline bool nfsappend_table_plain(int fd)
{
	return (unsigned)fd < NFSAPPEND_CHUNK &&
		atomic_load_explicit(&nfsappend_first_chunk[fd],
			memory_order_relaxed) == NFSAPPEND_FD_UNMANAGED;
}

static inline uintptr_t nfsappend_table_peek(int fd)
{
	nfsappend_slot *chunk;

	if ((unsigned)fd >= NFSAPPEND_CHUNK * NFSAPPEND_CHUNKS)
		return NFSAPPEND_FD_UNKNOWN;
	chunk = atomic_load_explicit(&nfsappend_chunks[fd / NFSAPPEND_CHUNK],
		memory_order_acquire);
	if (chunk == NULL)
		return NFSAPPEND_FD_UNKNOWN;
	return atomic_load_explicit(&chunk[fd % NFSAPPEND_CHUNK],
		memory_order_acquire);
}

/* Not ours? Looks at an unknown descriptor once (F_GETSIG). Without the
 * guard; takes no lock. */
bool nfsappend_table_glance(int fd);

/* The hot question of every hook. */
static inline bool nfsappend_table_unmanaged(int fd)
{
	return !nfsappend_active ||
		nfsappend_table_peek(fd) == NFSAPPEND_FD_UNMANAGED ||
		nfsappend_table_glance(fd);
}

void nfsappend_table_start(void);

/* Nothing is managed in this process (!nfsappend_active). */
void nfsappend_table_idle(int fd);

/* What fd is now: a counted reference, or NULL with *error 0 (not ours) or
 * -errno (ours, but it can't be served). With the guard held. */
struct nfsappend_open *nfsappend_table_get(int fd, int *error);
void nfsappend_open_put(struct nfsappend_open *);

/* Enters a placeholder just made; takes over the caller's reference. */
void nfsappend_table_set(int fd, struct nfsappend_open *);
/* A new object with one reference, identity read from fd. NULL: no memory. */
struct nfsappend_open *nfsappend_open_new(int fd, uint32_t accmode,
	uint32_t sync, struct nfsappend_file *);

/* The same for a directory, whose owner it becomes. */
struct nfsappend_open *nfsappend_open_directory(int fd, uint32_t flags,
	struct nfsappend_directory *);

/* fd was closed or replaced: forget it, if it was one of ours. */
void nfsappend_table_forget(int fd);
/* fd may be one of ours from now on (dup): look again at its next use. */
void nfsappend_table_unsure(int fd);
/* The kernel has opened a file of its own under the number. */
void nfsappend_table_opened(int fd);

#endif
