/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NFSAPPEND_PRELOAD_WALK_H
#define NFSAPPEND_PRELOAD_WALK_H

#include <stdbool.h>

/* Does a walk of the tree at path meet a map: is it below one, or is the DIR
 * of one, hiding what this host has there, below it? */
bool nfsappend_walk_meets_map(const char *path);

#endif
