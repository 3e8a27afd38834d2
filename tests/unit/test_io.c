/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a system call on a managed descriptor means. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/sizelimit.h"
#include "core/io.h"
#include "core/process.h"
#include "rig.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif

static int fd;

static void start(uint32_t accmode, int flags)
{
	rig_start(NFSAPPEND_GUARDED);
	fd = rig_descriptor(accmode, flags);
}

static ssize_t writev_(
	const struct iovec *iov, int cnt, off64_t offset, int flags)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;
	ssize_t r;

	nfsappend_guard_enter(&guard);
	o = rig_open(fd);
	r = nfsappend_io_write(o, fd, iov, cnt, offset, flags);
	nfsappend_open_put(o);
	nfsappend_guard_leave(&guard);
	return r;
}

static ssize_t put_at(const char *s, off64_t offset, int flags)
{
	struct iovec iov = {(void *)s, strlen(s)};

	return writev_(&iov, 1, offset, flags);
}

static ssize_t put(const char *s)
{
	return put_at(s, NFSAPPEND_AT_POSITION, 0);
}

static ssize_t readv_(
	const struct iovec *iov, int cnt, off64_t offset, int flags)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;
	ssize_t r;

	nfsappend_guard_enter(&guard);
	o = rig_open(fd);
	r = nfsappend_io_read(o, fd, iov, cnt, offset, flags);
	nfsappend_open_put(o);
	nfsappend_guard_leave(&guard);
	return r;
}

static char got[100];

static ssize_t get_at(size_t n, off64_t offset)
{
	struct iovec iov = {got, n};

	memset(got, 0, sizeof got);
	return readv_(&iov, 1, offset, 0);
}

static off64_t seek(off64_t offset, int whence)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;
	off64_t r;

	nfsappend_guard_enter(&guard);
	o = rig_open(fd);
	r = nfsappend_io_seek(o, fd, offset, whence);
	nfsappend_open_put(o);
	nfsappend_guard_leave(&guard);
	return r;
}

static int cut(off64_t length)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;
	int r;

	nfsappend_guard_enter(&guard);
	o = rig_open(fd);
	r = nfsappend_io_truncate(o, fd, length);
	nfsappend_open_put(o);
	nfsappend_guard_leave(&guard);
	return r;
}

static off_t position(void)
{
	return lseek(fd, 0, SEEK_CUR);
}

static void append(void)
{
	start(O_WRONLY, O_APPEND);
	CHECK_INT(put("one\n"), 4);
	CHECK_INT(position(), 4);
	fake_append(rig_node, "other\n", 6);
	CHECK_INT(lseek(fd, 1, SEEK_SET), 1);
	CHECK_INT(put("two\n"), 4);
	CHECK_INT(position(), 14);
	/* pwrite() appends as well, and leaves the position. */
	CHECK_INT(put_at("three\n", 2, 0), 6);
	CHECK_INT(position(), 14);
	CHECK_FILE("one\nother\ntwo\nthree\n");
}

static void at_position(void)
{
	start(O_RDWR, 0);
	CHECK_INT(put("0123"), 4);
	CHECK_INT(put("4567"), 4);
	CHECK_INT(position(), 8);
	CHECK_INT(seek(2, SEEK_SET), 2);
	CHECK_INT(put("xy"), 2);
	CHECK_INT(position(), 4);
	CHECK_INT(put_at("AB", 6, 0), 2);
	CHECK_INT(position(), 4);
	CHECK_FILE("01xy45AB");
	/* The flag may change under way, and be another process's doing. */
	CHECK_INT(fcntl(fd, F_SETFL, O_APPEND), 0);
	CHECK_INT(put("!"), 1);
	CHECK_INT(position(), 9);
	CHECK_INT(fcntl(fd, F_SETFL, 0), 0);
	CHECK_INT(put_at("?", 0, 0), 1);
	CHECK_FILE("?1xy45AB!");
}

