/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one real test: a file of our own in the directory, with a name that
 * nobody else has, a few small records, locked as two hosts would lock it,
 * read back, removed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/handle.h"
#include "doctor/trial.h"

/* What only our way of speaking to the server meets; the rest meets the
 * kernel's client as well. */
static bool ours_alone(const struct doctor_trial *t, int r)
{
	return t->made && (r == -EACCES || r == -EPERM || r == -EPROTO ||
				  r == -EPROTONOSUPPORT || r == -EBADMSG ||
				  r == NFSAPPEND_STATE_LOST);
}

static void explain(struct doctor_trial *t, const char *what, int r)
{
	struct doctor_place *p = t->p;

	if (doctor_interrupted)
		return;
	doctor_found(ours_alone(t, r) ? p->bad : DOCTOR_FAIL, "%s: %s", what,
		doctor_outcome(r));
	switch (r) {
	case -EACCES:
	case -EPERM:
		doctor_cure(
			"let user %u (group %u) write to the directory on "
			"the server; root is nobody there unless the export "
			"has no_root_squash",
			p->cred.uid, p->cred.gid);
		break;
	case -EROFS:
		doctor_cure("export with rw, and see that the server's file "
			    "system is writable");
		break;
	case -ENOSPC:
	case -EDQUOT:
		doctor_cure("make room on the server, or raise the quota");
		break;
	case NFSAPPEND_GRACE:
		doctor_cure("the server has restarted and waits for its old "
			    "clients: in a minute or two all is well; programs "
			    "under nfsappend wait");
		break;
	case NFSAPPEND_TIMED_OUT:
		doctor_cure("look at the server and its disks; -t SECONDS "
			    "waits longer");
		break;
	default:
		doctor_cure("see the log of the server");
	}
}

static void draw_name(struct doctor_trial *t)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof random, 0) != sizeof random)
		random = (uint64_t)nfsappend_now();
	snprintf(t->name, sizeof t->name, ".nfsappend-doctor.%016" PRIx64,
		random);
	snprintf(t->path, sizeof t->path, "%s/%s", t->p->path, t->name);
}

/* By the kernel, on its mount: the handle is the kernel's, as for files of
 * programs. */
static int make_on_mount(struct doctor_trial *t)
{
	struct stat st;
	struct nfsappend_wait w;
	int fd, r;

	snprintf(doctor_shared->temporary, sizeof doctor_shared->temporary,
		"%s", t->path);
	fd = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		0600);
	if (fd < 0) {
		r = -errno;
		doctor_shared->temporary[0] = '\0';
		return r;
	}
	t->made = true;
	r = fstat(fd, &st) != 0 ? -errno
				: nfsappend_handle_of(fd, st.st_ino, &t->fh);
	close(fd);
	doctor_wait(&w, t->p->deadline, false);
	if (r == 0)
		DOCTOR_CALL(w, r, getattr, t->p->session, &w, &t->fh, &t->attr);
	else
		DOCTOR_CALL(w, r, lookup, t->p->session, &w, &t->p->dir,
			t->name, &t->fh, &t->attr);
	if (r == 0 && t->attr.fileid != st.st_ino)
		r = -ESTALE;
	return r;
}

static int make_by_url(struct doctor_trial *t)
{
	struct nfsappend_wait w;
	int r;

	doctor_wait(&w, t->p->deadline, false);
	DOCTOR_CALL(w, r, lookup, t->p->session, &w, &t->p->dir, t->name,
		&t->fh, &t->attr);
	if (r != -ENOENT)
		return r == 0 ? -EEXIST : r;
	t->made = true; /* perhaps: an answer may be lost */
	if (t->p->target.version == 4)
		return doctor_open_as(t, &t->ours, true);
	DOCTOR_CALL(w, r, create, t->p->session, &w, &t->p->dir, t->name,
		NFSAPPEND_UNCHECKED, 0600, 0, &t->fh, &t->attr);
	if (r < 0)
		t->made = false;
	return r;
}

/* As two hosts: while one holds the lock the other must not get it. 0, or why
 * no record can be appended. */
static int try_locks(struct doctor_trial *t)
{
	int r, other;

	doctor_step("locking a file on the server");
	r = doctor_open_as(t, &t->ours, false);
	if (r == 0)
		r = doctor_append_locked(t, &t->ours, true);
	if (r != 0)
		return r;
	r = doctor_open_as(t, &t->other, false);
	if (r != 0)
		return r;
	other = doctor_append_locked(t, &t->other, false);
	doctor_release(t, &t->ours, 0);
	if (other == NFSAPPEND_BUSY) {
		t->locks = true;
		doctor_found(DOCTOR_OK, "locks work: while one host appends "
					"another one is kept waiting");
		return doctor_append_locked(t, &t->other, false);
	}
	if (other != 0)
		return other;
	doctor_found(t->p->bad, "the server grants one lock to two hosts at "
				"once: appends of several hosts are not kept "
				"apart");
	doctor_cure("look at the server; until then let one host append to a "
		    "file (--sharing single)");
	return 0;
}

