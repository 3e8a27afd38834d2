/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records at the end of the file of a trial, as appends of nfsappend write
 * them. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "doctor/trial.h"

int doctor_open_as(struct doctor_trial *t, struct doctor_host *h, bool create)
{
	struct nfsappend_open_args args = {.dir = &t->p->dir,
		.name = t->name,
		.expected = create ? NULL : &t->fh,
		.create = create,
		.how = NFSAPPEND_UNCHECKED,
		.mode = 0600};
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;
	struct nfsappend_wait w;
	int r;

	doctor_wait(&w, t->p->deadline, false);
	if (h->client.generation == 0)
		DOCTOR_CALL(w, r, client, t->p->session, &w, &h->client);
	else
		r = 0;
	if (r == 0)
		DOCTOR_CALL(w, r, open, t->p->session, &w, &h->slot, &h->client,
			&args, &fh, &attr);
	if (r == 0 && create) {
		t->fh = fh;
		t->attr = attr;
	}
	return r;
}

static char *next_record(struct doctor_trial *t)
{
	char *record = t->sent + t->len;

	memset(record, '.', RECORD);
	snprintf(record, RECORD, "nfsappend doctor %u", t->len / RECORD);
	record[strlen(record)] = ' ';
	record[RECORD - 1] = '\n';
	return record;
}

static int check(const struct nfsappend_written *written)
{
	if (written->count != RECORD)
		return -EIO;
	return written->committed == NFSAPPEND_FILE_SYNC ? 0 : -EPROTO;
}

int doctor_append_unlocked(struct doctor_trial *t)
{
	struct nfsappend_written written;
	struct nfsappend_wait w;
	char *record = next_record(t);
	int r;

	doctor_wait(&w, t->p->deadline, false);
	DOCTOR_CALL(w, r, write, t->p->session, &w, &t->fh, t->len, record,
		RECORD, &written);
	if (r == 0)
		r = check(&written);
	if (r == 0)
		t->len += RECORD;
	return r;
}

int doctor_append_locked(
	struct doctor_trial *t, struct doctor_host *h, bool more)
{
	struct nfsappend_record rec = {.data = next_record(t),
		.len = RECORD,
		.offset = t->len,
		.more = more};
	struct nfsappend_wait w;
	int r;

	doctor_wait(&w, t->p->deadline, false);
	DOCTOR_CALL(w, r, append, t->p->session, &w, &h->slot, &t->fh, &rec);
	if (r == NFSAPPEND_NOT_END) /* nobody else writes to it */
		r = -EPROTO;
	if (r == 0)
		r = check(&rec.written);
	if (r == 0)
		t->len += RECORD;
	return r;
}

void doctor_release(
	struct doctor_trial *t, struct doctor_host *h, int64_t cleaning)
{
	struct nfsappend_record rec = {.data = t->sent};
	struct nfsappend_wait w;
	int r;

	doctor_wait(
		&w, cleaning != 0 ? cleaning : t->p->deadline, cleaning != 0);
	if (nfsappend_slot_get(&h->slot).held)
		DOCTOR_CALL(w, r, append, t->p->session, &w, &h->slot, &t->fh,
			&rec);
	(void)r;
}
