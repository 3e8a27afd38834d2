/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects of one size from the kernel's pages, re-used but never given back:
 * no malloc (we may be inside the program's), and a stale pointer still
 * points to an object of its kind.
 */
#ifndef NFSAPPEND_CORE_SLAB_H
#define NFSAPPEND_CORE_SLAB_H

#include <pthread.h>
#include <stddef.h>

struct nfsappend_slab {
	size_t size; /* of an object, at least a pointer */
	pthread_mutex_t lock;
	void *free; /* chained through the first word */
};

#define NFSAPPEND_SLAB(type)                                                   \
	{                                                                      \
		.size = sizeof(type), .lock = PTHREAD_MUTEX_INITIALIZER        \
	}

/* Zeroed apart from a re-used object's own bytes beyond the first word;
 * NULL without memory. */
void *nfsappend_slab_take(struct nfsappend_slab *);
void nfsappend_slab_give(struct nfsappend_slab *, void *);
/* In a new child: whatever another thread was doing with it is lost. */
void nfsappend_slab_after_fork(struct nfsappend_slab *);

#endif
