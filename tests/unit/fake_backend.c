/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/process.h"
#include "fake_backend.h"

#define NODES 1200 /* more than NFSAPPEND_DEPTH_MAX */
#define RULES 32
#define ARENA (UINT64_C(1) << 27)
#define ROOM (UINT64_C(1) << 16)

struct node {
	bool used;
	bool stale;
	int parent;
	char name[NFSAPPEND_NAME_MAX + 1];
	struct nfsappend_attr attr;
	uint32_t denied;
	uint64_t create_verifier;
	char target[4096];
	size_t at, room; /* of the content, in the arena */
	uint64_t stable; /* bytes that a restart leaves */
	uint32_t lock_seqid; /* of the next request for its end */
};

struct rule {
	struct fake_rule rule;
	unsigned seen, left;
};

/* In shared memory. */
struct server {
	pthread_mutex_t lock;
	struct node nodes[NODES];
	struct rule rules[RULES];
	unsigned calls[FAKE_OPS];
	uint64_t verifier;
	size_t arena_used;
	uint32_t wtmax, rtmax;
	int root;
	int64_t clock;
	unsigned latency; /* of a WRITE, us */
};

struct nfsappend_session {
	int unused;
};

static struct server *server;
static uint8_t *arena;
static const char handle_magic[8] = "fakefh1";

