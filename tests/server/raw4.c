/* The raw client's NFSv4.0 commands: a locked append in one compound. */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "raw4.h"

#define MUTEX 0x7ffffffffffffffe

static stateid4 lock_id;
static bool have_lock;
static uint32_t open_seqid, lock_seqid;
static char owner[64];
static uint64_t verify_size;
static size_t count;
static bool first;
static uint32_t size_change[] = {1 << FATTR4_CHANGE | 1 << FATTR4_SIZE};
static uint32_t size_only[] = {1 << FATTR4_SIZE};

static void client_command(char ***at)
{
	SETCLIENTID4args *a;
	SETCLIENTID_CONFIRM4args *b;
	char *id = *(*at)++;
	uint64_t verifier = raw_number(*(*at)++);

	n_ops = 0;
	a = &op(OP_SETCLIENTID)->nfs_argop4_u.opsetclientid;
	memcpy(a->client.verifier, &verifier, 8);
	a->client.id.id_len = strlen(id);
	a->client.id.id_val = id;
	a->callback.cb_location.r_netid = "tcp";
	a->callback.cb_location.r_addr = "0.0.0.0.0.0";
	if (run("setclientid", true))
		return;
	n_ops = 0;
	b = &op(OP_SETCLIENTID_CONFIRM)->nfs_argop4_u.opsetclientid_confirm;
	b->clientid = clientid;
	memcpy(b->setclientid_confirm, &confirm, 8);
	run("client", false);
}

static void confirm_open(void)
{
	OPEN_CONFIRM4args *a;

	n_ops = 0;
	putfh();
	a = &op(OP_OPEN_CONFIRM)->nfs_argop4_u.opopen_confirm;
	a->open_stateid = open_id;
	a->seqid = open_seqid++;
	run("open_confirm", true);
}

static void open_command(char ***at)
{
	char *dir = *(*at)++, *name = *(*at)++;
	static uint32_t mode_mask[] = {0, 1 << (FATTR4_MODE - 32)}, mode;
	LOOKUP4args *l;
	OPEN4args *a;
	fattr4 *f;

	snprintf(owner, sizeof(owner), "owner-%lx", (long)clientid);
	mode = htonl(0640);
	n_ops = 0;
	op(OP_PUTROOTFH);
	l = &op(OP_LOOKUP)->nfs_argop4_u.oplookup;
	l->objname.utf8string_len = strlen(dir);
	l->objname.utf8string_val = dir;
	a = &op(OP_OPEN)->nfs_argop4_u.opopen;
	a->seqid = open_seqid++;
	a->share_access = OPEN4_SHARE_ACCESS_BOTH;
	a->owner.clientid = clientid;
	a->owner.owner.owner_len = strlen(owner);
	a->owner.owner.owner_val = owner;
	a->openhow.opentype = OPEN4_CREATE;
	a->openhow.openflag4_u.how.mode = UNCHECKED4;
	f = &a->openhow.openflag4_u.how.createhow4_u.createattrs;
	f->attrmask.bitmap4_len = 2;
	f->attrmask.bitmap4_val = mode_mask;
	f->attr_vals.attrlist4_len = 4;
	f->attr_vals.attrlist4_val = (char *)&mode;
	a->claim.claim = CLAIM_NULL;
	a->claim.open_claim4_u.file.utf8string_len = strlen(name);
	a->claim.open_claim4_u.file.utf8string_val = name;
	op(OP_GETFH);
	op(OP_GETATTR)->nfs_argop4_u.opgetattr.attr_request =
		(bitmap4){1, size_change};
	if (!run("open", false) && flags & OPEN4_RESULT_CONFIRM)
		confirm_open();
}

static LOCK4args *add_lock(void)
{
	LOCK4args *a = &op(OP_LOCK)->nfs_argop4_u.oplock;

	a->locktype = WRITE_LT;
	a->offset = MUTEX;
	a->length = 1;
	a->locker.new_lock_owner = first = !have_lock;
	if (first) {
		open_to_lock_owner4 *o = &a->locker.locker4_u.open_owner;

		o->open_seqid = open_seqid;
		o->open_stateid = open_id;
		o->lock_seqid = 0;
		o->lock_owner.clientid = clientid;
		o->lock_owner.owner.owner_len = strlen(owner);
		o->lock_owner.owner.owner_val = owner;
	} else {
		a->locker.locker4_u.lock_owner.lock_stateid = lock_id;
		a->locker.locker4_u.lock_owner.lock_seqid = lock_seqid;
	}
	return a;
}

static void add_write(const stateid4 *s, uint64_t offset)
{
	WRITE4args *a = &op(OP_WRITE)->nfs_argop4_u.opwrite;

	a->stateid = *s;
	a->offset = offset;
	a->stable = FILE_SYNC4;
	a->data.data_len = count;
	a->data.data_val = raw_bytes(count);
}

static void add_unlock(const stateid4 *s, uint32_t seqid)
{
	LOCKU4args *a = &op(OP_LOCKU)->nfs_argop4_u.oplocku;

	a->locktype = WRITE_LT;
	a->seqid = seqid;
	a->lock_stateid = *s;
	a->offset = MUTEX;
	a->length = 1;
}

/* {LOCK, GETATTR, VERIFY, WRITE, LOCKU}; the first of an owner keeps its
 * stateid unknown, so it ends before WRITE. */
