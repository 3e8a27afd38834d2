/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes of directories, and what becomes of them when an answer is lost. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/naming.h"
#include "rig.h"

static int export, file, other;

/* An export with "file", "other" and the empty directory "dir". */
static void start(const char *setting)
{
	rig_core();
	fake_start();
	export = fake_add(0, "export", NFSAPPEND_DIR, 0755, 0);
	file = fake_add(export, "file", NFSAPPEND_REG, 0644, 0);
	other = fake_add(export, "other", NFSAPPEND_REG, 0644, 0);
	fake_add(export, "dir", NFSAPPEND_DIR, 0755, 0);
	fake_set_contact(1 << 20, 1 << 20, export);
	rig_config(
		"NFSAPPEND_MAP=" RIG_MAP "=nfs://fake/export", setting, NULL);
	umask(022);
}

#define AT(name) AT_FDCWD, RIG_MAP "/" name

static int make_dir(void)
{
	return nfsappend_path_mkdir(AT("new"), 0777);
}

static int make_link(void)
{
	return nfsappend_path_symlink("target", AT("new"));
}

static int second_name(void)
{
	return nfsappend_path_link(AT("file"), AT("new"), 0);
}

static int unlink_file(void)
{
	return nfsappend_path_unlink(AT("file"), 0);
}

static int remove_dir(void)
{
	return nfsappend_path_unlink(AT("dir"), AT_REMOVEDIR);
}

static int move(void)
{
	return nfsappend_path_rename(AT("file"), AT("new"));
}

static int move_over(void)
{
	return nfsappend_path_rename(AT("file"), AT("other"));
}

static const struct {
	enum fake_op op;
	int (*call)(void);
	const char *there, *gone; /* afterwards */
	int late; /* what a repeated call is answered */
} changes[] = {
	{FAKE_MKDIR, make_dir, "new", NULL, -EEXIST},
	{FAKE_SYMLINK, make_link, "new", NULL, -EEXIST},
	{FAKE_LINK, second_name, "new", NULL, -EEXIST},
	{FAKE_REMOVE, unlink_file, "other", "file", -ENOENT},
	{FAKE_RMDIR, remove_dir, "other", "dir", -ENOENT},
	{FAKE_RENAME, move, "new", "file", -ENOENT},
	{FAKE_RENAME, move_over, "other", "file", -ENOENT},
};

/* Each case in a process of its own would hide nothing: names are put back. */
static void again(void)
{
	static const char *const names[] = {"file", "other", "dir", "new"};

	for (unsigned i = 0; i < UNIT_COUNT(names); i++) {
		int node = fake_find(export, names[i]);

		if (node >= 0)
			fake_remove(node);
	}
	file = fake_add(export, "file", NFSAPPEND_REG, 0644, 1);
	other = fake_add(export, "other", NFSAPPEND_REG, 0644, 1);
	fake_add(export, "dir", NFSAPPEND_DIR, 0755, 1);
	fake_calls_reset();
}

static void each(void (*prepare)(enum fake_op, int late), unsigned calls)
{
	start(NULL);
	for (unsigned i = 0; i < UNIT_COUNT(changes); i++) {
		unit_case("change %u", i);
		again();
		prepare(changes[i].op, changes[i].late);
		CHECK_INT(changes[i].call(), 0);
		CHECK(fake_find(export, changes[i].there) >= 0);
		if (changes[i].gone != NULL)
			CHECK_INT(fake_find(export, changes[i].gone), -1);
		CHECK_INT(fake_calls(changes[i].op), calls);
		CHECK_INT(fake_rules_left(), 0);
	}
}

static void no_trouble(enum fake_op op, int late)
{
	(void)op, (void)late;
}

static void answered(void)
{
	each(no_trouble, 1);
}

static void lost_after(enum fake_op op, int late)
{
	(void)late;
	FAKE(.op = op, .result = NFSAPPEND_LOST, .executed = true);
}

/* Done, and the answer lost: not sent again. */
static void executed_then_lost(void)
{
	each(lost_after, 1);
}

static void lost_before(enum fake_op op, int late)
{
	(void)late;
	FAKE(.op = op, .result = NFSAPPEND_LOST);
}

static void lost_then_repeated(void)
{
	each(lost_before, 2);
}

static void not_sent(enum fake_op op, int late)
{
	(void)late;
	FAKE(.op = op, .result = NFSAPPEND_UNSENT, .times = 2);
}

static void not_sent_then_repeated(void)
{
	each(not_sent, 3);
}

/* The lost one arrives after all, before the repeated one, which is answered
 * as if it were the second. */
static void late(enum fake_op op, int answer)
{
	FAKE(.op = op, .result = NFSAPPEND_LOST);
	FAKE(.op = op, .at = 1, .result = answer, .executed = true);
}

static void late_arrival(void)
{
	each(late, 2);
}

/* What another client has put under the name since is left alone. */
static void remade_is_left_alone(void)
{
	static int (*const calls[])(void) = {unlink_file, move, move_over};
	static const enum fake_op ops[] = {
		FAKE_REMOVE, FAKE_RENAME, FAKE_RENAME};

	start(NULL);
	for (unsigned i = 0; i < UNIT_COUNT(calls); i++) {
		int node;

		unit_case("%u", i);
		again();
		FAKE(.op = ops[i], .result = NFSAPPEND_LOST, .executed = true,
			.remade = true);
		CHECK_INT(calls[i](), 0);
		CHECK_INT(fake_calls(ops[i]), 1);
		node = fake_find(export, "file");
		CHECK(node >= 0 && node != file);
	}
}

