/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/process.h"
#include "core/slab.h"

/* The registry grows under our lock with the guard held, never from a
 * handler; its memory comes from the kernel, not from malloc. */
#define uthash_malloc(n) nfsappend_pages(n)
#define uthash_free(p, n) sys_munmap(p, n)
#define HASH_NONFATAL_OOM 1
#include "core/file.h"
#include "core/log.h"

#define IDLE_NS INT64_C(2000000000) /* until open state is closed */
#define IDLE_MAX 1024 /* files kept for the next open and the statistics */
#define IDLE_MAPPED 8 /* of them with their segment mapped */
#define RIGHTS_NS INT64_C(3000000000) /* a kernel client's acregmin */

static struct nfsappend_slab slab = NFSAPPEND_SLAB(struct nfsappend_file);
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nfsappend_file *registry; /* uthash; under registry_lock */
static unsigned idle;			/* of refs 0; under registry_lock */

static void clear_stats(struct nfsappend_file *f)
{
	memset(&f->stats, 0, sizeof f->stats);
}

static void after_fork(void)
{
	struct nfsappend_file *f, *next;

	nfsappend_slab_after_fork(&slab);
	if (pthread_mutex_trylock(&registry_lock) == 0) {
		/* The parent's figures are the parent's. */
		HASH_ITER (hh, registry, f, next)
			clear_stats(f);
	} else {
		/* Another thread of the parent was changing it. Open files
		 * go on without it, each by its descriptors. */
		registry = NULL;
		idle = 0;
	}
	pthread_mutex_init(&registry_lock, NULL);
}

void nfsappend_file_start(void)
{
	nfsappend_process_on_child(after_fork);
}

/* What makes processes meet: server, export, credential, file handle. */
static size_t segment_key(const struct nfsappend_file *f, uint8_t *key)
{
	size_t len = nfsappend_server_key(f->key.server, key);

	memcpy(key + len, f->key.fh.data, f->key.fh.len);
	return len + f->key.fh.len;
}

static const char *const modes[] = {"single", "guarded", "locked"};

void nfsappend_file_agree(struct nfsappend_file *f)
{
	_Atomic uint32_t *shared = &f->segment.shared->sharing;
	uint32_t mode = atomic_load(shared);

	while (mode < f->sharing &&
		!atomic_compare_exchange_weak(shared, &mode, f->sharing))
		;
	if (mode <= f->sharing || mode > NFSAPPEND_LOCKED)
		return;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_MIXED_SHARING,
		"%s: another process of this host appends to it in sharing "
		"mode %s; it is used here too, instead of %s (give all "
		"programs that write to a file the same --sharing)",
		f->path, modes[mode], modes[f->sharing]);
	f->sharing = mode;
}

static void evict_one(void)
{
	struct nfsappend_file *f, *next;

	HASH_ITER (hh, registry, f, next) {
		if (f->refs != 0)
			continue;
		HASH_DEL(registry, f);
		idle--;
		nfsappend_segment_close(&f->segment);
		nfsappend_slab_give(&slab, f);
		return;
	}
}

/* A program whose file is rotated must not grow: of the files that it has
 * closed only the last ones keep their memory. What others of this host know
 * of them stays in the segment; a private one is all that there is. */
static void unmap_one(void)
{
	struct nfsappend_file *f, *next, *oldest = NULL;
	unsigned mapped = 0;

	HASH_ITER (hh, registry, f, next) {
		if (f->refs != 0 || f->segment.shared == NULL ||
			f->segment.is_private)
			continue;
		mapped++;
		if (oldest == NULL || f->idle_since < oldest->idle_since)
			oldest = f;
	}
	if (mapped > IDLE_MAPPED)
		nfsappend_segment_close(&oldest->segment);
}

static int map(struct nfsappend_file *f)
{
	uint8_t key[400];
	int r;

	if (idle > IDLE_MAPPED)
		unmap_one();
	r = nfsappend_segment_open(&f->segment, key, segment_key(f, key));
	if (r == 0)
		nfsappend_figures_name(&f->segment.shared->figures, f->path,
			f->key.server->name, f->key.server->target.version,
			f->key.server->target.mounted);
	return r;
}

