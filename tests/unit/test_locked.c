/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sharing mode locked: what core makes of what became of a record under the
 * lock. What a server says, and the seqids, are tests/36 and 37. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "core/process.h"
#include "rig.h"

static void plain(void)
{
	rig_start(NFSAPPEND_LOCKED);
	CHECK_INT(rig_append("one\n"), 4);
	CHECK_INT(rig_append("two\n"), 4);
	fake_append(rig_node, "other\n", 6);
	CHECK_INT(rig_append("three\n"), 6);
	CHECK_INT(rig_append_in_child("four\n"), 0);
	CHECK_FILE("one\ntwo\nother\nthree\nfour\n");
	CHECK_INT(fake_calls(FAKE_GETATTR), 0);
	CHECK_STR(rig_log(), "");
}

static void lost(void)
{
	for (int executed = 0; executed < 2; executed++)
		for (unsigned times = 1; times <= 3; times++) {
			rig_again(NFSAPPEND_LOCKED);
			unit_case("executed %d, %u times", executed, times);
			CHECK_INT(rig_append("first\n"), 6);
			FAKE(.op = FAKE_APPEND, .result = NFSAPPEND_LOST,
				.executed = executed, .times = times);
			CHECK_INT(rig_append("record\n"), 7);
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("first\nrecord\nnext\n");
		}
}

static void short_writes(void)
{
	rig_start(NFSAPPEND_LOCKED);
	FAKE(.op = FAKE_APPEND, .count = 3, .times = 2);
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_FILE("record\n");
	/* Another host between the parts: the count. */
	FAKE(.op = FAKE_APPEND, .count = 3, .after = "other\n");
	CHECK_INT(rig_append("record\n"), 3);
	CHECK_INT(rig_append("ord\n"), 4);
	CHECK_FILE("record\nrecother\nord\n");
}

/* The server has restarted: the file tells, and what it has is committed
 * before it counts. */
static void state_lost(void)
{
	static const struct {
		bool executed, cached;
		uint32_t count;
		const char *after, *want;
	} cases[] = {
		{true, false, 0, NULL, "first\nrecord\nnext\n"},
		{true, true, 0, NULL, "first\nrecord\nnext\n"},
		{true, true, 3, NULL, "first\nrecord\nnext\n"},
		{true, false, 3, NULL, "first\nrecord\nnext\n"},
		{false, false, 0, NULL, "first\nrecord\nnext\n"},
		{false, false, 0, "other\n", "first\nother\nrecord\nnext\n"},
		{true, false, 0, "other\n", "first\nrecord\nother\nnext\n"},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		rig_again(NFSAPPEND_LOCKED);
		unit_case("%u", i);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_APPEND, .result = NFSAPPEND_LOST,
			.executed = cases[i].executed,
			.cached = cases[i].cached, .count = cases[i].count,
			.after = cases[i].after);
		FAKE(.op = FAKE_APPEND, .at = 2,
			.result = NFSAPPEND_STATE_LOST);
		CHECK_INT(rig_append("record\n"), 7);
		CHECK_INT(fake_rules_left(), 0);
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE(cases[i].want);
	}
}

/* Another host's record is the first line of ours. */
static void state_lost_and_a_prefix(void)
{
	rig_start(NFSAPPEND_LOCKED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_APPEND, .result = NFSAPPEND_LOST, .after = "one\n");
	FAKE(.op = FAKE_APPEND, .at = 2, .result = NFSAPPEND_STATE_LOST);
	CHECK_INT(rig_append("one\ntwo\n"), 8);
	CHECK_HAS(rig_log(), "[N303]");
	CHECK_FILE("first\none\none\ntwo\n");
}

/* ... and the file has another name by now, its own being free, or another
 * file's: what can be found out of the record in doubt is, and the program is
 * told of the rest. */
static void state_lost_for_good(void)
{
	static const struct {
		bool executed, replaced;
		int error; /* of what would tell */
		int result;
	} cases[] = {
		{true, false, 0, 7},
		{false, false, 0, -ESTALE},
		{true, false, -EIO, -EIO},
		{true, true, 0, 7},
		{false, true, 0, -ESTALE},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		const char *log;
		struct nfsappend_fh top = fake_handle(0);

		rig_again(NFSAPPEND_LOCKED);
		unit_case("%u", i);
		CHECK_INT(rig_append("first\n"), 6);
		rig_log();
		FAKE(.op = FAKE_APPEND, .result = NFSAPPEND_LOST,
			.executed = cases[i].executed);
		FAKE(.op = FAKE_APPEND, .at = 2,
			.result = NFSAPPEND_STATE_LOST);
		if (cases[i].replaced) {
			fake_add(0, "another", NFSAPPEND_REG, 0644, 16);
			nfsappend_file_name(rig_file, &top, "another");
		} else {
			FAKE(.op = FAKE_OPEN, .result = -ENOENT);
		}
		if (cases[i].error != 0)
			FAKE(.op = FAKE_GETATTR, .result = cases[i].error);
		CHECK_INT(rig_append("record\n"), cases[i].result);
		log = rig_log();
		if (cases[i].error != 0)
			CHECK_HAS(log, "may be in the file");
		else
			CHECK_HAS_NOT(log, "may be in the file");
		if (!cases[i].replaced)
			CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE(cases[i].replaced   ? cases[i].executed
							 ? "first\nrecord\n"
							 : "first\n"
			   : cases[i].executed ? "first\nrecord\nnext\n"
					       : "first\nnext\n");
	}
}

