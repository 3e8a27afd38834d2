/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/directory.h"
#include "core/file.h"
#include "core/mounted.h"
#include "core/opening.h"
#include "core/placeholder.h"
#include "core/process.h"
#include "core/slab.h"
#include "core/table.h"

/* The first one is there from the start: no mmap() for common programs. */
nfsappend_slot nfsappend_first_chunk[NFSAPPEND_CHUNK];
nfsappend_slot *_Atomic nfsappend_chunks[NFSAPPEND_CHUNKS] = {
	nfsappend_first_chunk};
bool nfsappend_active = true; /* until the start knows better */
bool nfsappend_met_placeholder;

static struct nfsappend_slab opens = NFSAPPEND_SLAB(struct nfsappend_open);

static void after_fork(void)
{
	nfsappend_slab_after_fork(&opens);
}

void nfsappend_table_start(void)
{
	nfsappend_process_on_child(after_fork);
}

/* The identity of what is behind fd, without asking any server. */
static int identify(int fd, uint64_t *dev, uint64_t *ino)
{
	struct statx stx;
	long r = sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		STATX_TYPE | STATX_INO, &stx);

	if (r == 0) {
		*dev = (uint64_t)stx.stx_dev_major << 32 | stx.stx_dev_minor;
		*ino = stx.stx_ino;
	} else if (r == -ENOSYS || r == -EPERM) {
		/* A seccomp filter that does not know statx(). */
		struct stat st;

		r = nfsappend_sys(SYS_fstat, fd, (long)&st, 0, 0, 0, 0);
		if (r == 0) {
			*dev = (uint64_t)major(st.st_dev) << 32 |
				minor(st.st_dev);
			*ino = st.st_ino;
		}
	}
	return (int)r;
}

struct nfsappend_open *nfsappend_open_new(int fd, uint32_t accmode,
	uint32_t sync, struct nfsappend_file *file)
{
	struct nfsappend_open *o = nfsappend_slab_take(&opens);

	if (o == NULL)
		return NULL;
	o->accmode = accmode;
	o->sync = sync;
	atomic_store_explicit(&o->appended, 0, memory_order_relaxed);
	o->file = file;
	o->dir = NULL;
	if (identify(fd, &o->dev, &o->ino) != 0)
		o->dev = o->ino = 0; /* never equal to anything: re-read */
	atomic_store(&o->refs, 1);
	return o;
}

struct nfsappend_open *nfsappend_open_directory(int fd, uint32_t flags,
	struct nfsappend_directory *dir)
{
	struct nfsappend_open *o =
		nfsappend_open_new(fd, O_RDONLY, flags, NULL);

	if (o != NULL)
		o->dir = dir;
	return o;
}

static void give_back(struct nfsappend_file *file,
	struct nfsappend_directory *dir)
{
	if (dir != NULL)
		nfsappend_directory_put(dir);
	else
		nfsappend_file_put(file);
}

void nfsappend_open_put(struct nfsappend_open *o)
{
	if (atomic_fetch_sub(&o->refs, 1) != 1)
		return;
	give_back(o->file, o->dir);
	nfsappend_slab_give(&opens, o);
}

static bool take_ref(struct nfsappend_open *o)
{
	uint32_t n = atomic_load(&o->refs);

	while (n != 0)
		if (atomic_compare_exchange_weak(&o->refs, &n, n + 1))
			return true;
	return false;
}

static nfsappend_slot *slot_of(int fd)
{
	nfsappend_slot *_Atomic *at;
	nfsappend_slot *chunk, *none = NULL;

	if ((unsigned)fd >= NFSAPPEND_CHUNK * NFSAPPEND_CHUNKS)
		return NULL;
	at = &nfsappend_chunks[fd / NFSAPPEND_CHUNK];
	chunk = atomic_load(at);
	if (chunk == NULL) {
		chunk = nfsappend_pages(NFSAPPEND_CHUNK * sizeof *chunk);
		if (chunk == NULL)
			return NULL;
		if (!atomic_compare_exchange_strong(at, &none, chunk)) {
			sys_munmap(chunk, NFSAPPEND_CHUNK * sizeof *chunk);
			chunk = none;
		}
	}
	return &chunk[fd % NFSAPPEND_CHUNK];
}

