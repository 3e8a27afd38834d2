/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table is a cache of what the descriptors are: whatever happens behind
 * its back, an answer is never about another file. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/placeholder.h"
#include "core/process.h"
#include "rig.h"

static struct nfsappend_open *get(int fd, int *error)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;

	nfsappend_guard_enter(&guard);
	o = nfsappend_table_get(fd, error);
	nfsappend_guard_leave(&guard);
	return o;
}

static void put(struct nfsappend_open *o)
{
	struct nfsappend_guard guard;

	nfsappend_guard_enter(&guard);
	nfsappend_open_put(o);
	nfsappend_guard_leave(&guard);
}

static bool managed(int fd)
{
	int error;
	struct nfsappend_open *o = get(fd, &error);

	CHECK_INT(error, 0);
	if (o != NULL)
		put(o);
	return o != NULL;
}

static void set_and_get(void)
{
	struct nfsappend_open *a, *b;
	int fd, error;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_WRONLY, O_APPEND);
	CHECK(!nfsappend_table_unmanaged(fd));
	a = get(fd, &error);
	CHECK(a != NULL);
	CHECK_INT(a->accmode, O_WRONLY);
	CHECK(a->file == rig_file);
	CHECK_INT(a->refs, 2);
	b = get(fd, &error);
	CHECK(a == b);
	CHECK_INT(a->refs, 3);
	put(a);
	put(b);
	CHECK_INT(a->refs, 1);
}

static void unmanaged(void)
{
	int fd = open("/dev/null", O_RDONLY), error;

	rig_start(NFSAPPEND_GUARDED);
	CHECK(nfsappend_table_unmanaged(fd));
	CHECK_INT(nfsappend_table_peek(fd), NFSAPPEND_FD_UNMANAGED);
	CHECK(get(fd, &error) == NULL);
	CHECK_INT(error, 0);
	/* Numbers that are none. */
	CHECK(nfsappend_table_unmanaged(-1));
	CHECK(nfsappend_table_unmanaged(INT32_MAX));
	CHECK(nfsappend_table_unmanaged(NFSAPPEND_CHUNK * NFSAPPEND_CHUNKS));
	CHECK(nfsappend_table_unmanaged(700));
	CHECK(nfsappend_table_peek(700) != NFSAPPEND_FD_UNMANAGED);
	CHECK(get(-1, &error) == NULL);
	CHECK(get(700, &error) == NULL);
	CHECK_INT(error, 0);
	nfsappend_table_forget(-1);
	nfsappend_table_unsure(INT32_MAX);
	nfsappend_table_opened(-1);
	nfsappend_active = false;
	fd = rig_descriptor(O_WRONLY, 0);
	CHECK(nfsappend_table_unmanaged(fd));
}

static void forget(void)
{
	struct nfsappend_open *o;
	int fd, error;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_WRONLY, 0);
	o = get(fd, &error);
	nfsappend_table_forget(fd);
	/* A call in progress keeps its own reference. */
	CHECK_INT(o->refs, 1);
	CHECK(o->file == rig_file);
	/* Still open: the descriptor tells. */
	CHECK(managed(fd));
	put(o);
	nfsappend_table_forget(fd);
	close(fd);
	CHECK(!managed(fd));
	CHECK(nfsappend_table_unmanaged(fd));
	/* Something else under the number. */
	CHECK_INT(open("/dev/null", O_RDONLY), fd);
	CHECK(!managed(fd));
}

static const struct nfsappend_backend *no_module(void)
{
	return NULL;
}

static void adopt(void)
{
	struct nfsappend_open *o;
	int fd, copy, error;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_RDWR, O_APPEND);
	copy = fcntl(fd, F_DUPFD, 300);
	CHECK_INT(copy, 300);
	nfsappend_table_unsure(copy);
	CHECK(!nfsappend_table_unmanaged(copy));
	o = get(copy, &error);
	CHECK(o != NULL);
	CHECK(o->file == rig_file);
	CHECK_INT(o->accmode, O_RDWR);
	put(o);
	CHECK_INT(o->refs, 1);
	CHECK_INT(nfsappend_table_peek(copy), (uintptr_t)o);
	/* A number above the first chunk, where there may be such. */
	copy = fcntl(fd, F_DUPFD, 1500);
	if (copy >= 0) {
		CHECK(managed(copy));
		CHECK(nfsappend_table_peek(copy) > NFSAPPEND_FD_UNSURE);
	}
}