static int map_again(struct nfsappend_file *f)
{
	int r = map(f);

	if (r == 0)
		nfsappend_file_agree(f);
	return r;
}

/* Under registry_lock. */
static struct nfsappend_file *make(const struct nfsappend_file_key *key,
	enum nfsappend_sharing sharing, const char *path)
{
	struct nfsappend_file *f;

	if (idle >= IDLE_MAX)
		evict_one();
	f = nfsappend_slab_take(&slab);
	if (f == NULL)
		return NULL;
	memset(f, 0, sizeof *f);
	f->key = *key;
	snprintf(f->path, sizeof f->path, "%s", path);
	if (map(f) != 0) {
		nfsappend_slab_give(&slab, f);
		return NULL;
	}
	if (sharing == NFSAPPEND_SINGLE && f->segment.is_private) {
		sharing = NFSAPPEND_GUARDED;
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_SINGLE_ALONE,
			"%s: sharing mode single needs a segment shared with "
			"the other processes of this host; guarded is used "
			"instead (see NFSAPPEND_RUNTIME)",
			path);
	}
	f->sharing = sharing;
	nfsappend_file_agree(f);
	f->refs = 1;
	HASH_ADD(hh, registry, key, sizeof f->key, f);
	return f;
}

int nfsappend_file_get(struct nfsappend_server *server,
	const struct nfsappend_fh *fh, const struct nfsappend_attr *attr,
	enum nfsappend_sharing sharing, uint32_t timeout_s, uint64_t fileid,
	const char *path, struct nfsappend_file **out)
{
	struct nfsappend_file_key key;
	struct nfsappend_file *f;

	memset(&key, 0, sizeof key);
	key.server = server;
	key.fh.len = fh->len;
	memcpy(key.fh.data, fh->data, fh->len);
	pthread_mutex_lock(&registry_lock);
	HASH_FIND(hh, registry, &key, sizeof key, f);
	if (f == NULL)
		f = make(&key, sharing, path);
	else if (f->segment.shared == NULL && map_again(f) != 0)
		f = NULL;
	else if (f->refs++ == 0)
		idle--;
	if (f != NULL) {
		f->timeout_s = timeout_s;
		f->fileid = attr != NULL ? attr->fileid : fileid;
	}
	pthread_mutex_unlock(&registry_lock);
	*out = f;
	return f != NULL ? 0 : -ENOMEM;
}

int nfsappend_file_inherit(const struct nfsappend_placeholder *p,
	struct nfsappend_file **out)
{
	struct nfsappend_server *server =
		nfsappend_server_get(&p->target, &p->cred, &p->contact);
	int r = server != NULL ? nfsappend_file_get(server, &p->fh, NULL,
					 p->sharing, p->timeout_s, p->fileid,
					 p->path, out)
			       : -ENOMEM;

	if (r == 0 && (*out)->name[0] == '\0')
		nfsappend_file_name(*out, &p->dir, p->name);
	if (r != 0)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_ADOPT_FAILED,
			"an inherited descriptor of %s cannot be served: the "
			"nfs module or memory is missing; its writes fail",
			p->path);
	return r == 0 ? 0 : -EIO;
}

void nfsappend_file_name(struct nfsappend_file *f,
	const struct nfsappend_fh *dir, const char *name)
{
	pthread_mutex_lock(&registry_lock);
	f->dir = *dir;
	snprintf(f->name, sizeof f->name, "%s", name);
	pthread_mutex_unlock(&registry_lock);
}

void nfsappend_file_put(struct nfsappend_file *f)
{
	pthread_mutex_lock(&registry_lock);
	if (--f->refs == 0) {
		f->idle_since = nfsappend_now();
		idle++;
	}
	pthread_mutex_unlock(&registry_lock);
}

struct nfsappend_file *nfsappend_file_take_idle(struct nfsappend_server *server)
{
	int64_t now = nfsappend_now();
	struct nfsappend_file *f, *next, *found = NULL;

