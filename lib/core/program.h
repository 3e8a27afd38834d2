/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Will a program that is about to be run have this library in it? */
#ifndef NFSAPPEND_CORE_PROGRAM_H
#define NFSAPPEND_CORE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Why it will not ("is statically linked"), or NULL. path relative to dirfd;
 * an empty one: dirfd itself. What cannot be looked at is believed to. */
const char *nfsappend_program_without_us(int dirfd, const char *path,
	char *const envp[]);

/* The file that execvp() would run: the first in $PATH of envp that may be
 * executed. false: none. */
bool nfsappend_program_find(const char *file, char *const envp[], char *out,
	size_t room);

#endif
