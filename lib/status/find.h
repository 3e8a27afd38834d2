/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segments of this machine that the caller may see, and why there are
 * none. */
#ifndef NFSAPPEND_STATUS_FIND_H
#define NFSAPPEND_STATUS_FIND_H

#include <stdbool.h>
#include <sys/types.h>

#include "status/decode.h"
#include "status/writers.h"

struct nfsappend_row {
	struct nfsappend_shown shown;
	uid_t uid;	   /* whose */
	char segment[320]; /* its file */
	struct nfsappend_writer writers[NFSAPPEND_USERS];
	unsigned writer_count;
};

struct nfsappend_found {
	struct nfsappend_row **rows; /* by path */
	size_t count, room;
	char **notes; /* what the reader should know; sentences */
	size_t note_count;
	unsigned strange; /* of other versions, or damaged; in one folder */
	bool too_many;
	bool failed; /* something could not be read */
};

/* Opens no segment for writing, takes no lock, maps nothing (whoever owns a
 * segment may cut it short any time): nobody waits for us. runtime: the value
 * of NFSAPPEND_RUNTIME, or NULL. */
void nfsappend_status_find(const char *runtime, struct nfsappend_found *);
void nfsappend_status_forget(struct nfsappend_found *);

#endif