static void behind_the_end(void)
{
	size_t len;

	start(O_WRONLY, 0);
	CHECK_INT(seek(5, SEEK_SET), 5);
	CHECK_INT(put("x"), 1);
	CHECK_INT(position(), 6);
	CHECK_MEM(fake_content(rig_node, &len), 6, "\0\0\0\0\0x", 6);
}

static void flags_of_pwritev2(void)
{
	start(O_WRONLY, 0);
	CHECK_INT(put("0123"), 4);
	CHECK_INT(put_at("45", 0, RWF_APPEND), 2);
	CHECK_INT(position(), 4);
	CHECK_INT(put_at("67", NFSAPPEND_AT_POSITION, RWF_APPEND), 2);
	CHECK_INT(position(), 8);
	CHECK_FILE("01234567");
	CHECK_INT(fcntl(fd, F_SETFL, O_APPEND), 0);
	CHECK_INT(put_at("X", 0, RWF_NOAPPEND), 1);
	CHECK_INT(put_at("Y", 1, RWF_SYNC | RWF_DSYNC), 1);
	CHECK_FILE("X1234567Y");
	CHECK_INT(put_at("Z", 0, RWF_APPEND | RWF_NOAPPEND), -EINVAL);
	CHECK_INT(put_at("Z", 0, 0x10000), -EOPNOTSUPP);
	CHECK_FILE("X1234567Y");
}

static void access_modes(void)
{
	start(O_WRONLY, O_APPEND);
	CHECK_INT(put("x"), 1);
	CHECK_INT(get_at(1, 0), -EBADF);
	fd = rig_descriptor(O_RDONLY, 0);
	CHECK_INT(get_at(1, 0), 1);
	CHECK_INT(put("y"), -EBADF);
	CHECK_INT(put_at("y", 0, 0), -EBADF);
	CHECK_INT(put(""), -EBADF);
	CHECK_INT(cut(0), -EINVAL);
	fd = rig_descriptor(O_RDWR, 0);
	CHECK_INT(put("z"), 1);
	CHECK_INT(get_at(5, 0), 1);
	CHECK_FILE("z");
}

static void nothing_to_write(void)
{
	struct iovec iov[2] = {{NULL, 0}, {NULL, 0}};

	start(O_RDWR, O_APPEND);
	CHECK_INT(put(""), 0);
	CHECK_INT(writev_(iov, 2, NFSAPPEND_AT_POSITION, 0), 0);
	CHECK_INT(writev_(NULL, 0, NFSAPPEND_AT_POSITION, 0), 0);
	CHECK_INT(readv_(iov, 2, NFSAPPEND_AT_POSITION, 0), 0);
	CHECK_INT(fake_calls(FAKE_WRITE), 0);
	CHECK_INT(fake_calls(FAKE_GETATTR), 0);
	CHECK_INT(fake_calls(FAKE_READ), 0);
}

static void vectors(void)
{
	struct iovec iov[IOV_MAX], bad[2];

	start(O_WRONLY, O_APPEND);
	for (int i = 0; i < IOV_MAX; i++)
		iov[i] = (struct iovec){"0123456789" + i % 10, 1};
	CHECK_INT(writev_(iov, 7, NFSAPPEND_AT_POSITION, 0), 7);
	CHECK_INT(writev_(iov + 7, 20, NFSAPPEND_AT_POSITION, 0), 20);
	CHECK_FILE("012345678901234567890123456");
	/* One record, one WRITE, however many pieces. */
	CHECK_INT(fake_calls(FAKE_WRITE), 2);
	CHECK_INT(writev_(iov, IOV_MAX, NFSAPPEND_AT_POSITION, 0), IOV_MAX);
	CHECK_INT(writev_(iov, -1, NFSAPPEND_AT_POSITION, 0), -EINVAL);
	CHECK_INT(writev_(iov, IOV_MAX + 1, NFSAPPEND_AT_POSITION, 0), -EINVAL);
	/* As the kernel: a negative length, then more than memory can be. */
	bad[0] = (struct iovec){iov, SSIZE_MAX};
	bad[1] = (struct iovec){iov, 1};
	CHECK_INT(writev_(bad, 2, NFSAPPEND_AT_POSITION, 0), -EFAULT);
	bad[0].iov_len = (size_t)SSIZE_MAX + 1;
	CHECK_INT(writev_(bad, 1, NFSAPPEND_AT_POSITION, 0), -EINVAL);
	CHECK_INT(writev_((struct iovec *)16, 2, NFSAPPEND_AT_POSITION, 0),
		-EFAULT);
	CHECK_INT(writev_((struct iovec *)16, 200, NFSAPPEND_AT_POSITION, 0),
		-EFAULT);
	bad[0] = (struct iovec){(void *)16, 5};
	CHECK_INT(writev_(bad, 1, NFSAPPEND_AT_POSITION, 0), -EFAULT);
	CHECK_INT(fake_calls(FAKE_WRITE), 3);
}

