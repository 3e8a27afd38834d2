/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RLIMIT_FSIZE, which write() and ftruncate() obey. */
#ifndef NFSAPPEND_CORE_SIZELIMIT_H
#define NFSAPPEND_CORE_SIZELIMIT_H

#include <stdint.h>

/* In bytes; INT64_MAX: none. That there is none is remembered for 100 ms, as
 * long as another process that sets one may go unseen. */
uint64_t nfsappend_size_limit(void);
/* This process may have set one. */
void nfsappend_size_limit_changed(void);
/* As generic_write_checks(): SIGXFSZ, delivered when the guard ends. */
void nfsappend_too_large(void);

#endif
