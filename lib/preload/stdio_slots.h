/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glibc's stdio never goes through the PLT: it calls through the tables
 * _IO_file_jumps and _IO_wfile_jumps. Their read, write, seek, close, stat
 * and setbuf slots are replaced at load.
 */
#ifndef NFSAPPEND_PRELOAD_STDIO_SLOTS_H
#define NFSAPPEND_PRELOAD_STDIO_SLOTS_H

#include <stdbool.h>

/* In the constructor: calls nothing of libc. */
void nfsappend_stdio_patch(void);
/* Did every slot hold what it should? */
bool nfsappend_stdio_patched(void);

/* From our destructor on: the statistics line goes out with the last flush,
 * which comes after it. */
void nfsappend_stdio_exiting(void);

#endif