static void bad_offsets(void)
{
	start(O_RDWR, 0);
	CHECK_INT(put("x"), 1);
	CHECK_INT(put_at("y", -2, 0), -EINVAL);
	CHECK_INT(put_at("y", INT64_MIN, 0), -EINVAL);
	CHECK_INT(get_at(1, -2), -EINVAL);
	CHECK_INT(get_at(1, 7), 0);
	CHECK_INT(get_at(1, INT64_MAX), 0);
	CHECK_FILE("x");
}

static void reads(void)
{
	struct iovec iov[3] = {{got, 2}, {NULL, 0}, {got + 10, 50}};

	start(O_RDWR, 0);
	CHECK_INT(put("0123456789"), 10);
	CHECK_INT(get_at(4, NFSAPPEND_AT_POSITION), 0);
	CHECK_INT(seek(1, SEEK_SET), 1);
	CHECK_INT(get_at(4, NFSAPPEND_AT_POSITION), 4);
	CHECK_STR(got, "1234");
	CHECK_INT(position(), 5);
	CHECK_INT(get_at(50, 8), 2);
	CHECK_STR(got, "89");
	CHECK_INT(position(), 5);
	CHECK_INT(readv_(iov, 3, 0, 0), 10);
	CHECK_MEM(got, 2, "01", 2);
	CHECK_STR(got + 10, "23456789");
	CHECK_INT(readv_(iov, 3, 0, RWF_NOAPPEND), -EOPNOTSUPP);
	/* In pieces of rtmax, and of what the server gives. */
	rig_file->key.server->contact.rtmax = 3;
	FAKE(.op = FAKE_READ, .count = 1, .times = 2);
	CHECK_INT(get_at(9, 0), 9);
	CHECK_STR(got, "012345678");
}

static void read_faults(void)
{
	struct iovec iov = {(void *)16, 4};

	start(O_RDWR, 0);
	CHECK_INT(put("0123456789"), 10);
	CHECK_INT(seek(0, SEEK_SET), 0);
	CHECK_INT(readv_(&iov, 1, NFSAPPEND_AT_POSITION, 0), -EFAULT);
	CHECK_INT(position(), 0);
	FAKE(.op = FAKE_READ, .result = -EIO);
	CHECK_INT(get_at(4, 0), -EIO);
	rig_file->key.server->contact.rtmax = 4;
	FAKE(.op = FAKE_READ, .result = -ESTALE, .at = 2);
	CHECK_INT(get_at(9, 0), 4);
	FAKE(.op = FAKE_READ, .result = NFSAPPEND_LOST, .times = 2);
	CHECK_INT(get_at(9, 0), 9);
	CHECK_INT(get_at(9, NFSAPPEND_AT_POSITION), 9);
}