static void *shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* Callers are killed at any time; a request is executed, or it is not. */
static void lock(void)
{
	if (pthread_mutex_lock(&server->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&server->lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&server->lock);
}

void fake_start(void)
{
	pthread_mutexattr_t attr;

	server = shared(sizeof *server);
	arena = shared(ARENA);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&server->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	server->verifier = 0x1111;
	server->root = fake_add(-1, "", NFSAPPEND_DIR, 0755, 0);
	server->wtmax = server->rtmax = 1 << 20;
}

static void touch(struct node *n)
{
	n->attr.mtime.tv_sec = n->attr.ctime.tv_sec = ++server->clock;
}

int fake_add(int parent, const char *name, enum nfsappend_type type,
	uint32_t mode, size_t room)
{
	for (int i = 0; i < NODES; i++) {
		struct node *n = &server->nodes[i];

		if (n->used)
			continue;
		n->used = true;
		n->parent = parent;
		snprintf(n->name, sizeof n->name, "%s", name);
		n->attr.type = type;
		n->attr.mode = mode;
		n->attr.nlink = 1;
		n->attr.fsid = 7;
		n->attr.fileid = 1000 + (uint64_t)i;
		n->room = room != 0 ? room : ROOM;
		n->at = server->arena_used;
		server->arena_used += n->room;
		if (server->arena_used > ARENA)
			break;
		touch(n);
		return i;
	}
	fprintf(stderr, "fake backend: no room\n");
	abort();
}

int fake_add_link(int parent, const char *name, const char *target)
{
	int i = fake_add(parent, name, NFSAPPEND_LNK, 0777, 1);

	snprintf(server->nodes[i].target, sizeof server->nodes[i].target, "%s",
		target);
	return i;
}

int fake_find(int parent, const char *name)
{
	for (int i = 0; i < NODES; i++) {
		struct node *n = &server->nodes[i];

		if (n->used && !n->stale && n->parent == parent &&
			!strcmp(n->name, name))
			return i;
	}
	return -1;
}

void fake_remove(int node)
{
	server->nodes[node].stale = true;
}

struct nfsappend_fh fake_handle(int node)
{
	struct nfsappend_fh fh = {.len = sizeof handle_magic + sizeof node};

	memcpy(fh.data, handle_magic, sizeof handle_magic);
	memcpy(fh.data + sizeof handle_magic, &node, sizeof node);
	return fh;
}

struct nfsappend_attr *fake_attr(int node)
{
	return &server->nodes[node].attr;
}

void fake_deny(int node, uint32_t access)
{
	server->nodes[node].denied = access;
}

const uint8_t *fake_content(int node, size_t *len)
{
	*len = server->nodes[node].attr.size;
	return arena + server->nodes[node].at;
}

size_t fake_stable(int node)
{
	return server->nodes[node].stable;
}

void fake_set_contact(uint32_t wtmax, uint32_t rtmax, int root)
{
	server->wtmax = wtmax;
	server->rtmax = rtmax;
	server->root = root;
}

struct nfsappend_contact fake_contact_now(void)
{
	struct nfsappend_contact c;

	memset(&c, 0, sizeof c);
	c.address.sin6_family = AF_INET6;
	c.address.sin6_port = htons(2049);
	c.address.sin6_addr = in6addr_loopback;
	c.wtmax = server->wtmax;
	c.rtmax = server->rtmax;
	c.root = fake_handle(server->root);
	return c;
}

void fake_inject(const struct fake_rule *rule)
{
	lock();
	for (int i = 0; i < RULES; i++) {
		struct rule *r = &server->rules[i];

		if (r->left != 0)
			continue;
		r->rule = *rule;
		r->rule.at = rule->at != 0 ? rule->at : 1;
		r->left = rule->times != 0 ? rule->times : 1;
		r->seen = 0;
		unlock();
		return;
	}
	abort();
}

unsigned fake_rules_left(void)
{
	unsigned n = 0;

	for (int i = 0; i < RULES; i++)
		n += server->rules[i].left != 0;
	return n;
}

void fake_rules_clear(void)
{
	lock();
	memset(server->rules, 0, sizeof server->rules);
	unlock();
}

void fake_latency(unsigned us)
{
	server->latency = us;
}

unsigned fake_calls(enum fake_op op)
{
	return server->calls[op];
}

void fake_calls_reset(void)
{
	memset(server->calls, 0, sizeof server->calls);
}

/* The rest is under the lock. */

static void put(struct node *n, uint64_t offset, const void *data, size_t len)
{
	if (offset + len > n->room) {
		fprintf(stderr, "fake backend: file too large\n");
		abort();
	}
	memcpy(arena + n->at + offset, data, len);
	if (offset + len > n->attr.size)
		n->attr.size = offset + len;
	touch(n);
}

static void cut(struct node *n, uint64_t size)
{
	if (size < n->attr.size)
		memset(arena + n->at + size, 0, n->attr.size - size);
	n->attr.size = size;
	if (n->stable > size)
		n->stable = size;
	touch(n);
}

void fake_append(int node, const void *data, size_t len)
{
	struct node *n = &server->nodes[node];
	bool was_stable = n->stable == n->attr.size;

	put(n, n->attr.size, data, len);
	if (was_stable)
		n->stable = n->attr.size;
}

void fake_truncate(int node, uint64_t size)
{
	cut(&server->nodes[node], size);
	server->nodes[node].stable = size;
}

static int node_of(const struct nfsappend_fh *fh)
{
	int i;

	if (fh->len != sizeof handle_magic + sizeof i ||
		memcmp(fh->data, handle_magic, sizeof handle_magic) != 0)
		return -1;
	memcpy(&i, fh->data + sizeof handle_magic, sizeof i);
	return i < 0 || i >= NODES || !server->nodes[i].used ||
			       server->nodes[i].stale
		       ? -1
		       : i;
}

/* One call: from begin() to finish(), both with the lock held between. */
struct call {
	struct nfsappend_wait *wait;
	struct fake_rule rule;
	int node;
	bool slow;
};

/* Whether the server executes it. */
static bool begin(struct call *c, enum fake_op op, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh)
{
	bool hit = false;

	memset(c, 0, sizeof *c);
	c->wait = wait;
	lock();
	server->calls[op]++;
	for (int i = 0; i < RULES; i++) {
		struct rule *r = &server->rules[i];

		if (r->left == 0 || r->rule.op != op ||
			++r->seen < r->rule.at || hit)
			continue;
		c->rule = r->rule;
		r->left--;
		hit = true;
	}
	wait->rpcs++;
	if (op == FAKE_WRITE || op == FAKE_APPEND)
		wait->write_rpcs++;
	c->slow = op == FAKE_WRITE || op == FAKE_APPEND;
	if (c->rule.reached != NULL) {
		unlock();
		if (write(*c->rule.reached, "", 1) == 1)
			raise(SIGSTOP);
		lock();
	}
	c->node = fh != NULL ? node_of(fh) : server->root;
	if (c->rule.death == FAKE_DIE_BEFORE) {
		unlock();
		raise(SIGKILL);
	}
	if (c->node >= 0 && c->rule.truncate)
		fake_truncate(c->node, c->rule.size);
	if (c->node >= 0 && c->rule.before != NULL)
		fake_append(c->node, c->rule.before, strlen(c->rule.before));
	return c->rule.result == 0 || c->rule.executed;
}

static void restart(void)
{
	for (int i = 0; i < NODES; i++)
		if (server->nodes[i].used)
			cut(&server->nodes[i], server->nodes[i].stable);
	server->verifier++;
}

static int finish(struct call *c, int result)
{
	if (c->rule.restart)
		restart();
	if (c->node >= 0 && c->rule.after != NULL)
		fake_append(c->node, c->rule.after, strlen(c->rule.after));
	unlock();
	if (c->slow && server->latency != 0)
		usleep(server->latency);
	if (c->rule.death == FAKE_DIE_AFTER)
		raise(SIGKILL);
	/* As if the time had gone by: no test waits for it. */
	if (c->wait->deadline != 0 &&
		(c->rule.late || c->rule.result == NFSAPPEND_TIMED_OUT))
		c->wait->deadline = 1;
	return c->rule.result != 0 ? c->rule.result : result;
}

static void start(const struct nfsappend_services *services)
{
	(void)services;
}

static void after_fork(void)
{
}

static int contact(const struct nfsappend_target *target,
	const struct nfsappend_cred *cred, struct nfsappend_wait *wait,
	struct nfsappend_contact *out, char *why, size_t whylen)
{
	struct call c;

	(void)target;
	(void)cred;
	if (begin(&c, FAKE_CONTACT, wait, NULL))
		*out = fake_contact_now();
	else
		snprintf(why, whylen, "the fake server refuses");
	return finish(&c, 0);
}

static struct nfsappend_session *session(const struct nfsappend_target *target,
	const struct nfsappend_contact *from, const struct nfsappend_cred *cred)
{
	static struct nfsappend_session only;

	(void)target;
	(void)from;
	(void)cred;
	return &only;
}

static int lookup(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *dir, const char *name,
	struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	struct call c;
	int r = 0, found;

	(void)s;
	if (begin(&c, FAKE_LOOKUP, wait, dir)) {
		found = fake_find(c.node, name);
		if (c.node < 0)
			r = -ESTALE;
		else if (server->nodes[c.node].attr.type != NFSAPPEND_DIR)
			r = -ENOTDIR;
		else if (found < 0)
			r = -ENOENT;
		else {
			*fh = fake_handle(found);
			*attr = server->nodes[found].attr;
		}
	}
	return finish(&c, r);
}

static int getattr(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_GETATTR, wait, fh)) {
		if (c.node < 0)
			r = -ESTALE;
		else
			*attr = server->nodes[c.node].attr;
	}
	return finish(&c, r);
}

