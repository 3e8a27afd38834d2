/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>

#include "core/heldlock.h"
#include "core/readers.h"
#include "core/served.h"

#define MS INT64_C(1000000)
#define RECENT (1000 * MS)
/* How often readers are told: once in so many ns in the long run, and OWED
 * times more for a burst. With a local lock it costs no RPC but, on a file
 * that is opened for each record, an ACCESS; else LOCK and LOCKU. */
#define LOCAL_EVERY (2 * MS)
#define EVERY (1000 * MS)
#define LOCAL_OWED 100
#define OWED 4
#define FOLIO (2 << 20) /* no page of the cache is larger */

void nfsappend_readers_opened(struct nfsappend_file *f, int64_t began)
{
	struct nfsappend_segment *s = f->segment.shared;
	int64_t before = atomic_exchange(&s->opened, began);

	atomic_store(&s->reopened,
		before != 0 && began - before < RECENT && began >= before);
}

/* Under the leader lock. */
static bool due(
	struct nfsappend_segment *s, int64_t now, int64_t every, int owed)
{
	int64_t at = s->told;

	/* Another time namespace's clock may be far ahead. */
	if (at < now || at > now + EVERY * (OWED + 1))
		at = now;
	if (at > now + every * owed)
		return false;
	s->told = at + every;
	return true;
}

/* Of a file that is opened for each record the next open() tells; what tells
 * sooner must not cost more than the records. */
static bool must_tell(struct nfsappend_file *f, int64_t now, bool recent)
{
	struct nfsappend_segment *s = f->segment.shared;

	if (atomic_load(&s->held_writable))
		return true;
	if (recent && atomic_load(&s->reopened))
		return f->local_lock && due(s, now, EVERY, OWED);
	return f->local_lock ? due(s, now, LOCAL_EVERY, LOCAL_OWED)
			     : due(s, now, EVERY, OWED);
}

/*
 * A lock of an open file description, taken and given back, makes the kernel's
 * client drop what it has cached of the file, and leave the size alone until a
 * reader asks for it.
 */
static void drop_cache(int fd)
{
	long fl = sys_fcntl(fd, F_GETFL, 0);

	if (fl < 0 || nfsappend_lock_held(fd))
		return;
	if (nfsappend_kernel_lock_byte(
		    fd, (fl & O_ACCMODE) == O_RDONLY ? F_RDLCK : F_WRLCK) == 0)
		nfsappend_kernel_lock_byte(fd, F_UNLCK);
}

/*
 * A GETATTR of an open() or close() makes the file longer for all of this
 * host at once. Whoever is in a read() whose READ was answered before our
 * WRITE would then find the new size, and NULs for what the READ did not
 * bring; the same in a page that was cached before. So, before anybody sends
 * such a GETATTR: fchown() that changes nothing sends nothing either, but
 * waits for the lock that read() holds (i_rwsem, as a kernel write does), and
 * then what was cached at the old end is dropped. What is read from now on
 * has the record.
 */
static void let_reads_end(struct nfsappend_segment *s, int fd)
{
	static _Atomic bool refused; /* by a filter or policy, so for good */
	uint64_t before =
		s->landed < s->landed_end ? s->landed_end - s->landed : 0;
	long r;

	if (atomic_load(&refused))
		return;
	r = nfsappend_sys(SYS_fchown, fd, -1, -1, 0, 0, 0);
	if (r == -EBADF || r == -EINTR) /* closed meanwhile; or we are killed */
		return;
	if (r != 0) {
		atomic_store(&refused, true);
		return;
	}
	nfsappend_sys(SYS_fadvise64, fd, (long)(before / FOLIO * FOLIO), 0,
		POSIX_FADV_DONTNEED, 0, 0);
}

void nfsappend_readers_tell(struct nfsappend_op *op)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_segment *s = op->seg;
	int64_t now = nfsappend_now(), opened = atomic_load(&s->opened);
	bool recent = opened != 0 && now - opened < RECENT && now >= opened;
	bool drop = must_tell(f, now, recent);
	int fd;

	if (!drop && !recent)
		return;
	fd = nfsappend_kernel_fd(f);
	if (fd < 0)
		return;
	if (drop)
		drop_cache(fd);
	if (recent)
		let_reads_end(s, fd);
}