static void failed_write_moves_nothing(void)
{
	start(O_WRONLY, O_APPEND);
	CHECK_INT(put("0123"), 4);
	FAKE(.op = FAKE_WRITE, .result = -ENOSPC);
	CHECK_INT(put("45"), -ENOSPC);
	CHECK_INT(position(), 4);
	CHECK_INT(fcntl(fd, F_SETFL, 0), 0);
	FAKE(.op = FAKE_WRITE, .result = -EDQUOT);
	CHECK_INT(put("45"), -EDQUOT);
	CHECK_INT(position(), 4);
	FAKE(.op = FAKE_WRITE, .count = 1);
	FAKE(.op = FAKE_WRITE, .at = 2, .result = -ENOSPC);
	CHECK_INT(put("45"), 1);
	CHECK_INT(position(), 5);
	CHECK_FILE("01234");
}

static void seeks(void)
{
	start(O_RDWR, 0);
	CHECK_INT(put("0123456789"), 10);
	fake_append(rig_node, "ab", 2);
	CHECK_INT(seek(0, SEEK_END), 12);
	CHECK_INT(position(), 12);
	CHECK_INT(seek(-2, SEEK_END), 10);
	CHECK_INT(seek(5, SEEK_END), 17);
	CHECK_INT(seek(-13, SEEK_END), -EINVAL);
	CHECK_INT(position(), 17);
	CHECK_INT(seek(INT64_MAX, SEEK_END), -EOVERFLOW);
	CHECK_INT(seek(-7, SEEK_CUR), 10);
	CHECK_INT(seek(-11, SEEK_CUR), -EINVAL);
	CHECK_INT(seek(-1, SEEK_SET), -EINVAL);
	CHECK_INT(seek(0, 77), -EINVAL);
	CHECK_INT(position(), 10);
	CHECK_INT(seek(3, SEEK_DATA), 3);
	CHECK_INT(seek(3, SEEK_HOLE), 12);
	CHECK_INT(seek(12, SEEK_DATA), -ENXIO);
	CHECK_INT(seek(12, SEEK_HOLE), -ENXIO);
	CHECK_INT(seek(-1, SEEK_DATA), -ENXIO);
	FAKE(.op = FAKE_GETATTR, .result = -ESTALE);
	CHECK_INT(seek(0, SEEK_END), -ESTALE);
}

/* SIGXFSZ is blocked, as while a guard is held, so that it can be seen. */
static bool was_signalled(void)
{
	struct timespec none = {0, 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	return sigtimedwait(&set, NULL, &none) == SIGXFSZ;
}

static void limit(rlim_t bytes)
{
	struct rlimit l;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = bytes;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &l), 0);
	nfsappend_size_limit_changed(); /* as the hook says */
}

static void limit_of_size(void)
{
	start(O_WRONLY, O_APPEND);
	/* The segment is there: the limit is for the program's files. */
	CHECK_INT(put("01234567"), 8);
	limit(10);
	CHECK_INT(put("89ab"), 2);
	CHECK_INT(position(), 10);
	CHECK(!was_signalled());
	CHECK_INT(put("ab"), -EFBIG);
	CHECK(was_signalled());
	CHECK_INT(put(""), 0);
	CHECK(!was_signalled());
	CHECK_INT(fcntl(fd, F_SETFL, 0), 0);
	CHECK_INT(put_at("xyz", 8, 0), 2);
	CHECK(!was_signalled());
	CHECK_INT(put_at("x", 10, 0), -EFBIG);
	CHECK(was_signalled());
	CHECK_INT(put_at("x", 5000, 0), -EFBIG);
	CHECK(was_signalled());
	CHECK_INT(cut(10), 0);
	CHECK_INT(cut(11), -EFBIG);
	CHECK(was_signalled());
	CHECK_INT(rig_file->stats.errors, 0);
	CHECK_FILE("01234567xy");
}

static void limit_of_a_new_segment(void)
{
	/* A shared one is larger than that. It is our file, not the program's:
	 * no signal, and another way. */
	limit(100000);
	rig_private = true;
	start(O_WRONLY, O_APPEND);
	CHECK(!was_signalled());
	CHECK_INT(put("x\n"), 2);
	CHECK_HAS(rig_log(), "EFBIG");
	CHECK_FILE("x\n");
}

