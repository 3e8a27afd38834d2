/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdio.h>
#include <sys/stat.h>

#include "core/io.h"
#include "core/stats.h"
#include "preload/hook.h"
#include "preload/stat.h"
#include "preload/stdio_slots.h"

/* Members of struct _IO_jump_t (libio/libioP.h), the same in every release
 * from 2.17 to 2.42: two dummies, then finish = 2, ... */
enum {
	SLOT_SETBUF = 11,
	SLOT_READ = 14,
	SLOT_WRITE = 15,
	SLOT_SEEK = 16,
	SLOT_CLOSE = 17,
	SLOT_STAT = 18,
	SLOTS = 21,
};

#ifdef __aarch64__
#define PAGE_IS_64K 1
#else
#define PAGE_IS_64K 0
#endif

#define IO_ERR_SEEN 0x20 /* _IO_ERR_SEEN, libio/libio.h */

/* Weak: a libc without them is left alone. Data references, bound before any
 * constructor. */
extern void *_IO_file_jumps[] __attribute__((weak));
extern void *_IO_wfile_jumps[] __attribute__((weak));
extern ssize_t _IO_file_read(FILE *, void *, ssize_t) __attribute__((weak));
extern ssize_t _IO_file_write(FILE *, const void *, ssize_t)
	__attribute__((weak));
extern off64_t _IO_file_seek(FILE *, off64_t, int) __attribute__((weak));
extern int _IO_file_close(FILE *) __attribute__((weak));
extern int _IO_file_stat(FILE *, void *) __attribute__((weak));
extern FILE *_IO_file_setbuf(FILE *, char *, ssize_t) __attribute__((weak));
extern FILE *_IO_list_all __attribute__((weak));

static bool patched;
static bool exiting;

static ssize_t slot_read(FILE *f, void *buf, ssize_t n)
{
	struct nfsappend_use use;
	struct iovec iov = {buf, (size_t)n};
	ssize_t r;

	if (!nfsappend_use_begin_cancellable(&use, f->_fileno))
		return _IO_file_read(f, buf, n);
	r = use.error != 0 ? use.error
			   : nfsappend_io_read(use.open, use.fd, &iov, 1,
				     NFSAPPEND_AT_POSITION, 0);
	nfsappend_use_end(&use);
	return nfsappend_result(r);
}

/* Under the FILE's lock: nothing here may use stdio. The rules for _flags
 * and _offset are those of _IO_new_file_write (libio/fileops.c). */
static ssize_t slot_write(FILE *f, const void *buf, ssize_t n)
{
	const char *at = buf;
	ssize_t left = n;

	if (!nfsappend_may_be_ours(f->_fileno)) {
		int flags = f->_flags;
		ssize_t r = _IO_file_write(f, buf, n);

		if (r != 0 || n == 0 || !nfsappend_escaped(f->_fileno))
			return r;
		f->_flags = flags;
	}
	while (left > 0) {
		struct nfsappend_use use;
		ssize_t r;

		if (!nfsappend_use_begin_cancellable(&use, f->_fileno)) {
			if (left == n)
				return _IO_file_write(f, buf, n);
			r = NFSAPPEND_REAL(write)(f->_fileno, at,
				(size_t)left);
		} else {
			r = use.error != 0 ? use.error
					   : nfsappend_io_write_one(use.open,
						     use.fd, at, (size_t)left,
						     NFSAPPEND_AT_POSITION);
			nfsappend_use_end(&use);
			r = nfsappend_result(r);
		}
		if (r < 0) {
			f->_flags |= IO_ERR_SEEN;
			break;
		}
		left -= r;
		at += r;
	}
	if (f->_offset >= 0)
		f->_offset += n - left;
	return n - left;
}

static off64_t slot_seek(FILE *f, off64_t offset, int whence)
{
	struct nfsappend_use use;
	off64_t r;

	if (!nfsappend_use_begin(&use, f->_fileno))
		return _IO_file_seek(f, offset, whence);
	r = use.error != 0 ? use.error
			   : nfsappend_io_seek(use.open, use.fd, offset,
				     whence);
	nfsappend_use_end(&use);
	return nfsappend_result(r);
}

