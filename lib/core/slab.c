/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "core/process.h"
#include "core/slab.h"

#define SLAB_BYTES 65536

void *nfsappend_slab_take(struct nfsappend_slab *slab)
{
	void **object;

	pthread_mutex_lock(&slab->lock);
	if (slab->free == NULL) {
		size_t n = slab->size > SLAB_BYTES ? 1
						   : SLAB_BYTES / slab->size;
		char *pages = nfsappend_pages(n * slab->size);

		for (size_t i = 0; pages != NULL && i < n; i++) {
			object = (void **)(pages + i * slab->size);
			*object = slab->free;
			slab->free = object;
		}
	}
	object = slab->free;
	if (object != NULL) {
		slab->free = *object;
		*object = NULL;
	}
	pthread_mutex_unlock(&slab->lock);
	return object;
}

void nfsappend_slab_give(struct nfsappend_slab *slab, void *p)
{
	void **object = p;

	pthread_mutex_lock(&slab->lock);
	*object = slab->free;
	slab->free = object;
	pthread_mutex_unlock(&slab->lock);
}

void nfsappend_slab_after_fork(struct nfsappend_slab *slab)
{
	pthread_mutex_init(&slab->lock, NULL);
	slab->free = NULL;
}
