/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Core, started as the preload layer starts it, on the fake backend, with one
 * append file "log" on the fake server.
 */
#ifndef NFSAPPEND_RIG_H
#define NFSAPPEND_RIG_H

#include "core/file.h"
#include "core/table.h"
#include "fake_backend.h"
#include "unit.h"

#define RIG_MAP "/nfsappend-unit/logs" /* a DIR that no host has */

/* Core alone: log to a file in unit_dir, at level info; no map. */
void rig_core(void);
/* Reads the configuration; entries are NAME=VALUE, the last one NULL. */
void rig_config(const char *first, ...) __attribute__((sentinel));

/* Core, an empty file on the server, and the object for it. */
extern int rig_node;
extern struct nfsappend_file *rig_file;
/* Set by a test in which no segment can be shared. */
extern bool rig_private;
void rig_start(enum nfsappend_sharing);
/* The same with a file that can hold so much. */
void rig_start_large(enum nfsappend_sharing, size_t room);
extern const enum nfsappend_sharing rig_sharings[2]; /* single, guarded */
const char *rig_sharing_name(enum nfsappend_sharing);
/* The second half of rig_start(), after rig_core() and fake_start(). */
void rig_file_now(enum nfsappend_sharing);
/* Takes everything back: an empty file, a segment that knows nothing. For
 * the next of a table of cases. */
void rig_again(enum nfsappend_sharing);

/* One append, as the write() of a program: its result. */
ssize_t rig_append(const char *record);
ssize_t rig_append_bytes(const void *, size_t);
/* An append in a child process, which may be killed by a rule. Its status. */
int rig_append_in_child(const char *record);
ssize_t rig_pwrite(const char *data, uint64_t offset);

/* The file holds exactly that, and all of it is on stable storage. */
#define CHECK_FILE(want) rig_check_file(__FILE__, __LINE__, want)
void rig_check_file(const char *file, int line, const char *want);
uint32_t rig_pending(void);

/* A descriptor of that file with its entry in the table. */
int rig_descriptor(uint32_t accmode, int status_flags);
struct nfsappend_open *rig_open(int fd);

/* What was logged since the last call; good until the next one. */
const char *rig_log(void);

#endif