/* Replaces was by now; drops the table's reference on success. */
static bool replace(nfsappend_slot *slot, uintptr_t was, uintptr_t now)
{
	struct nfsappend_guard guard;

	if (!atomic_compare_exchange_strong(slot, &was, now))
		return false;
	if (was > NFSAPPEND_FD_UNSURE) {
		nfsappend_guard_enter(&guard);
		nfsappend_open_put((struct nfsappend_open *)was);
		nfsappend_guard_leave(&guard);
	}
	return true;
}

void nfsappend_table_idle(int fd)
{
	if ((unsigned)fd < NFSAPPEND_CHUNK)
		atomic_store_explicit(&nfsappend_first_chunk[fd],
			NFSAPPEND_FD_UNMANAGED, memory_order_relaxed);
}

void nfsappend_table_set(int fd, struct nfsappend_open *o)
{
	nfsappend_slot *slot = slot_of(fd);
	uintptr_t was;

	nfsappend_met_placeholder = true;
	if (slot == NULL || nfsappend_in_vfork_child()) {
		/* The table is the parent's, or there is no room: whoever
		 * uses the descriptor will read the placeholder. */
		nfsappend_table_unsure(fd);
		nfsappend_open_put(o);
		return;
	}
	do
		was = atomic_load(slot);
	while (!replace(slot, was, (uintptr_t)o));
}

void nfsappend_table_forget(int fd)
{
	uintptr_t was = nfsappend_table_peek(fd);
	nfsappend_slot *slot;

	/* UNMANAGED stays: whatever gets the number next is not ours either,
	 * unless a hook says so. */
	if (was != NFSAPPEND_FD_UNMANAGED && was != NFSAPPEND_FD_UNSURE &&
		(slot = slot_of(fd)) != NULL)
		replace(slot, was, NFSAPPEND_FD_UNSURE);
}

void nfsappend_table_unsure(int fd)
{
	uintptr_t was = nfsappend_table_peek(fd);
	nfsappend_slot *slot;

	if (was != NFSAPPEND_FD_UNSURE && (slot = slot_of(fd)) != NULL)
		replace(slot, was, NFSAPPEND_FD_UNSURE);
}

void nfsappend_table_opened(int fd)
{
	uintptr_t was = nfsappend_table_peek(fd);
	nfsappend_slot *slot;

	/* The kernel gave a number that no hook has seen closed: it was free
	 * at the start, for every process that shares this memory. After a
	 * close it may be the parent's of a vfork child. */
	if (was == NFSAPPEND_FD_UNKNOWN && (slot = slot_of(fd)) != NULL)
		atomic_compare_exchange_strong(slot, &was,
			NFSAPPEND_FD_UNMANAGED);
	else if (was > NFSAPPEND_FD_UNSURE)
		nfsappend_table_unsure(fd);
}

bool nfsappend_table_glance(int fd)
{
	uintptr_t v = nfsappend_table_peek(fd);
	nfsappend_slot *slot;
	long sig;

	if (v > NFSAPPEND_FD_UNSURE)
		return false;
	if (v == NFSAPPEND_FD_UNMANAGED)
		return true;
	sig = sys_fcntl(fd, F_GETSIG, 0);
	if (nfsappend_is_marker(sig) || nfsappend_mounted_candidate(fd)) {
		nfsappend_met_placeholder = true;
		return false;
	}
	/* A vfork child must not say this of its parent's number, and of one
	 * that is not open there is nothing to remember. */
	if (sig >= 0 && !nfsappend_in_vfork_child() &&
		(slot = slot_of(fd)) != NULL)
		atomic_compare_exchange_strong(slot, &v,
			NFSAPPEND_FD_UNMANAGED);
	return true;
}