static void append_command(const char *name, char ***at, bool fixed)
{
	stateid4 held = lock_id;
	fattr4 *f;
	int status;

	count = raw_number(*(*at)++);
	n_ops = 0;
	putfh();
	if (fixed) {
		add_write(&seen_lock, believed);
		add_unlock(&seen_lock, lock_seqid + 1);
	} else {
		add_lock();
		op(OP_GETATTR)->nfs_argop4_u.opgetattr.attr_request =
			(bitmap4){1, size_change};
		f = &op(OP_VERIFY)->nfs_argop4_u.opverify.obj_attributes;
		verify_size = htobe64(believed);
		f->attrmask = (bitmap4){1, size_only};
		f->attr_vals.attrlist4_len = 8;
		f->attr_vals.attrlist4_val = (char *)&verify_size;
		held.seqid++;
		if (first) {
			add_write(&open_id, believed);
		} else {
			add_write(&held, believed);
			add_unlock(&held, lock_seqid + 1);
		}
	}
	status = run(name, false);
	if (status < 0)
		return;
	if (!status)
		believed += count;
	if (first && !fixed) {
		open_seqid++;
		if (status == NFS4ERR_DENIED)
			return;
		have_lock = true;
		lock_id = seen_lock;
		lock_seqid = 0;
		n_ops = 0;
		putfh();
		add_unlock(&lock_id, ++lock_seqid);
		run("unlock", true);
		lock_id = seen_lock;
		lock_seqid++;
	} else if (!status) {
		lock_id = seen_lock;
		lock_seqid += 2;
	} else if (status == NFS4ERR_DENIED || status == NFS4ERR_GRACE) {
		lock_seqid++;
	}
}

static void late_command(const char *name, char ***at, const stateid4 *s)
{
	count = raw_number(*(*at)++);
	n_ops = 0;
	putfh();
	add_write(s, believed);
	run(name, false);
}

/* In grace: the open, by handle, of an owner that the server forgot. */
static void reopen_command(const char *name)
{
	OPEN4args *a;

	n_ops = 0;
	putfh();
	a = &op(OP_OPEN)->nfs_argop4_u.opopen;
	a->seqid = open_seqid++;
	a->share_access = OPEN4_SHARE_ACCESS_BOTH;
	a->owner.clientid = clientid;
	a->owner.owner.owner_len = strlen(owner);
	a->owner.owner.owner_val = owner;
	a->claim.claim = CLAIM_PREVIOUS;
	have_lock = false;
	if (!run(name, false) && flags & OPEN4_RESULT_CONFIRM)
		confirm_open();
}

/* In grace: the lock that was held. */
static void relock_command(const char *name)
{
	n_ops = 0;
	putfh();
	have_lock = false;
	add_lock()->reclaim = 1;
	if (run(name, false) < 0)
		return;
	open_seqid++;
	have_lock = true;
	lock_id = seen_lock;
	lock_seqid = 0;
}

static void locktest_command(const char *name)
{
	LOCKT4args *a;

	n_ops = 0;
	putfh();
	a = &op(OP_LOCKT)->nfs_argop4_u.oplockt;
	a->locktype = WRITE_LT;
	a->offset = 0;
	a->length = UINT64_MAX;
	a->owner.clientid = clientid;
	a->owner.owner.owner_len = strlen(owner);
	a->owner.owner.owner_val = owner;
	run(name, false);
}

bool raw4_command(const char *name, char ***at)
{
	static stateid4 anonymous;

	if (!strcmp(name, "client")) {
		client_command(at);
	} else if (!strcmp(name, "open")) {
		open_command(at);
	} else if (!strcmp(name, "append")) {
		append_command(name, at, false);
	} else if (!strcmp(name, "fixed")) {
		append_command(name, at, true);
	} else if (!strcmp(name, "again")) {
		run(name, false);
	} else if (!strcmp(name, "late")) {
		late_command(name, at, &open_id);
	} else if (!strcmp(name, "latelock")) {
		stateid4 held = lock_id;

		held.seqid--; /* as it was while the lock was held */
		late_command(name, at, &held);
	} else if (!strcmp(name, "anonymous")) {
		late_command(name, at, &anonymous);
	} else if (!strcmp(name, "size")) {
		believed = raw_number(*(*at)++);
	} else if (!strcmp(name, "resync")) {
		lock_id.seqid += 2;
		lock_seqid += 2;
		believed += count;
	} else if (!strcmp(name, "unlock")) {
		n_ops = 0;
		putfh();
		add_unlock(&seen_lock, ++lock_seqid);
		if (!run(name, false)) {
			lock_id = seen_lock;
			lock_seqid++;
		}
	} else if (!strcmp(name, "close")) {
		CLOSE4args *a;

		n_ops = 0;
		putfh();
		a = &op(OP_CLOSE)->nfs_argop4_u.opclose;
		a->seqid = open_seqid++;
		a->open_stateid = open_id;
		run(name, false);
	} else if (!strcmp(name, "reopen")) {
		reopen_command(name);
	} else if (!strcmp(name, "relock")) {
		relock_command(name);
	} else if (!strcmp(name, "locktest")) {
		locktest_command(name);
	} else if (!strcmp(name, "release")) {
		RELEASE_LOCKOWNER4args *a;

		n_ops = 0;
		a = &op(OP_RELEASE_LOCKOWNER)->nfs_argop4_u.oprelease_lockowner;
		a->lock_owner.clientid = clientid;
		a->lock_owner.owner.owner_len = strlen(owner);
		a->lock_owner.owner.owner_val = owner;
		have_lock = run(name, false) != 0;
	} else if (!strcmp(name, "renew")) {
		n_ops = 0;
		op(OP_RENEW)->nfs_argop4_u.oprenew.clientid = clientid;
		run(name, false);
	} else {
		return false;
	}
	return true;
}
