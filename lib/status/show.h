/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was found, for people and for programs. */
#ifndef NFSAPPEND_STATUS_SHOW_H
#define NFSAPPEND_STATUS_SHOW_H

#include <stdio.h>

#include "status/find.h"

/* us as people say it, in at most 7 characters. Returns out. */
char *nfsappend_show_time(char out[16], uint64_t us);
/* A table with a line or two a file, then the notes. */
void nfsappend_show_table(FILE *, const struct nfsappend_found *);
/* One line: a JSON object. */
void nfsappend_show_json(FILE *, const struct nfsappend_found *);

#endif