/* Not ours after all: not looked at again, except by a vfork child, whose
 * numbers are not its parent's. */
static void not_ours(nfsappend_slot *slot, uintptr_t was)
{
	if (slot != NULL && !nfsappend_in_vfork_child())
		atomic_compare_exchange_strong(slot, &was,
			NFSAPPEND_FD_UNMANAGED);
}

/* What a memfd of ours stands for. NULL with *error 0: it is none. */
static struct nfsappend_open *inherit(int fd, int *error)
{
	struct nfsappend_placeholder p;
	struct nfsappend_open *o;
	struct nfsappend_file *file = NULL;
	struct nfsappend_directory *dir = NULL;

	if (nfsappend_placeholder_read(fd, &p) != 0)
		return NULL;
	*error = p.directory ? nfsappend_directory_inherit(&p, &dir)
			     : nfsappend_file_inherit(&p, &file);
	if (*error != 0)
		return NULL;
	o = dir != NULL ? nfsappend_open_directory(fd, p.sync, dir)
			: nfsappend_open_new(fd, p.accmode, p.sync, file);
	if (o == NULL) {
		give_back(file, dir);
		*error = -ENOMEM;
	}
	return o;
}

/* The same of a descriptor on a kernel mount. */
static struct nfsappend_open *adopt(int fd, int *error)
{
	struct nfsappend_file *file = NULL;
	struct nfsappend_open *o;
	uint32_t accmode;
	int r = nfsappend_mounted_adopt(fd, false, &file, &accmode);

	if (r != 0) {
		*error = r == NFSAPPEND_NOT_OURS ? 0 : r;
		return NULL;
	}
	o = nfsappend_open_new(fd, accmode, 0, file);
	if (o == NULL) {
		nfsappend_file_put(file);
		*error = -ENOMEM;
	}
	return o;
}

/* A marked descriptor, or one of NFSAPPEND_PATHS: find out what it stands for,
 * and remember it. */
static struct nfsappend_open *look(int fd, int *error)
{
	struct nfsappend_open *o;
	nfsappend_slot *slot = slot_of(fd);
	uintptr_t was = nfsappend_table_peek(fd);

	*error = 0;
	if (was > NFSAPPEND_FD_UNSURE) /* another thread was faster */
		was = NFSAPPEND_FD_UNSURE;
	if (nfsappend_table_glance(fd))
		return NULL;
	o = inherit(fd, error);
	if (o == NULL && *error == 0)
		o = adopt(fd, error);
	if (o == NULL) {
		if (*error == 0) /* the marker by chance, or another file */
			not_ours(slot, was);
		return NULL;
	}
	if (slot != NULL && !nfsappend_in_vfork_child()) {
		atomic_fetch_add(&o->refs, 1);
		if (!atomic_compare_exchange_strong(slot, &was,
			    (uintptr_t)o))
			atomic_fetch_sub(&o->refs, 1);
	}
	return o;
}

struct nfsappend_open *nfsappend_table_get(int fd, int *error)
{
	for (;;) {
		uintptr_t v = nfsappend_table_peek(fd);
		struct nfsappend_open *o;
		uint64_t dev, ino;
		int r;

		*error = 0;
		if (v == NFSAPPEND_FD_UNMANAGED)
			return NULL;
		if (v <= NFSAPPEND_FD_UNSURE)
			return look(fd, error);
		o = (struct nfsappend_open *)v;
		if (!take_ref(o))
			continue;
		if (nfsappend_table_peek(fd) != v) {
			nfsappend_open_put(o);
			continue;
		}
		r = identify(fd, &dev, &ino);
		if (r == 0 && dev == o->dev && ino == o->ino)
			return o;
		/* Closed or replaced behind our back. */
		nfsappend_open_put(o);
		replace(slot_of(fd), v, NFSAPPEND_FD_UNSURE);
		if (r != 0)
			return NULL;
	}
}