/* Somebody else was faster: that is no success of ours. */
static void taken_by_another(void)
{
	start(NULL);
	FAKE(.op = FAKE_MKDIR, .result = NFSAPPEND_LOST);
	FAKE(.op = FAKE_MKDIR, .result = -EEXIST);
	/* The look after the first finds nothing, the second a file. */
	FAKE(.op = FAKE_LOOKUP, .at = 2, .result = -ENOENT);
	fake_calls_reset();
	unit_case("mkdir");
	CHECK_INT(nfsappend_path_mkdir(AT("file2"), 0777), -EEXIST);
	fake_rules_clear();

	int node = fake_add(export, "new", NFSAPPEND_DIR, 0700, 1);

	FAKE(.op = FAKE_LOOKUP, .result = -ENOENT);
	FAKE(.op = FAKE_MKDIR, .result = NFSAPPEND_LOST);
	unit_case("mkdir, another's");
	CHECK_INT(make_dir(), -EEXIST);
	FAKE(.op = FAKE_LOOKUP, .result = -ENOENT);
	FAKE(.op = FAKE_SYMLINK, .result = NFSAPPEND_LOST);
	unit_case("symlink");
	CHECK_INT(make_link(), -EEXIST);
	fake_remove(node);
	fake_add_link(export, "new", "elsewhere");
	FAKE(.op = FAKE_LOOKUP, .result = -ENOENT);
	FAKE(.op = FAKE_SYMLINK, .result = NFSAPPEND_LOST);
	unit_case("symlink, another target");
	CHECK_INT(make_link(), -EEXIST);
}

static void time_is_over(void)
{
	start("NFSAPPEND_TIMEOUT=5");
	for (unsigned i = 0; i < UNIT_COUNT(changes); i++) {
		unit_case("change %u", i);
		again();
		FAKE(.op = changes[i].op, .result = NFSAPPEND_TIMED_OUT);
		CHECK_INT(changes[i].call(), -EIO);
	}
}

static void refused(void)
{
	static const int errors[] = {EACCES, EROFS, ENOSPC, EDQUOT, ESTALE};

	start(NULL);
	for (unsigned i = 0; i < UNIT_COUNT(changes); i++) {
		for (unsigned k = 0; k < UNIT_COUNT(errors); k++) {
			unit_case("change %u, error %d", i, errors[k]);
			again();
			FAKE(.op = changes[i].op, .result = -errors[k]);
			CHECK_INT(changes[i].call(), -errors[k]);
		}
	}
}

static void what_must_fail(void)
{
	start(NULL);
	CHECK_INT(nfsappend_path_mkdir(AT("file"), 0777), -EEXIST);
	CHECK_INT(nfsappend_path_mkdir(AT_FDCWD, RIG_MAP, 0777), -EEXIST);
	CHECK_INT(nfsappend_path_mkdir(AT("no/new"), 0777), -ENOENT);
	CHECK_INT(nfsappend_path_unlink(AT("dir"), 0), -EISDIR);
	CHECK_INT(nfsappend_path_unlink(AT("file"), AT_REMOVEDIR), -ENOTDIR);
	CHECK_INT(nfsappend_path_unlink(AT_FDCWD, RIG_MAP, AT_REMOVEDIR),
		-EBUSY);
	CHECK_INT(nfsappend_path_rename(AT("file"), AT("dir")), -EISDIR);
	CHECK_INT(nfsappend_path_rename(AT("dir"), AT("file")), -ENOTDIR);
	CHECK_INT(nfsappend_path_rename(AT("file"), AT_FDCWD, "/tmp/x"),
		-EXDEV);
	CHECK_INT(nfsappend_path_rename(AT_FDCWD, "/none", AT("x")), -ENOENT);
	CHECK_INT(nfsappend_path_link(AT("dir"), AT("x"), 0), -EPERM);
	CHECK_INT(nfsappend_path_link(AT("file"), AT("other"), 0), -EEXIST);
	CHECK_INT(nfsappend_path_mkdir(AT_FDCWD, "/tmp/x", 0777),
		NFSAPPEND_NOT_OURS);
	CHECK_INT(nfsappend_path_rename(AT_FDCWD, "/a", AT_FDCWD, "/b"),
		NFSAPPEND_NOT_OURS);
	for (int op = FAKE_MKDIR; op <= FAKE_RENAME; op++)
		CHECK_INT(fake_calls(op), 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(answered),
	UNIT_TEST(executed_then_lost),
	UNIT_TEST(lost_then_repeated),
	UNIT_TEST(not_sent_then_repeated),
	UNIT_TEST(late_arrival),
	UNIT_TEST(remade_is_left_alone),
	UNIT_TEST(taken_by_another),
	UNIT_TEST(time_is_over),
	UNIT_TEST(refused),
	UNIT_TEST(what_must_fail),
};

UNIT_MAIN(tests)
