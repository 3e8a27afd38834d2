/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text from outside, such as a path, as others may read it. */
#ifndef NFSAPPEND_CORE_JSON_H
#define NFSAPPEND_CORE_JSON_H

#include <stddef.h>

/* Room for the longest string of n bytes, with its quotes and a NUL. */
#define NFSAPPEND_JSON_ROOM(n) (6 * (n) + 3)

/* s as a JSON string (RFC 8259 section 7) with its quotes; what does not fit
 * is left out. What is not UTF-8 becomes U+FFFD. Its length, without a NUL
 * that is there all the same; room is at least 3. */
size_t nfsappend_json_quote(char *out, size_t room, const char *s);

/* The same for a terminal: a copy with '?' for what could be a control
 * character, or is not UTF-8; cut to room - 1 bytes. Returns out. */
char *nfsappend_plain_text(char *out, size_t room, const char *s);

#endif
