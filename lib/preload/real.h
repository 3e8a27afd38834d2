/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions behind our hooks. Before the start they are glibc's own
 * aliases where those exist (a hook may run before any constructor); then
 * whatever comes next in the search order, so that other preloads get their
 * turn.
 */
#ifndef NFSAPPEND_PRELOAD_REAL_H
#define NFSAPPEND_PRELOAD_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum nfsappend_real_index {
#define REAL(name, alias) NFSAPPEND_REAL_INDEX_##name,
#include "preload/real.def"
#undef REAL
	NFSAPPEND_REALS
};

extern void *nfsappend_reals[NFSAPPEND_REALS]
	__attribute__((visibility("hidden")));

/* In the constructor: calls nothing. */
void nfsappend_reals_start(void);
/* NULL when this glibc has no such function. */
void *nfsappend_real_find(enum nfsappend_real_index);
/* At the start: those that have an alias, which another preload would miss; all
 * where only dlsym() can tell, which is nothing for a handler. */
void nfsappend_reals_find(void);

static inline void *nfsappend_real(enum nfsappend_real_index i)
{
	void *f = nfsappend_reals[i];

	return f != NULL ? f : nfsappend_real_find(i);
}

/* The same for a name that has an alias: it is there from the start. */
#define NFSAPPEND_NEXT(name)                                                   \
	((__typeof__(&name))nfsappend_reals[NFSAPPEND_REAL_INDEX_##name])

/* NFSAPPEND_REAL(write)(fd, buf, n); type is the hook's own. */
#define NFSAPPEND_REAL(name)                                                   \
	((__typeof__(&name))nfsappend_real(NFSAPPEND_REAL_INDEX_##name))

#endif
