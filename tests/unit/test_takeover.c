/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A server refuses a process that may not use a port below 1024 any more: the
 * kernel writes the file from then on, but never what may be in it already. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/placeholder.h"
#include "rig.h"

/* The file as the kernel's client has it. */
static int local;

static void no_low_ports(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	CHECK_INT(nfsappend_sys(
			  SYS_capget, (long)&header, (long)caps, 0, 0, 0, 0),
		0);
	caps[0].effective &= ~(1U << CAP_NET_BIND_SERVICE);
	CHECK_INT(nfsappend_sys(
			  SYS_capset, (long)&header, (long)caps, 0, 0, 0, 0),
		0);
}

static void start(enum nfsappend_sharing sharing)
{
	char path[100];
	struct stat st;

	rig_again(sharing);
	no_low_ports();
	snprintf(path, sizeof path, "%s/local", unit_dir);
	local = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	CHECK(local >= 0);
	CHECK_INT(fcntl(local, F_SETSIG, NFSAPPEND_MARKER), 0);
	CHECK_INT(fstat(local, &st), 0);
	rig_file->key.server->target.mounted = 1;
	rig_file->fileid = st.st_ino;
	rig_file->device = makedev(major(st.st_dev), minor(st.st_dev));
	atomic_store(&rig_file->some_fd, local);
}

static void end(void)
{
	/* rig_again() looks for the server that it has made. */
	rig_file->key.server->target.mounted = 0;
	close(local);
}

#define CHECK_LOCAL(want)                                                      \
	do {                                                                   \
		char text_[200];                                               \
		ssize_t n_ = pread(local, text_, sizeof text_ - 1, 0);         \
		CHECK(n_ >= 0);                                                \
		text_[n_ < 0 ? 0 : n_] = '\0';                                 \
		CHECK_STR(text_, want);                                        \
	} while (0)

static void nothing_sent(void)
{
	start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_GETATTR, .result = -EPERM);
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\n");
	CHECK_LOCAL("record\nnext\n");
	CHECK_HAS_NOT(rig_log(), "may be in the file");
	end();
}

/* The connection breaks with the WRITE, and the new one is refused. */
static void in_doubt(void)
{
	for (int executed = 0; executed < 2; executed++) {
		start(NFSAPPEND_GUARDED);
		unit_case("executed %d", executed);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.executed = executed);
		FAKE(.op = FAKE_GETATTR, .at = 2, .result = -EPERM);
		CHECK_INT(rig_append("record\n"), -EPERM);
		CHECK_HAS(rig_log(), "may be in the file");
		CHECK_LOCAL("");
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_LOCAL("next\n");
		CHECK_FILE(executed ? "first\nrecord\n" : "first\n");
		end();
	}
}

/* It was not in when that was asked, but may yet come. */
static void sent_twice(void)
{
	start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST);
	FAKE(.op = FAKE_WRITE, .at = 2, .result = -EPERM);
	CHECK_INT(rig_append("record\n"), -EPERM);
	CHECK_HAS(rig_log(), "may be in the file");
	CHECK_LOCAL("");
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_LOCAL("next\n");
	end();
}

static void in_doubt_under_lock(void)
{
	for (int executed = 0; executed < 2; executed++) {
		start(NFSAPPEND_LOCKED);
		unit_case("executed %d", executed);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_APPEND, .result = NFSAPPEND_LOST,
			.executed = executed);
		FAKE(.op = FAKE_APPEND, .at = 2, .times = 99, .result = -EPERM);
		FAKE(.op = FAKE_GETATTR, .times = 99, .result = -EPERM);
		CHECK_INT(rig_append("record\n"), -EPERM);
		CHECK_HAS(rig_log(), "may be in the file");
		CHECK_LOCAL("");
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_INT(rig_append("last\n"), 5);
		CHECK_LOCAL("next\nlast\n");
		CHECK_FILE(executed ? "first\nrecord\n" : "first\n");
		end();
	}
}

/* A leader died before the kernel took over: the server will never
 * tell what became of the record, and none may wait for that. */
static void predecessor(void)
{
	start(NFSAPPEND_LOCKED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_APPEND, .death = FAKE_DIE_AFTER);
	CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
	atomic_store(&rig_file->segment.shared->kernel_served, 1);
	FAKE(.op = FAKE_APPEND, .times = 9, .result = -EACCES);
	FAKE(.op = FAKE_GETATTR, .times = 9, .result = -EACCES);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_INT(rig_append("last\n"), 5);
	CHECK_LOCAL("next\nlast\n");
	CHECK_FILE("first\nrecord\n");
	end();
}

static const struct unit_test tests[] = {
	UNIT_TEST(nothing_sent),
	UNIT_TEST(in_doubt),
	UNIT_TEST(sent_twice),
	UNIT_TEST(in_doubt_under_lock),
	UNIT_TEST(predecessor),
};

UNIT_MAIN(tests)