static bool no_locks(int r)
{
	return r == -ENOLCK || r == -EOPNOTSUPP || r == -ENOTSUP ||
	       r == -EINVAL || r == -ENOSYS;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int append_records(struct doctor_trial *t)
{
	int64_t median;
	int r = 0;

	doctor_step("appending to a file on the server");
	for (unsigned i = 0; i < RECORDS && r == 0 && !doctor_interrupted;
		i++) {
		int64_t start = nfsappend_now();

		r = t->locks ? doctor_append_locked(t, &t->ours, false)
			     : doctor_append_unlocked(t);
		t->took[i] = nfsappend_now() - start;
	}
	if (r != 0 || doctor_interrupted)
		return r;
	qsort(t->took, RECORDS, sizeof *t->took, compare_times);
	median = t->took[RECORDS / 2] > 0 ? t->took[RECORDS / 2] : 1;
	doctor_found(DOCTOR_OK,
		"a stable append takes %.2f ms (%.2f to %.2f): one writer can "
		"make about %" PRId64 " a second; several on a host share "
		"their WRITEs",
		(double)median / 1e6, (double)t->took[0] / 1e6,
		(double)t->took[RECORDS - 1] / 1e6,
		DOCTOR_SECOND / median > 0 ? DOCTOR_SECOND / median : 1);
	if (median > DOCTOR_SECOND) {
		doctor_found(DOCTOR_WARN, "that is very slow");
		doctor_cure("look at the server's disks and at the network");
	}
	return 0;
}

static int read_back(struct doctor_trial *t)
{
	char back[sizeof t->sent];
	uint32_t len = sizeof back;
	struct nfsappend_wait w;
	bool eof;
	int fd, r;

	doctor_step("reading the file back");
	doctor_wait(&w, t->p->deadline, false);
	DOCTOR_CALL(w, r, read, t->p->session, &w, &t->fh, 0, back, &len, &eof);
	if (r != 0)
		return r;
	if (len != t->len || memcmp(back, t->sent, len) != 0)
		return -EBADMSG;
	doctor_found(DOCTOR_OK,
		"%u bytes were appended to a file of this test, and read back",
		len);
	if (!t->p->mounted)
		return 0;
	fd = open(t->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	memset(back, 0, sizeof back);
	r = (int)pread(fd, back, sizeof back, 0);
	close(fd);
	if (r != (int)t->len || memcmp(back, t->sent, t->len) != 0) {
		doctor_found(DOCTOR_WARN, "a program that opens the file on "
					  "the mount does not see them");
		doctor_cure("remove the mount option nocto, or wait for "
			    "acregmax seconds");
	} else {
		doctor_found(DOCTOR_OK, "a program that opens the file on the "
					"mount sees them");
	}
	return 0;
}

static void clean(struct doctor_trial *t)
{
	struct doctor_host *hosts[] = {&t->ours, &t->other};
	int64_t until = nfsappend_now() + CLEAN_S * DOCTOR_SECOND;
	struct nfsappend_wait w;
	int r = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct nfsappend_state st = nfsappend_slot_get(&hosts[i]->slot);

		if (!st.opened || st.lost)
			continue;
		doctor_release(t, hosts[i], until);
		doctor_wait(&w, until, true);
		DOCTOR_CALL(w, r, close, t->p->session, &w, &hosts[i]->slot,
			&t->fh);
	}
	if (!t->made)
		return;
	doctor_step("removing the file of this test");
	if (t->p->mounted) {
		r = unlink(t->path) != 0 ? -errno : 0;
		doctor_shared->temporary[0] = '\0';
	} else {
		doctor_wait(
			&w, nfsappend_now() + CLEAN_S * DOCTOR_SECOND, true);
		DOCTOR_CALL(
			w, r, remove, t->p->session, &w, &t->p->dir, t->name);
	}
	if (r != 0 && r != -ENOENT) {
		doctor_found(DOCTOR_WARN,
			"the file of this test could not be removed (%s): %s "
			"in %s",
			doctor_outcome(r), t->name, t->p->name);
		doctor_cure("remove it");
	}
}

static void tell_owner(struct doctor_trial *t)
{
	const struct nfsappend_cred *cred = &t->p->cred;

	if (t->attr.uid != cred->uid)
		doctor_found(DOCTOR_NOTE,
			"files of user %u belong to user %u on the server (%s)",
			cred->uid, t->attr.uid,
			cred->uid == 0 ? "root_squash"
				       : "all_squash, or another idmap");
}

/* An OPEN was granted, so it is not in its grace period. */
static void tell_lease(struct doctor_trial *t)
{
	struct nfsappend_wait w;
	uint32_t seconds = 0;
	int r;

	doctor_wait(&w, t->p->deadline, false);
	DOCTOR_CALL(w, r, lease, t->p->session, &w, &t->p->dir, &seconds);
	if (r == 0)
		doctor_found(DOCTOR_OK,
			"the server is in no grace period; its lease is %u s: "
			"so long it keeps locks of a host that has gone, and "
			"so long appends may wait after its restart",
			seconds);
}

bool doctor_trial(struct doctor_place *p)
{
	static struct doctor_trial t; /* of this process alone */
	bool v4 = p->target.version == 4;
	int r;

	memset(&t, 0, sizeof t);
	t.p = p;
	draw_name(&t);
	doctor_step("making the file %s in %s", t.name, p->name);
	r = p->mounted ? make_on_mount(&t) : make_by_url(&t);
	if (r != 0)
		explain(&t, "no file can be made there", r);
	else
		tell_owner(&t);
	if (r == 0 && p->mounted)
		doctor_mount_locks(&p->mount, t.path);
	if (r == 0 && v4 && !doctor_interrupted) {
		r = try_locks(&t);
		if (no_locks(r)) {
			doctor_found(DOCTOR_WARN,
				"the server has no locks (%s): sharing mode "
				"guarded is used, and appends of several hosts "
				"are not kept apart",
				doctor_outcome(r));
			doctor_cure("let the server offer locks, or let one "
				    "host append to a file");
			r = 0;
		} else if (r != 0) {
			explain(&t, "it cannot be opened and locked", r);
		}
		if (r == 0)
			tell_lease(&t);
	}
	if (r == 0 && !doctor_interrupted) {
		r = append_records(&t);
		if (r == 0)
			r = read_back(&t);
		if (r != 0)
			explain(&t, "the test of an append failed", r);
	}
	clean(&t);
	return r == 0;
}
