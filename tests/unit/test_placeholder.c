/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/placeholder.h"
#include "rig.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static struct nfsappend_placeholder made, got;

static void fill(void)
{
	made.accmode = O_WRONLY;
	made.sharing = NFSAPPEND_SINGLE;
	made.timeout_s = 30;
	made.fileid = 12345;
	strcpy(made.target.host, "server");
	strcpy(made.target.path, "/export");
	made.target.version = 3;
	made.contact.wtmax = 65536;
	made.contact.rtmax = 32768;
	made.contact.root.len = 8;
	made.cred.uid = 1000;
	made.cred.ngroups = 2;
	made.cred.groups[1] = 7;
	made.fh.len = 4;
	memcpy(made.fh.data, "abcd", 4);
	strcpy(made.path, "/logs/x");
}

static void check_got(void)
{
	CHECK_INT(got.accmode, O_WRONLY);
	CHECK_INT(got.sharing, NFSAPPEND_SINGLE);
	CHECK_INT(got.timeout_s, 30);
	CHECK_INT(got.fileid, 12345);
	CHECK_MEM(&got.target, sizeof got.target, &made.target,
		sizeof made.target);
	CHECK_MEM(&got.contact, sizeof got.contact, &made.contact,
		sizeof made.contact);
	CHECK_MEM(&got.cred, sizeof got.cred, &made.cred, sizeof made.cred);
	CHECK_MEM(got.fh.data, got.fh.len, "abcd", 4);
	CHECK_STR(got.path, "/logs/x");
}

static void round_trip(void)
{
	int fd, copy;

	fill();
	fd = nfsappend_placeholder_make(&made, O_CLOEXEC | O_APPEND | O_TRUNC);
	CHECK(fd >= 0);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_INT(fcntl(fd, F_GETFL) & (O_APPEND | O_NONBLOCK), O_APPEND);
	CHECK(nfsappend_placeholder_marked(fd));
	CHECK_INT(nfsappend_placeholder_read(fd, &got), 0);
	check_got();
	CHECK_HAS(got.text, "stands for a file on an NFS server");
	/* The offset is the program's; looking does not move it. */
	CHECK_INT(lseek(fd, 0, SEEK_CUR), 0);
	copy = dup(fd);
	CHECK(nfsappend_placeholder_marked(copy));
	CHECK_INT(nfsappend_placeholder_read(copy, &got), 0);
	fd = nfsappend_placeholder_make(&made, O_NONBLOCK);
	CHECK_INT(fcntl(fd, F_GETFD), 0);
	CHECK_INT(fcntl(fd, F_GETFL) & (O_APPEND | O_NONBLOCK), O_NONBLOCK);
}

static void sealed(void)
{
	int fd;

	fill();
	fd = nfsappend_placeholder_make(&made, 0);
	CHECK_INT(write(fd, "x", 1), -1);
	CHECK_INT(errno, EPERM);
	CHECK_INT(ftruncate(fd, 1), -1);
	CHECK_INT(errno, EPERM);
	CHECK_INT(ftruncate(fd, 1 << 20), -1);
	CHECK_INT(errno, EPERM);
	CHECK_INT(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL), -1);
	CHECK_INT(errno, EPERM);
	CHECK_INT(nfsappend_placeholder_read(fd, &got), 0);
	check_got();
}

/* Another open of the same file: marked by hand, the offset its own. */
static void opened_again(void)
{
	char path[40];
	int fd, again;

	fill();
	fd = nfsappend_placeholder_make(&made, 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY);
	CHECK(again >= 0);
	CHECK(!nfsappend_placeholder_marked(again));
	nfsappend_placeholder_mark(again);
	CHECK(nfsappend_placeholder_marked(again));
	CHECK_INT(nfsappend_placeholder_read(again, &got), 0);
	check_got();
}

static int memfd(const void *data, size_t n, unsigned flags, int seals)
{
	int fd = memfd_create("x", MFD_ALLOW_SEALING | flags);

	if (fd < 0)
		return fd;
	CHECK_INT(write(fd, data, n), n);
	if (seals != 0)
		CHECK_INT(fcntl(fd, F_ADD_SEALS, seals), 0);
	nfsappend_placeholder_mark(fd);
	return fd;
}

/* In a memfd as it would be written, but all of it as it is; of another
 * length than less says: not all of it. */
static int forged(const struct nfsappend_placeholder *p, size_t less,
	unsigned flags, int seals)
{
	static uint8_t file[sizeof *p + 4];
	size_t n = sizeof *p - sizeof p->text;

	memcpy(file, p, sizeof p->text);
	file[sizeof p->text] = (uint8_t)n;
	file[sizeof p->text + 1] = (uint8_t)(n >> 8);
	memcpy(file + sizeof p->text + 2, p->text + sizeof p->text, n);
	return memfd(file, sizeof file - less, flags, seals);
}

static void real_one(void)
{
	int fd;

	fill();
	fd = nfsappend_placeholder_make(&made, 0);
	CHECK_INT(nfsappend_placeholder_read(fd, &got), 0);
	made = got; /* with the magic number and the text */
	close(fd);
}