static void timed_out(void)
{
	for (int executed = 0; executed < 2; executed++) {
		rig_again(NFSAPPEND_LOCKED);
		unit_case("executed %d", executed);
		rig_file->timeout_s = 60;
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_APPEND, .result = NFSAPPEND_TIMED_OUT,
			.executed = executed);
		CHECK_INT(rig_append("record\n"), -EIO);
		CHECK_HAS(rig_log(), "may be in the file");
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("first\nrecord\nnext\n");
	}
}

/* In a later chunk, and behind a short WRITE: no count. */
static void timed_out_behind_a_part(void)
{
	for (int executed = 0; executed < 2; executed++) {
		rig_again(NFSAPPEND_LOCKED);
		unit_case("chunk, executed %d", executed);
		rig_file->timeout_s = 60;
		rig_file->key.server->contact.wtmax = 4;
		FAKE(.op = FAKE_APPEND, .at = 2, .result = NFSAPPEND_TIMED_OUT,
			.executed = executed);
		CHECK_INT(rig_append("0123456789ab"), -EIO);
		rig_file->key.server->contact.wtmax = 1 << 20;
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("01234567next\n");

		rig_again(NFSAPPEND_LOCKED);
		unit_case("short, executed %d", executed);
		rig_file->timeout_s = 60;
		FAKE(.op = FAKE_APPEND, .count = 3);
		FAKE(.op = FAKE_APPEND, .at = 2, .result = NFSAPPEND_TIMED_OUT,
			.executed = executed);
		CHECK_INT(rig_append("record\n"), -EIO);
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("record\nnext\n");
	}
}

/* Whoever comes next ends what is under way, and sends the rest of a short
 * WRITE, unless another host has come between. */
static void killed(void)
{
	static const struct {
		unsigned at;
		uint32_t count;
		enum fake_death death;
		const char *after, *want;
	} cases[] = {
		{1, 0, FAKE_DIE_BEFORE, NULL, "first\nrecord\nnext\n"},
		{1, 0, FAKE_DIE_AFTER, NULL, "first\nrecord\nnext\n"},
		{2, 3, FAKE_DIE_BEFORE, NULL, "first\nrecord\nnext\n"},
		{2, 3, FAKE_DIE_AFTER, NULL, "first\nrecord\nnext\n"},
		{2, 3, FAKE_DIE_BEFORE, "other\n", "first\nrecother\nnext\n"},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		int status;

		rig_again(NFSAPPEND_LOCKED);
		unit_case("%u", i);
		CHECK_INT(rig_append("first\n"), 6);
		if (cases[i].count != 0)
			FAKE(.op = FAKE_APPEND, .count = cases[i].count,
				.after = cases[i].after);
		FAKE(.op = FAKE_APPEND, .at = cases[i].at,
			.death = cases[i].death);
		status = rig_append_in_child("record\n");
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE(cases[i].want);
	}
}

/* The rest of a dead one, where nothing is under way any more. */
static void rest_of_a_dead_one(void)
{
	struct nfsappend_segment *s;

	rig_start(NFSAPPEND_LOCKED);
	CHECK_INT(rig_append("first\nrec"), 9);
	s = rig_file->segment.shared;
	memcpy(s->stage, "record\n", 7);
	s->staged = 7;
	s->landed = 3;
	s->landed_end = 9;
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nrecord\nnext\n");
}

/* It had its answer, and died before the COMMIT. */
static void killed_before_commit(void)
{
	rig_start(NFSAPPEND_LOCKED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_APPEND, .lesser = 2);
	FAKE(.op = FAKE_COMMIT, .death = FAKE_DIE_BEFORE);
	CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nrecord\nnext\n");
}

static const struct unit_test tests[] = {
	UNIT_TEST(plain),
	UNIT_TEST(lost),
	UNIT_TEST(short_writes),
	UNIT_TEST(state_lost),
	UNIT_TEST(state_lost_and_a_prefix),
	UNIT_TEST(state_lost_for_good),
	UNIT_TEST(timed_out),
	UNIT_TEST(timed_out_behind_a_part),
	UNIT_TEST(killed),
	UNIT_TEST(rest_of_a_dead_one),
	UNIT_TEST(killed_before_commit),
};

UNIT_MAIN(tests)