/* The answer is lost: what others have appended since it was executed stays,
 * and it is executed once where it was not. */
static void lost_truncation(void)
{
	static const struct {
		int to;
		bool executed;
		const char *after, *want;
	} cases[] = {
		{0, true, "", ""},
		{0, false, "", ""},
		{0, true, "other\n", "other\n"},
		{4, true, "oth\n", "0123oth\n"},
		/* As if it had come later: it had not returned. */
		{4, false, "other\n", "0123"},
		{12, true, "other\n", "0123456789\0\0other\n"},
		{12, false, "", "0123456789\0\0"},
		{12, false, "a longer one\n", "0123456789a longer one\n"},
	};

	for (unsigned m = 0; m < 2; m++)
		for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
			struct nfsappend_attr size = {
				.size = (uint64_t)cases[i].to};
			struct nfsappend_guard guard;
			const uint8_t *content;
			size_t len, want = strlen(cases[i].want);

			rig_again(rig_sharings[m]);
			unit_case("%s, %u", rig_sharing_name(rig_sharings[m]),
				i);
			if (cases[i].to == 12 && want == 10)
				want += 2 + strlen(cases[i].after);
			CHECK_INT(rig_append("0123456789"), 10);
			FAKE(.op = FAKE_SETATTR, .result = NFSAPPEND_LOST,
				.executed = cases[i].executed,
				.after = cases[i].after);
			nfsappend_guard_enter(&guard);
			CHECK_INT(nfsappend_file_setattr(rig_file,
					  NFSAPPEND_SET_SIZE, &size),
				0);
			nfsappend_guard_leave(&guard);
			content = fake_content(rig_node, &len);
			CHECK_MEM(content, len, cases[i].want, want);
			CHECK_INT(rig_append("z"), 1);
			fake_content(rig_node, &len);
			CHECK_INT(len, want + 1);
		}
}

/* A failed SETATTR is no failed append. */
static void failed_truncation(void)
{
	struct nfsappend_attr empty = {.size = 0};
	struct nfsappend_guard guard;

	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("0123"), 4);
	FAKE(.op = FAKE_SETATTR, .result = -EACCES);
	nfsappend_guard_enter(&guard);
	CHECK_INT(nfsappend_file_setattr(rig_file, NFSAPPEND_SET_SIZE, &empty),
		-EACCES);
	nfsappend_guard_leave(&guard);
	CHECK_HAS_NOT(rig_log(), "append failed");
	CHECK_INT(rig_file->stats.errors, 0);
	CHECK_FILE("0123");
}

static void truncates(void)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;

	rig_start(NFSAPPEND_SINGLE);
	fd = rig_descriptor(O_WRONLY, O_APPEND);
	CHECK_INT(put("0123456789"), 10);
	CHECK_INT(cut(4), 0);
	CHECK_INT(position(), 10);
	CHECK_INT(put("ab"), 2);
	CHECK_INT(position(), 6);
	CHECK_FILE("0123ab");
	CHECK_INT(cut(-1), -EINVAL);
	FAKE(.op = FAKE_SETATTR, .result = -EACCES);
	CHECK_INT(cut(0), -EACCES);
	/* single no longer trusts what it knew. */
	fake_append(rig_node, "c", 1);
	CHECK_INT(put("d"), 1);
	CHECK_FILE("0123abcd");
	FAKE(.op = FAKE_SETATTR, .result = NFSAPPEND_LOST, .executed = true);
	CHECK_INT(cut(0), 0);
	CHECK_INT(put("e"), 1);
	CHECK_FILE("e");
	/* Other attributes say nothing on the size. */
	nfsappend_guard_enter(&guard);
	o = rig_open(fd);
	CHECK_INT(nfsappend_io_setattr(o, NFSAPPEND_SET_MODE,
			  &(struct nfsappend_attr){.mode = 0600}),
		0);
	nfsappend_open_put(o);
	nfsappend_guard_leave(&guard);
	CHECK_INT(fake_attr(rig_node)->mode, 0600);
	CHECK_INT(put("f"), 1);
	CHECK_FILE("ef");
}