static void not_sealed_is_refused(void)
{
	static const int seals[] = {0, F_SEAL_WRITE, SEALS & ~F_SEAL_SEAL,
		SEALS & ~F_SEAL_WRITE, SEALS & ~F_SEAL_SHRINK,
		SEALS & ~F_SEAL_GROW};
	char path[100];
	int fd;

	real_one();
	CHECK_INT(nfsappend_placeholder_read(
			  forged(&made, 0, 0, SEALS), &got),
		0);
	for (unsigned i = 0; i < UNIT_COUNT(seals); i++) {
		unit_case("seals %x", (unsigned)seals[i]);
		CHECK_INT(nfsappend_placeholder_read(
				  forged(&made, 0, 0, seals[i]), &got),
			-EINVAL);
	}
	unit_case("file");
	snprintf(path, sizeof path, "%s/forged", unit_dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK_INT(write(fd, &made, sizeof made), sizeof made);
	nfsappend_placeholder_mark(fd);
	CHECK_INT(nfsappend_placeholder_read(fd, &got), -EINVAL);
	CHECK_INT(nfsappend_placeholder_read(-1, &got), -EINVAL);
	CHECK_INT(nfsappend_placeholder_read(open("/dev/null", O_RDONLY), &got),
		-EINVAL);
}

/* vm.memfd_noexec=1 adds a seal to every memfd. */
static void noexec_seal_is_no_harm(void)
{
	int fd;

	real_one();
	fd = forged(&made, 0, MFD_NOEXEC_SEAL, SEALS);
	if (fd < 0)
		unit_skip("this kernel has no MFD_NOEXEC_SEAL");
	CHECK(fcntl(fd, F_GET_SEALS) != SEALS);
	CHECK_INT(nfsappend_placeholder_read(fd, &got), 0);
	check_got();
}

static void forged_content_is_refused(void)
{
	struct nfsappend_placeholder p;

	real_one();
#define FORGED(change)                                                         \
	do {                                                                   \
		p = made;                                                      \
		unit_case("%s", #change);                                      \
		change;                                                        \
		CHECK_INT(nfsappend_placeholder_read(                          \
				  forged(&p, 0, 0, SEALS), &got),        \
			-EINVAL);                                              \
	} while (0)
	FORGED(p.magic ^= 1);
	FORGED(p.size--);
	FORGED(p.fh.len = 0);
	FORGED(p.fh.len = NFSAPPEND_FH_MAX + 1);
	FORGED(p.contact.root.len = UINT32_MAX);
	FORGED(p.contact.wtmax = 0);
	FORGED(p.contact.rtmax = 0);
	FORGED(p.cred.ngroups = NFSAPPEND_GROUPS_MAX + 1);
	FORGED(p.accmode = 3);
	FORGED(p.sharing = NFSAPPEND_LOCKED + 1);
	FORGED(memset(p.path, 'x', sizeof p.path));
	FORGED(memset(p.target.host, 'x', sizeof p.target.host));
	FORGED(memset(p.target.path, 'x', sizeof p.target.path));
	for (size_t less = 1; less <= sizeof made + 4; less++) {
		unit_case("%zu short", less);
		int fd = forged(&made, less, 0, SEALS);

		CHECK_INT(nfsappend_placeholder_read(fd, &got), -EINVAL);
		close(fd);
	}
	unit_case("garbage");
	for (unsigned seed = 0; seed < 2000; seed++) {
		uint8_t bytes[1024];
		int fd;

		srandom(seed);
		memcpy(bytes, &made, sizeof made.text);
		for (size_t i = sizeof made.text; i < sizeof bytes; i++)
			bytes[i] = random() % 4 ? 0 : (uint8_t)random();
		fd = memfd(bytes, sizeof bytes, 0, SEALS);
		CHECK_INT(nfsappend_placeholder_read(fd, &got), -EINVAL);
		close(fd);
	}
	unit_case("one byte");
	CHECK_INT(nfsappend_placeholder_read(memfd("", 1, 0, SEALS), &got),
		-EINVAL);
}

/* `ulimit -f 1`, with the longest of everything that is usual. */
static void little_room(void)
{
	struct rlimit all, little;
	int fd;

	fill();
	memset(made.name, 'n', 200);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &all), 0);
	little = all;
	little.rlim_cur = 1024;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &little), 0);
	fd = nfsappend_placeholder_make(&made, 0);
	CHECK(fd >= 0);
	CHECK_INT(nfsappend_placeholder_read(fd, &got), 0);
	check_got();
	/* No SIGXFSZ, which would end the test. */
	little.rlim_cur = 0;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &little), 0);
	CHECK_INT(nfsappend_placeholder_make(&made, 0), -EFBIG);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &all), 0);
}

static void no_descriptor(void)
{
	fill();
	unit_limit_descriptors(3);
	CHECK_INT(nfsappend_placeholder_make(&made, 0), -EMFILE);
	unit_limit_descriptors(1000);
}

static const struct unit_test tests[] = {
	UNIT_TEST(round_trip),
	UNIT_TEST(sealed),
	UNIT_TEST(opened_again),
	UNIT_TEST(not_sealed_is_refused),
	UNIT_TEST(noexec_seal_is_no_harm),
	UNIT_TEST(forged_content_is_refused),
	UNIT_TEST(little_room),
	UNIT_TEST(no_descriptor),
};

UNIT_MAIN(tests)
