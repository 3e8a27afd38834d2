/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For hooks that the address sanitizer's runtime calls while it starts, when
 * no instrumented code can run yet. */
#ifndef NFSAPPEND_PRELOAD_SANITIZER_H
#define NFSAPPEND_PRELOAD_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NFSAPPEND_NOT_SANITIZED                                                \
	__attribute__((no_sanitize("address", "undefined")))

/* Of the runtime, where there is one: 0 until it can be asked for anything. */
extern uintptr_t __asan_shadow_memory_dynamic_address __attribute__((weak));

NFSAPPEND_NOT_SANITIZED static inline bool nfsappend_sanitizer_starts(void)
{
	return &__asan_shadow_memory_dynamic_address != NULL &&
	       __asan_shadow_memory_dynamic_address == 0;
}

#endif
