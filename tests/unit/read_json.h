/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader of JSON, RFC 8259: strict, so that no line passes which a parser
 * of somebody else would refuse; of numbers, those that we write. */
#ifndef NFSAPPEND_READ_JSON_H
#define NFSAPPEND_READ_JSON_H

/* The end of the value at s, or NULL. */
const char *read_json(const char *s);

#endif
