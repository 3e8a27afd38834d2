/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slabs, and copies from and to buffers that may not be there. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/process.h"
#include "core/slab.h"
#include "core/usercopy.h"
#include "rig.h"

struct object {
	void *link;
	uint64_t value[5];
};

static struct nfsappend_slab slab = NFSAPPEND_SLAB(struct object);

static void slab_objects(void)
{
	enum { N = 5000 };
	static struct object *o[N];

	for (int i = 0; i < N; i++) {
		o[i] = nfsappend_slab_take(&slab);
		CHECK(o[i] != NULL);
		CHECK_INT((uintptr_t)o[i] % sizeof(void *), 0);
		CHECK(o[i]->link == NULL);
		CHECK_INT(o[i]->value[4], 0);
		memset(o[i], 0xff, sizeof *o[i]);
		o[i]->value[0] = (uint64_t)i;
	}
	for (int i = 0; i < N; i++) /* they do not overlap */
		CHECK_INT(o[i]->value[0], i);
	/* The last given back is the next taken; its bytes are its own. */
	nfsappend_slab_give(&slab, o[3]);
	nfsappend_slab_give(&slab, o[9]);
	CHECK(nfsappend_slab_take(&slab) == o[9]);
	CHECK(o[9]->link == NULL);
	CHECK_INT(o[9]->value[0], 9);
	CHECK(nfsappend_slab_take(&slab) == o[3]);
}

static void slab_of_large_objects(void)
{
	static struct nfsappend_slab large = {
		.size = 100000, .lock = PTHREAD_MUTEX_INITIALIZER};
	char *a = nfsappend_slab_take(&large), *b = nfsappend_slab_take(&large);

	CHECK(a != NULL && b != NULL);
	memset(a, 1, 100000);
	memset(b, 2, 100000);
	CHECK_INT(a[99999], 1);
}

static void slab_after_fork(void)
{
	struct object *a = nfsappend_slab_take(&slab);
	struct object *b = nfsappend_slab_take(&slab);

	a->value[0] = 7;
	nfsappend_slab_give(&slab, b);
	/* As another thread of the parent would leave it. */
	pthread_mutex_lock(&slab.lock);
	nfsappend_slab_after_fork(&slab);
	b = nfsappend_slab_take(&slab);
	CHECK(b != NULL && b != a);
	CHECK_INT(a->value[0], 7);
}

static void *slab_user(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2000; i++) {
		struct object *o = nfsappend_slab_take(&slab);
		struct object *p = nfsappend_slab_take(&slab);

		CHECK(o != NULL && p != NULL && o != p);
		o->value[1] = (uint64_t)i;
		p->value[1] = ~(uint64_t)i;
		CHECK_INT(o->value[1], i);
		nfsappend_slab_give(&slab, o);
		nfsappend_slab_give(&slab, p);
	}
	return NULL;
}

static void slab_threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&t[i], NULL, slab_user, NULL), 0);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_join(t[i], NULL), 0);
}

/* Two pages, the second of which is not there. */
static char *half(int prot)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	memset(p, 'h', page);
	CHECK_INT(mprotect(p + page, page, prot), 0);
	return p + page;
}

static void copy_in(void)
{
	char a[] = "0123", b[] = "4567", *end = half(PROT_NONE);
	struct iovec iov[] = {{a, 4}, {b, 0}, {NULL, 0}, {b, 4}};
	struct iovec holes[] = {{a, 4}, {end - 3, 6}, {b, 4}};
	uint8_t to[100];

	memset(to, 0, sizeof to);
	CHECK_INT(nfsappend_copy_in(iov, 4, 0, to, 8), 8);
	CHECK_MEM(to, 8, "01234567", 8);
	CHECK_INT(nfsappend_copy_in(iov, 4, 3, to, 3), 3);
	CHECK_MEM(to, 3, "345", 3);
	CHECK_INT(nfsappend_copy_in(iov, 4, 4, to, 100), 4);
	CHECK_INT(nfsappend_copy_in(iov, 4, 8, to, 100), 0);
	CHECK_INT(nfsappend_copy_in(iov, 4, 0, to, 0), 0);
	CHECK_INT(nfsappend_copy_in(iov, 0, 0, to, 10), 0);
	CHECK_INT(nfsappend_copy_in(holes, 3, 0, to, 100), 7);
	CHECK_MEM(to, 7, "0123hhh", 7);
	CHECK_INT(nfsappend_copy_in(holes, 3, 5, to, 100), 2);
	CHECK_INT(nfsappend_copy_in(holes, 3, 7, to, 100), -EFAULT);
	CHECK_INT(nfsappend_copy_in(holes, 3, 10, to, 100), 4);
}

static void copy_out(void)
{
	char a[5] = "....", *end = half(PROT_NONE), *read_only;
	struct iovec iov[] = {{a, 2}, {NULL, 0}, {a + 2, 2}};
	struct iovec holes[] = {{end - 3, 6}, {a, 4}};

	CHECK_INT(nfsappend_copy_out(iov, 3, 0, (const uint8_t *)"abcd", 4), 4);
	CHECK_STR(a, "abcd");
	CHECK_INT(nfsappend_copy_out(iov, 3, 3, (const uint8_t *)"xy", 2), 1);
	CHECK_STR(a, "abcx");
	CHECK_INT(nfsappend_copy_out(holes, 2, 0, (const uint8_t *)"123456", 6),
		3);
	CHECK_MEM(end - 3, 3, "123", 3);
	CHECK_INT(nfsappend_copy_out(holes, 2, 3, (const uint8_t *)"45", 2),
		-EFAULT);
	read_only = half(PROT_READ);
	holes[0].iov_base = read_only;
	CHECK_INT(nfsappend_copy_out(holes, 2, 0, (const uint8_t *)"12", 2),
		-EFAULT);
}

static void copy_across_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 5 * page;
	uint8_t *from = unit_alloc(n), *to = unit_alloc(n);
	struct iovec iov = {from, n};

	for (size_t i = 0; i < n; i++)
		from[i] = (uint8_t)(i * 7 + i / page);
	CHECK_INT(nfsappend_copy_in(&iov, 1, 11, to, n), n - 11);
	CHECK_MEM(to, n - 11, from + 11, n - 11);
	free(from);
	free(to);
}

static const struct unit_test tests[] = {
	UNIT_TEST(slab_objects),
	UNIT_TEST(slab_of_large_objects),
	UNIT_TEST(slab_after_fork),
	UNIT_TEST(slab_threads),
	UNIT_TEST(copy_in),
	UNIT_TEST(copy_out),
	UNIT_TEST(copy_across_pages),
};

UNIT_MAIN(tests)