static int setattr(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, unsigned set,
	const struct nfsappend_attr *attr)
{
	struct call c;
	struct node *n;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_SETATTR, wait, fh)) {
		n = &server->nodes[c.node < 0 ? 0 : c.node];
		if (c.node < 0)
			r = -ESTALE;
		else if (set & NFSAPPEND_SET_MODE)
			n->attr.mode = attr->mode;
		if (r == 0 && set & NFSAPPEND_SET_SIZE) {
			cut(n, attr->size);
			n->stable = attr->size;
		}
	}
	return finish(&c, r);
}

static int access_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, uint32_t asked, uint32_t *granted)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_ACCESS, wait, fh)) {
		if (c.node < 0)
			r = -ESTALE;
		else
			*granted = asked & ~server->nodes[c.node].denied;
	}
	return finish(&c, r);
}

static int readlink_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, char *buf, size_t len)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_READLINK, wait, fh)) {
		if (c.node < 0)
			r = -ESTALE;
		else if (strlen(server->nodes[c.node].target) >= len)
			r = -ENAMETOOLONG;
		else
			strcpy(buf, server->nodes[c.node].target);
	}
	return finish(&c, r);
}

static int create(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *dir, const char *name,
	enum nfsappend_create how, uint32_t mode, uint64_t verifier,
	struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	struct call c;
	int r = 0, found;

	(void)s;
	if (begin(&c, FAKE_CREATE, wait, dir)) {
		found = fake_find(c.node, name);
		if (c.node < 0) {
			r = -ESTALE;
		} else if (found >= 0 && how == NFSAPPEND_EXCLUSIVE &&
			   server->nodes[found].create_verifier != verifier) {
			r = -EEXIST;
		} else {
			if (found < 0) {
				found = fake_add(c.node, name, NFSAPPEND_REG,
					how == NFSAPPEND_EXCLUSIVE ? 0 : mode,
					0);
				server->nodes[found].create_verifier = verifier;
			}
			*fh = fake_handle(found);
			*attr = server->nodes[found].attr;
			if (c.rule.no_handle)
				memset(fh, 0, sizeof *fh);
		}
	}
	return finish(&c, r);
}