static int slot_close(FILE *f)
{
	int fd = f->_fileno;
	int r = _IO_file_close(f);

	if (nfsappend_may_be_ours(fd))
		nfsappend_table_forget(fd);
	return r;
}

static int slot_stat(FILE *f, void *st)
{
	int r;

	return nfsappend_stat_descriptor(f->_fileno, st, &r)
		? r
		: _IO_file_stat(f, st);
}

/* Bytes that exit() will flush to a managed descriptor? */
static bool pending_output(void)
{
	if (&_IO_list_all == NULL)
		return false;
	for (FILE *f = _IO_list_all; f != NULL; f = f->_chain) {
		if (f->_fileno < 0 || !nfsappend_may_be_ours(f->_fileno))
			continue;
		/* A wide stream's buffer is not public: assume bytes. */
		if (f->_mode > 0 || f->_IO_write_ptr > f->_IO_write_base)
			return true;
	}
	return false;
}

/* exit() flushes all streams and then makes each unbuffered, through here
 * (_IO_cleanup, libio/genops.c): the one place after the last write. */
static FILE *slot_setbuf(FILE *f, char *buf, ssize_t n)
{
	if (exiting)
		nfsappend_stats_write();
	return _IO_file_setbuf(f, buf, n);
}

void nfsappend_stdio_exiting(void)
{
	if (patched && pending_output())
		exiting = true;
	else
		nfsappend_stats_write();
}

static bool as_expected(void **table)
{
	return table[SLOT_READ] == (void *)_IO_file_read &&
		table[SLOT_WRITE] == (void *)_IO_file_write &&
		table[SLOT_SEEK] == (void *)_IO_file_seek &&
		table[SLOT_CLOSE] == (void *)_IO_file_close &&
		table[SLOT_STAT] == (void *)_IO_file_stat;
}

static void fill(void **table)
{
	table[SLOT_READ] = (void *)slot_read;
	table[SLOT_WRITE] = (void *)slot_write;
	table[SLOT_SEEK] = (void *)slot_seek;
	table[SLOT_CLOSE] = (void *)slot_close;
	table[SLOT_STAT] = (void *)slot_stat;
	/* The wide table's is the same function; where it is not, the
	 * statistics of a last flush go out with the destructor. */
	if (table[SLOT_SETBUF] == (void *)_IO_file_setbuf)
		table[SLOT_SETBUF] = (void *)slot_setbuf;
}

void nfsappend_stdio_patch(void)
{
	/* RELRO ends on a boundary of the largest page that the processor
	 * has (x86-64 4 KiB, aarch64 64 KiB). */
	const uintptr_t page = PAGE_IS_64K ? 0x10000 : 0x1000;
	uintptr_t low, high;

	if (_IO_file_jumps == NULL || _IO_wfile_jumps == NULL ||
		_IO_file_read == NULL || _IO_file_write == NULL ||
		_IO_file_seek == NULL || _IO_file_close == NULL ||
		_IO_file_stat == NULL || _IO_file_setbuf == NULL ||
		!as_expected(_IO_file_jumps) || !as_expected(_IO_wfile_jumps))
		return;
	low = (uintptr_t)_IO_file_jumps;
	high = (uintptr_t)_IO_wfile_jumps;
	if (low > high) {
		uintptr_t t = low;

		low = high;
		high = t;
	}
	/* Both lie in RELRO, side by side. */
	high = (high + SLOTS * sizeof(void *) + page - 1) & -page;
	low &= -page;
	if (high - low > 1 << 16)
		return;
	if (nfsappend_sys(SYS_mprotect, (long)low, (long)(high - low),
		    PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
		return;
	fill(_IO_file_jumps);
	fill(_IO_wfile_jumps);
	nfsappend_sys(SYS_mprotect, (long)low, (long)(high - low), PROT_READ,
		0, 0, 0);
	patched = true;
}

bool nfsappend_stdio_patched(void)
{
	return patched;
}