/* One call moves at most MAX_RW_COUNT; a longer vector is no error. */
static void largest_vector(void)
{
	size_t n = (size_t)3 << 20;
	char *block = mmap(NULL, n, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct iovec *iov = unit_alloc(IOV_MAX * sizeof *iov);

	CHECK(block != MAP_FAILED);
	start(O_RDWR, 0);
	CHECK_INT(put("0123456789"), 10);
	for (int i = 0; i < IOV_MAX; i++)
		iov[i] = (struct iovec){block, n};
	CHECK_INT(readv_(iov, IOV_MAX, 0, 0), 10);
	free(iov);
}

static void attributes(void)
{
	struct nfsappend_attr attr;
	struct nfsappend_open *o;
	uint64_t dev;

	start(O_WRONLY, O_APPEND);
	CHECK_INT(put("0123"), 4);
	o = rig_open(fd);
	CHECK_INT(nfsappend_io_getattr(o, &attr), 0);
	CHECK_INT(attr.size, 4);
	CHECK_INT(attr.fileid, fake_attr(rig_node)->fileid);
	CHECK_INT(nfsappend_io_flags(o, O_RDWR | O_APPEND | O_NONBLOCK),
		O_WRONLY | O_APPEND | O_NONBLOCK);
	dev = nfsappend_io_device(o, &attr);
	CHECK_INT(nfsappend_io_device(o, &attr), dev);
	attr.fsid++;
	CHECK(nfsappend_io_device(o, &attr) != dev);
	FAKE(.op = FAKE_GETATTR, .result = -ESTALE);
	CHECK_INT(nfsappend_io_getattr(o, &attr), -ESTALE);
	nfsappend_open_put(o);
}

#define WRITERS 8
#define RECORDS 40

static void *writer(void *unused)
{
	for (int i = 0; i < RECORDS; i++)
		CHECK_INT(put("0123"), 4);
	return unused;
}

/* However late each gets to setting it. */
static void offset_of_many(void)
{
	pthread_t threads[WRITERS];

	start(O_WRONLY, O_APPEND);
	for (int round = 0; round < 10; round++) {
		CHECK_INT(put("."), 1);
		for (int i = 0; i < WRITERS; i++)
			CHECK_INT(pthread_create(&threads[i], NULL, writer,
					  NULL),
				0);
		for (int i = 0; i < WRITERS; i++)
			pthread_join(threads[i], NULL);
		CHECK_INT(lseek(fd, 0, SEEK_CUR), fake_attr(rig_node)->size);
		/* It may become less again. */
		CHECK_INT(nfsappend_file_setattr(rig_file, NFSAPPEND_SET_SIZE,
				  &(struct nfsappend_attr){.size = 3}),
			0);
		CHECK_INT(put("."), 1);
		CHECK_INT(lseek(fd, 0, SEEK_CUR), 4);
	}
}

static const struct unit_test tests[] = {
	UNIT_TEST(append),
	UNIT_TEST(at_position),
	UNIT_TEST(behind_the_end),
	UNIT_TEST(flags_of_pwritev2),
	UNIT_TEST(access_modes),
	UNIT_TEST(nothing_to_write),
	UNIT_TEST(vectors),
	UNIT_TEST(bad_offsets),
	UNIT_TEST(reads),
	UNIT_TEST(read_faults),
	UNIT_TEST(failed_write_moves_nothing),
	UNIT_TEST(seeks),
	UNIT_TEST(limit_of_size),
	UNIT_TEST(limit_of_a_new_segment),
	UNIT_TEST(lost_truncation),
	UNIT_TEST(failed_truncation),
	UNIT_TEST(truncates),
	UNIT_TEST(largest_vector),
	UNIT_TEST(attributes),
	UNIT_TEST(offset_of_many),
};

UNIT_MAIN(tests)