/* The marker by chance: a file of the program's own. */
static void marked_but_not_ours(void)
{
	int fd = open("/dev/null", O_WRONLY), error;

	rig_start(NFSAPPEND_GUARDED);
	nfsappend_placeholder_mark(fd);
	CHECK(get(fd, &error) == NULL);
	CHECK_INT(error, 0);
}

/* Ours, but it cannot be served: an error, or its writes would vanish. */
static void adopt_fails(void)
{
	struct nfsappend_placeholder *p = unit_alloc(sizeof *p);
	int fd, other, error;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_WRONLY, 0);
	CHECK_INT(nfsappend_placeholder_read(fd, p), 0);
	strcpy(p->target.host, "elsewhere");
	other = nfsappend_placeholder_make(p, 0);
	CHECK(other >= 0);
	nfsappend_backend = NULL;
	nfsappend_backend_loader = no_module;
	CHECK(get(other, &error) == NULL);
	CHECK_INT(error, -EIO);
	CHECK_HAS(rig_log(), "[N404]");
	free(p);
}

/* Closed and re-used by raw system calls, which no hook sees. */
static void replaced_behind_our_back(void)
{
	struct nfsappend_open *o;
	int fd, other, error;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_WRONLY, 0);
	CHECK(managed(fd));
	other = open("/dev/null", O_WRONLY);
	CHECK_INT(dup2(other, fd), fd);
	CHECK(!managed(fd));
	CHECK(nfsappend_table_unmanaged(fd));
	close(fd);

	fd = rig_descriptor(O_WRONLY, 0);
	o = get(fd, &error);
	close(fd);
	CHECK(get(fd, &error) == NULL);
	CHECK_INT(error, 0);
	CHECK_INT(o->refs, 1);
	put(o);

	/* Another of ours under the number: its own, not the old one. */
	fd = rig_descriptor(O_WRONLY, 0);
	other = rig_descriptor(O_RDWR, 0);
	CHECK_INT(dup2(other, fd), fd);
	o = get(fd, &error);
	CHECK(o != NULL);
	CHECK_INT(o->accmode, O_RDWR);
	put(o);
}

static void set_over_an_old_entry(void)
{
	struct nfsappend_open *old, *o;
	int fd, error;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_WRONLY, 0);
	old = get(fd, &error);
	close(fd);
	CHECK_INT(rig_descriptor(O_RDWR, 0), fd);
	CHECK_INT(old->refs, 1);
	o = get(fd, &error);
	CHECK(o != old);
	CHECK_INT(o->accmode, O_RDWR);
	put(o);
	put(old);
}

/* The kernel has opened something else under the number. */
static void opened(void)
{
	int fd, marked;

	rig_start(NFSAPPEND_GUARDED);
	marked = rig_descriptor(O_WRONLY, 0);
	CHECK_INT(close(marked), 0);
	fd = open("/dev/null", O_RDONLY);
	CHECK_INT(fd, marked);
	nfsappend_table_opened(fd);
	CHECK(nfsappend_table_unmanaged(fd));
	CHECK(!managed(fd));
	fd = fcntl(fd, F_DUPFD, 400);
	nfsappend_table_opened(fd);
	CHECK_INT(nfsappend_table_peek(fd), NFSAPPEND_FD_UNMANAGED);
}

/* A vfork child shares the table: it forgets, and enters nothing. */
static void vfork_child(void)
{
	struct nfsappend_open *o;
	int fd, plain, error;
	pid_t pid;

	rig_start(NFSAPPEND_GUARDED);
	pid = nfsappend_process->pid;
	fd = rig_descriptor(O_WRONLY, 0);
	plain = fcntl(open("/dev/null", O_RDONLY), F_DUPFD, 200);
	nfsappend_table_forget(fd);
	/* As seen from another process that has this memory. */
	nfsappend_process->pid = pid + 1;
	CHECK(nfsappend_in_vfork_child());
	o = get(fd, &error);
	CHECK(o != NULL);
	CHECK_INT(o->refs, 1);
	CHECK(nfsappend_table_peek(fd) <= NFSAPPEND_FD_UNSURE);
	put(o);
	CHECK(nfsappend_table_unmanaged(plain));
	CHECK(nfsappend_table_peek(plain) != NFSAPPEND_FD_UNMANAGED);
	fd = rig_descriptor(O_WRONLY, 0);
	CHECK(nfsappend_table_peek(fd) <= NFSAPPEND_FD_UNSURE);
	CHECK(managed(fd));
	nfsappend_process->pid = pid;
	CHECK(managed(fd));
	CHECK(nfsappend_table_peek(fd) > NFSAPPEND_FD_UNSURE);
}

