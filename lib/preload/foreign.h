/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of another C library. Their loader heeds LD_PRELOAD too, cannot
 * resolve glibc's names in this library, and ends the program (musl: status
 * 127). They are run as if we were not there.
 */
#ifndef NFSAPPEND_PRELOAD_FOREIGN_H
#define NFSAPPEND_PRELOAD_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* Will exec of path run one? "#!" is followed. search: a name without a slash
 * is looked for in $PATH, as execvp() does. */
bool nfsappend_foreign(int dirfd, const char *path, bool search);

/* The environment without this library in LD_PRELOAD. room: as many bytes as
 * nfsappend_foreign_room() says, 0 if there is nothing to take out. No malloc:
 * a vfork child calls it. */
size_t nfsappend_foreign_room(char *const envp[]);
char *const *nfsappend_foreign_environment(char *const envp[], void *room);

#endif
