/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a trial, and records for it: what trial.c and records.c share. */
#ifndef NFSAPPEND_DOCTOR_TRIAL_H
#define NFSAPPEND_DOCTOR_TRIAL_H

#include "doctor/nfs.h"

#define RECORDS 6
#define RECORD 64
#define CLEAN_S 2 /* for what has to be undone */

/* A host of NFSv4.0: a client with the file open. */
struct doctor_host {
	struct nfsappend_client client;
	struct nfsappend_slot slot;
};

struct doctor_trial {
	struct doctor_place *p;
	char name[64];
	char path[PATH_MAX + 80]; /* on the mount */
	bool made;
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	struct doctor_host ours, other;
	bool locks; /* of the server work */
	char sent[2 * RECORDS * RECORD];
	uint32_t len; /* of what was sent */
	int64_t took[RECORDS];
};

/* NFSv4.0: opens the file as that host; create: makes it, too. 0, -errno, an
 * outcome; so do the others. */
int doctor_open_as(struct doctor_trial *, struct doctor_host *, bool create);
/* Under the lock; more: which is kept. */
int doctor_append_locked(
	struct doctor_trial *, struct doctor_host *, bool more);
/* The lock, if that host has it. cleaning: until then, whatever signals say;
 * 0: until the deadline. */
void doctor_release(
	struct doctor_trial *, struct doctor_host *, int64_t cleaning);
int doctor_append_unlocked(struct doctor_trial *);

#endif