static int read_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, uint64_t offset, void *buf,
	uint32_t *len, bool *eof)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_READ, wait, fh)) {
		if (c.node < 0) {
			r = -ESTALE;
		} else {
			struct node *n = &server->nodes[c.node];
			uint64_t left = offset < n->attr.size
						? n->attr.size - offset
						: 0;

			if (*len > left)
				*len = (uint32_t)left;
			if (c.rule.count != 0 && *len > c.rule.count)
				*len = c.rule.count;
			if (*len > 0)
				memcpy(buf, arena + n->at + offset, *len);
			*eof = offset + *len >= n->attr.size;
		}
	}
	return finish(&c, r);
}

static int store(struct node *n, const struct fake_rule *rule, uint64_t offset,
	const void *buf, uint32_t len, struct nfsappend_written *written)
{
	bool stable = rule->lesser == 0 && !rule->cached;

	if (offset > n->room || len > n->room - offset)
		return -EFBIG;
	if (rule->count != 0 && len > rule->count)
		len = rule->count;
	put(n, offset, buf, len);
	/* FILE_SYNC covers its own range: here, where the unstable bytes
	 * always lie at the end, that is all up to it or nothing new. */
	if (stable && n->stable >= offset && n->stable < offset + len)
		n->stable = offset + len;
	written->count = len;
	written->committed = NFSAPPEND_FILE_SYNC - rule->lesser;
	written->verifier = server->verifier;
	written->has_size = true;
	written->size = n->attr.size;
	return 0;
}

static int write_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, uint64_t offset, const void *buf,
	uint32_t len, struct nfsappend_written *written)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_WRITE, wait, fh)) {
		if (c.node < 0)
			r = -ESTALE;
		else
			r = store(&server->nodes[c.node], &c.rule, offset, buf,
				len, written);
	}
	return finish(&c, r);
}

static int write_at_end(struct nfsappend_session *s,
	struct nfsappend_wait *wait, const struct nfsappend_fh *fh,
	const struct nfsappend_stateid *stateid, uint64_t offset,
	const void *buf, uint32_t len, struct nfsappend_written *written)
{
	struct call c;
	int r = 0;

	(void)s;
	(void)stateid;
	if (begin(&c, FAKE_WRITE, wait, fh)) {
		if (c.node < 0) {
			r = -ESTALE;
		} else if (server->nodes[c.node].attr.size != offset) {
			written->size = server->nodes[c.node].attr.size;
			written->has_size = true;
			r = NFSAPPEND_NOT_END;
		} else {
			r = store(&server->nodes[c.node], &c.rule, offset, buf,
				len, written);
		}
	}
	return finish(&c, r);
}

static int commit(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *fh, uint64_t offset, uint32_t len,
	uint64_t *verifier)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_COMMIT, wait, fh)) {
		if (c.node < 0) {
			r = -ESTALE;
		} else {
			struct node *n = &server->nodes[c.node];
			uint64_t end = offset + len < n->attr.size
					       ? offset + len
					       : n->attr.size;

			if (n->stable >= offset && n->stable < end)
				n->stable = end;
			*verifier = server->verifier;
		}
	}
	return finish(&c, r);
}