	pthread_mutex_lock(&registry_lock);
	HASH_ITER (hh, registry, f, next) {
		if (f->key.server != server || f->refs != 0 ||
			f->segment.shared == NULL)
			continue;
		if (now - f->idle_since < IDLE_NS)
			continue;
		f->idle_since = now;
		f->refs = 1;
		idle--;
		found = f;
		break;
	}
	pthread_mutex_unlock(&registry_lock);
	return found;
}

/* Under registry_lock. */
static struct nfsappend_file *find(struct nfsappend_server *server,
	const struct nfsappend_fh *fh)
{
	struct nfsappend_file_key key;
	struct nfsappend_file *f;

	memset(&key, 0, sizeof key);
	key.server = server;
	key.fh.len = fh->len;
	memcpy(key.fh.data, fh->data, fh->len);
	HASH_FIND(hh, registry, &key, sizeof key, f);
	return f;
}

static bool rights_are_of(
	const struct nfsappend_file *f, const struct nfsappend_attr *attr)
{
	return f->rights != 0 && f->rights_mode == attr->mode &&
		f->rights_uid == attr->uid && f->rights_gid == attr->gid &&
		nfsappend_now() - f->rights_since < RIGHTS_NS;
}

void nfsappend_file_grant(struct nfsappend_file *f,
	const struct nfsappend_attr *attr, uint32_t rights)
{
	pthread_mutex_lock(&registry_lock);
	if (!rights_are_of(f, attr)) {
		f->rights = 0;
		f->rights_mode = attr->mode;
		f->rights_uid = attr->uid;
		f->rights_gid = attr->gid;
		f->rights_since = nfsappend_now();
	}
	f->rights |= rights;
	pthread_mutex_unlock(&registry_lock);
}

bool nfsappend_file_granted(struct nfsappend_server *server,
	const struct nfsappend_fh *fh, const struct nfsappend_attr *attr,
	uint32_t rights)
{
	struct nfsappend_file *f;
	bool granted;

	pthread_mutex_lock(&registry_lock);
	f = find(server, fh);
	granted = f != NULL && rights_are_of(f, attr) &&
		(f->rights & rights) == rights;
	pthread_mutex_unlock(&registry_lock);
	return granted;
}

void nfsappend_file_changed(struct nfsappend_server *server,
	const struct nfsappend_fh *fh)
{
	struct nfsappend_file *f;

	pthread_mutex_lock(&registry_lock);
	f = find(server, fh);
	if (f != NULL)
		nfsappend_attr_forget(f);
	pthread_mutex_unlock(&registry_lock);
}

void nfsappend_file_renamed(struct nfsappend_server *server,
	const struct nfsappend_fh *fh, const struct nfsappend_fh *dir,
	const char *name)
{
	struct nfsappend_file *f;

	pthread_mutex_lock(&registry_lock);
	f = find(server, fh);
	if (f != NULL) {
		nfsappend_attr_forget(f);
		f->dir = *dir;
		snprintf(f->name, sizeof f->name, "%s", name);
	}
	pthread_mutex_unlock(&registry_lock);
}

struct nfsappend_file *nfsappend_file_on_mount(uint64_t device, uint64_t fileid)
{
	struct nfsappend_file *f, *next, *found = NULL;

	pthread_mutex_lock(&registry_lock);
	HASH_ITER (hh, registry, f, next) {
		if (f->refs == 0 || !nfsappend_file_mounted(f) ||
			f->fileid != fileid || f->device != device)
			continue;
		f->refs++;
		found = f;
		break;
	}
	pthread_mutex_unlock(&registry_lock);
	return found;
}

bool nfsappend_file_any(void)
{
	return __atomic_load_n(&registry, __ATOMIC_RELAXED) != NULL;
}

void nfsappend_file_each(void (*fn)(struct nfsappend_file *, void *), void *arg)
{
	struct nfsappend_file *f, *next;

	pthread_mutex_lock(&registry_lock);
	HASH_ITER (hh, registry, f, next)
		fn(f, arg);
	pthread_mutex_unlock(&registry_lock);
}