/* After fork the child's table is its own, and as good. */
static void in_the_child(void *arg)
{
	int fd = *(int *)arg;

	CHECK(managed(fd));
	nfsappend_table_forget(fd);
	close(fd);
	CHECK(!managed(fd));
	CHECK(managed(rig_descriptor(O_WRONLY, 0)));
}

static void after_fork(void)
{
	int fd;

	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(O_WRONLY, 0);
	CHECK_INT(unit_wait(unit_fork(in_the_child, &fd)), 0);
	CHECK(managed(fd));
}

static void references_of_the_file(void)
{
	uint32_t refs;
	int fd, copy;

	rig_start(NFSAPPEND_GUARDED);
	refs = rig_file->refs;
	fd = rig_descriptor(O_WRONLY, 0);
	CHECK_INT(rig_file->refs, refs + 1);
	copy = dup(fd);
	CHECK(managed(copy));
	CHECK_INT(rig_file->refs, refs + 2);
	nfsappend_table_forget(copy);
	nfsappend_table_forget(fd);
	CHECK_INT(rig_file->refs, refs);
}

/* Some threads use a number while others close it and open it again. */
#define ROUNDS 2000

struct shared {
	int fd[2]; /* placeholders of different access modes */
	int number;
	_Atomic int done;
};

static void *user(void *arg)
{
	struct shared *s = arg;

	while (!atomic_load(&s->done)) {
		int error;
		struct nfsappend_open *o = get(s->number, &error);

		CHECK_INT(error, 0);
		if (o == NULL)
			continue;
		CHECK(o->file == rig_file);
		CHECK(o->accmode == O_WRONLY || o->accmode == O_RDWR);
		CHECK(o->refs > 0);
		put(o);
	}
	return NULL;
}

static void *changer(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		nfsappend_table_forget(s->number);
		dup2(s->fd[i % 2], s->number);
		nfsappend_table_unsure(s->number);
		if (i % 5 == 0) {
			nfsappend_table_forget(s->number);
			close(s->number);
		}
	}
	return NULL;
}

static void concurrent(void)
{
	struct shared s = {.number = 150};
	pthread_t users[3], changers[2];
	uint32_t refs;

	rig_start(NFSAPPEND_GUARDED);
	s.fd[0] = rig_descriptor(O_WRONLY, 0);
	s.fd[1] = rig_descriptor(O_RDWR, 0);
	CHECK_INT(dup2(s.fd[0], s.number), s.number);
	refs = rig_file->refs;
	for (unsigned i = 0; i < UNIT_COUNT(users); i++)
		pthread_create(&users[i], NULL, user, &s);
	for (unsigned i = 0; i < UNIT_COUNT(changers); i++)
		pthread_create(&changers[i], NULL, changer, &s);
	for (unsigned i = 0; i < UNIT_COUNT(changers); i++)
		pthread_join(changers[i], NULL);
	atomic_store(&s.done, 1);
	for (unsigned i = 0; i < UNIT_COUNT(users); i++)
		pthread_join(users[i], NULL);
	nfsappend_table_forget(s.number);
	/* None leaked, none given back twice. */
	CHECK_INT(rig_file->refs, refs);
}

static const struct unit_test tests[] = {
	UNIT_TEST(set_and_get),
	UNIT_TEST(unmanaged),
	UNIT_TEST(forget),
	UNIT_TEST(adopt),
	UNIT_TEST(marked_but_not_ours),
	UNIT_TEST(adopt_fails),
	UNIT_TEST(replaced_behind_our_back),
	UNIT_TEST(set_over_an_old_entry),
	UNIT_TEST(opened),
	UNIT_TEST(vfork_child),
	UNIT_TEST(after_fork),
	UNIT_TEST(references_of_the_file),
	UNIT_TEST(concurrent),
};

UNIT_MAIN(tests)