/* A new object under a name that must be free. */
static int make(struct call *c, const char *name, enum nfsappend_type type,
	uint32_t mode, int *node)
{
	if (c->node < 0)
		return -ESTALE;
	if (fake_find(c->node, name) >= 0)
		return -EEXIST;
	*node = fake_add(c->node, name, type, mode, 1);
	return 0;
}

static int mkdir_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *dir, const char *name, uint32_t mode)
{
	struct call c;
	int r = 0, node;

	(void)s;
	if (begin(&c, FAKE_MKDIR, wait, dir))
		r = make(&c, name, NFSAPPEND_DIR, mode, &node);
	return finish(&c, r);
}

static int symlink_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *dir, const char *name, const char *target)
{
	struct call c;
	int r = 0, node;

	(void)s;
	if (begin(&c, FAKE_SYMLINK, wait, dir)) {
		r = make(&c, name, NFSAPPEND_LNK, 0777, &node);
		if (r == 0)
			snprintf(server->nodes[node].target,
				sizeof server->nodes[node].target, "%s",
				target);
	}
	return finish(&c, r);
}

/* A second node with the same number: as a server whose handles tell the
 * directory. */
static int link_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *file, const struct nfsappend_fh *dir,
	const char *name)
{
	struct call c;
	int r = 0, node, of = node_of(file);

	(void)s;
	if (begin(&c, FAKE_LINK, wait, dir)) {
		r = of < 0 ? -ESTALE
			   : make(&c, name, NFSAPPEND_REG, 0644, &node);
		if (r == 0)
			server->nodes[node].attr = server->nodes[of].attr;
	}
	return finish(&c, r);
}

static int drop(struct call *c, const char *name)
{
	int node = fake_find(c->node, name);

	if (c->node < 0)
		return -ESTALE;
	if (node < 0)
		return -ENOENT;
	fake_remove(node);
	if (c->rule.remade)
		fake_add(c->node, name, NFSAPPEND_REG, 0600, 1);
	return 0;
}

static int remove_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *dir, const char *name)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_REMOVE, wait, dir))
		r = drop(&c, name);
	return finish(&c, r);
}

static int rmdir_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *dir, const char *name)
{
	struct call c;
	int r = 0;

	(void)s;
	if (begin(&c, FAKE_RMDIR, wait, dir))
		r = drop(&c, name);
	return finish(&c, r);
}

static int rename_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_fh *from_dir, const char *from,
	const struct nfsappend_fh *to_dir, const char *to)
{
	struct call c;
	int r = 0, node, over, into = node_of(to_dir);

	(void)s;
	if (begin(&c, FAKE_RENAME, wait, from_dir)) {
		node = fake_find(c.node, from);
		over = fake_find(into, to);
		if (c.node < 0 || into < 0) {
			r = -ESTALE;
		} else if (node < 0) {
			r = -ENOENT;
		} else {
			if (over >= 0)
				fake_remove(over);
			server->nodes[node].parent = into;
			snprintf(server->nodes[node].name,
				sizeof server->nodes[node].name, "%s", to);
			if (c.rule.remade)
				fake_add(c.node, from, NFSAPPEND_REG, 0600, 1);
		}
	}
	return finish(&c, r);
}

static int client(struct nfsappend_session *s, struct nfsappend_wait *wait,
	struct nfsappend_client *client)
{
	struct call c;

	(void)s;
	if (begin(&c, FAKE_CLIENT, wait, NULL)) {
		client->generation++;
		client->clientid = client->generation;
		client->has_id = 1;
	}
	return finish(&c, 0);
}

/* Into an empty or lost slot, all in one step. */
static int open_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	struct nfsappend_slot *slot, const struct nfsappend_client *client,
	const struct nfsappend_open_args *args, struct nfsappend_fh *fh,
	struct nfsappend_attr *attr)
{
	struct nfsappend_state old = nfsappend_slot_get(slot);
	struct nfsappend_state st = {.generation = client->generation,
		.clientid = client->clientid,
		.opened = 1,
		.confirmed = 1,
		.has_lock = 1,
		.in_doubt = old.in_doubt,
		.offset = old.offset,
		.len = old.len};
	struct call c;
	int r = 0, found;

