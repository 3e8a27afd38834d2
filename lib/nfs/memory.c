/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The allocator of the nfs module. libnfs allocates on every RPC, and an
 * append may run in a signal handler that interrupted the program's own
 * malloc; so libnfs gets these names instead (the module is opened with
 * RTLD_DEEPBIND). Every caller has all signals blocked, so its lock is never
 * met by the thread that holds it; the child of a fork starts anew, since
 * another thread may have held it.
 *
 * Power-of-two classes over pages from the kernel; blocks of more than a
 * page's worth of fuss go back to it at once.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "nfs/memory.h"

#define EXPORT __attribute__((visibility("default")))
#define MIN_SHIFT 5
#define MAX_SHIFT 22 /* 4 MiB: a WRITE of wtmax and its headers */
#define ARENA (1 << 18)

struct block {
	uint64_t shift_or_size; /* class, or the mapping's size */
	struct block *next;	/* user memory begins here while in use */
};
#define HEADER 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *free_blocks[MAX_SHIFT + 1];
static char *arena, *arena_end;

void nfsappend_memory_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(free_blocks, 0, sizeof free_blocks);
	arena = arena_end = NULL;
}

static void *pages(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED ? p : NULL;
}

/* Under lock. */
static struct block *carve(unsigned shift)
{
	size_t n = (size_t)1 << shift;
	struct block *b;

	if (n > ARENA / 4)
		return pages(n);
	if (arena == NULL || (size_t)(arena_end - arena) < n) {
		arena = pages(ARENA);
		if (arena == NULL)
			return NULL;
		arena_end = arena + ARENA;
	}
	b = (struct block *)arena;
	arena += n;
	return b;
}

EXPORT void *malloc(size_t n)
{
	unsigned shift = MIN_SHIFT;
	struct block *b;

	if (n > SIZE_MAX / 2)
		goto none;
	n += HEADER;
	if (n > (size_t)1 << MAX_SHIFT) {
		n = (n + 4095) & ~(size_t)4095;
		b = pages(n);
		if (b == NULL)
			goto none;
		b->shift_or_size = n;
		return (char *)b + HEADER;
	}
	while ((size_t)1 << shift < n)
		shift++;
	pthread_mutex_lock(&lock);
	b = free_blocks[shift];
	if (b != NULL)
		free_blocks[shift] = b->next;
	else
		b = carve(shift);
	pthread_mutex_unlock(&lock);
	if (b == NULL)
		goto none;
	b->shift_or_size = shift;
	return (char *)b + HEADER;
none:
	errno = ENOMEM;
	return NULL;
}

EXPORT void free(void *p)
{
	struct block *b;

	if (p == NULL)
		return;
	b = (struct block *)((char *)p - HEADER);
	if (b->shift_or_size > MAX_SHIFT) {
		munmap(b, b->shift_or_size);
		return;
	}
	pthread_mutex_lock(&lock);
	b->next = free_blocks[b->shift_or_size];
	free_blocks[b->shift_or_size] = b;
	pthread_mutex_unlock(&lock);
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	p = malloc(bytes);
	if (p != NULL)
		memset(p, 0, bytes);
	return p;
}

static size_t room(void *p)
{
	struct block *b = (struct block *)((char *)p - HEADER);

	return (b->shift_or_size > MAX_SHIFT
			       ? b->shift_or_size
			       : (size_t)1 << b->shift_or_size) -
		HEADER;
}

EXPORT void *realloc(void *p, size_t n)
{
	void *q;

	if (p != NULL && n <= room(p))
		return p;
	q = malloc(n);
	if (p != NULL && q != NULL) {
		memcpy(q, p, room(p) < n ? room(p) : n);
		free(p);
	}
	return q;
}

EXPORT char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(n);

	if (copy != NULL)
		memcpy(copy, s, n);
	return copy;
}