	(void)s;
	if (begin(&c, FAKE_OPEN, wait, args->dir)) {
		found = fake_find(c.node, args->name);
		if (found < 0 && args->create)
			found = fake_add(c.node, args->name, NFSAPPEND_REG,
				args->mode, 0);
		if (found < 0) {
			r = -ENOENT;
		} else {
			*fh = fake_handle(found);
			*attr = server->nodes[found].attr;
			st.lock_seqid = server->nodes[found].lock_seqid;
		}
	}
	r = finish(&c, r);
	if (r == 0)
		nfsappend_slot_set(slot, &st);
	return r;
}

static int close_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	struct nfsappend_slot *slot, const struct nfsappend_fh *fh)
{
	static const struct nfsappend_state empty;
	struct call c;

	(void)s;
	begin(&c, FAKE_CLOSE, wait, fh);
	nfsappend_slot_set(slot, &empty);
	return finish(&c, 0);
}

/* LOCK, VERIFY, WRITE, LOCKU. The server's side; st: of the request. */
static int append_at_end(struct call *c, const struct nfsappend_state *st,
	struct nfsappend_record *rec)
{
	struct node *n = &server->nodes[c->node < 0 ? 0 : c->node];

	if (c->node < 0)
		return -ESTALE;
	if (n->lock_seqid == st->lock_seqid + 1)
		return NFSAPPEND_LANDED; /* the first sending of this one */
	n->lock_seqid = st->lock_seqid + 1;
	if (n->attr.size != st->offset) {
		rec->size = n->attr.size;
		return NFSAPPEND_NOT_END;
	}
	return store(
		n, &c->rule, st->offset, rec->data, st->len, &rec->written);
}

static int append_(struct nfsappend_session *s, struct nfsappend_wait *wait,
	struct nfsappend_slot *slot, const struct nfsappend_fh *fh,
	struct nfsappend_record *rec)
{
	struct nfsappend_state st = nfsappend_slot_get(slot);
	bool repeated = st.in_flight != NFSAPPEND_NOTHING;
	struct call c;
	int r = 0;

	(void)s;
	if (!st.confirmed || st.lost)
		return NFSAPPEND_STATE_LOST;
	if (!repeated && rec->len == 0) {
		st.held = 0;
		nfsappend_slot_set(slot, &st);
		return 0;
	}
	if (!repeated) {
		st.in_flight = NFSAPPEND_LOCK_AND_WRITE;
		st.offset = rec->offset;
		st.len = rec->len;
		nfsappend_slot_set(slot, &st);
	}
	if (begin(&c, FAKE_APPEND, wait, fh))
		r = append_at_end(&c, &st, rec);
	r = finish(&c, r);
	/* Without an answer it stays in flight. */
	if (r > 0 && r < NFSAPPEND_CONTINUE && r != NFSAPPEND_UNSENT)
		return r;
	if (r == -EACCES && repeated) /* by the RPC layer */
		return r;
	st.in_flight = NFSAPPEND_NOTHING;
	if (r == -EPERM)
		st.in_doubt = repeated;
	if (r == NFSAPPEND_STATE_LOST) {
		st.lost = 1;
		st.in_doubt = repeated;
	} else if (r == 0 || r == NFSAPPEND_LANDED || r == NFSAPPEND_NOT_END) {
		st.lock_seqid++;
		st.held = r == 0 && rec->more;
	}
	if (r == 0 || r == NFSAPPEND_LANDED)
		st.wrote = r == 0 ? rec->written.count : st.len;
	nfsappend_slot_set(slot, &st);
	return r;
}

const struct nfsappend_backend fake_backend = {
	.abi = NFSAPPEND_BACKEND_ABI,
	.init = start,
	.after_fork = after_fork,
	.contact = contact,
	.session = session,
	.lookup = lookup,
	.getattr = getattr,
	.setattr = setattr,
	.access = access_,
	.readlink = readlink_,
	.create = create,
	.read = read_,
	.write = write_,
	.write_at_end = write_at_end,
	.commit = commit,
	.mkdir = mkdir_,
	.symlink = symlink_,
	.link = link_,
	.remove = remove_,
	.rmdir = rmdir_,
	.rename = rename_,
	.client = client,
	.open = open_,
	.close = close_,
	.append = append_,
};
