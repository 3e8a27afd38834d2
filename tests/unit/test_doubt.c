/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records in doubt: an answer that was lost, a time-out, a leader that died.
 * Each stands once, or not at all where nobody was told that it does, and
 * nobody else's is harmed. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/process.h"
#include "rig.h"

static void lost(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (int executed = 0; executed < 2; executed++)
			for (unsigned times = 1; times <= 3; times++) {
				rig_again(rig_sharings[m]);
				unit_case("%s, executed %d, %u times",
					rig_sharing_name(rig_sharings[m]),
					executed, times);
				CHECK_INT(rig_append("first\n"), 6);
				FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
					.executed = executed, .times = times);
				CHECK_INT(rig_append("record\n"), 7);
				CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
				/* guarded has read it back instead of sending
				 * it again. */
				if (rig_sharings[m] == NFSAPPEND_GUARDED)
					CHECK_INT(fake_calls(FAKE_WRITE),
						executed ? 2 : 2 + times);
				fake_rules_clear();
				CHECK_INT(rig_append("next\n"), 5);
				CHECK_FILE("first\nrecord\nnext\n");
			}
}

/* Another host's record stands where ours was to be. */
static void lost_and_other_writer(void)
{
	static const char *const others[] = {
		"other\n", "a longer record\n", "x", "record\n"};

	for (unsigned i = 0; i < UNIT_COUNT(others); i++) {
		char want[100];

		rig_again(NFSAPPEND_GUARDED);
		unit_case("not executed, '%s'", others[i]);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.after = others[i]);
		CHECK_INT(rig_append("record\n"), 7);
		/* An identical record cannot be told from ours: read-back
		 * takes it for it, as the documentation says. */
		snprintf(want, sizeof want, "first\n%s%s", others[i],
			!strcmp(others[i], "record\n") ? "" : "record\n");
		CHECK_FILE(want);

		rig_again(NFSAPPEND_GUARDED);
		unit_case("executed, '%s'", others[i]);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.executed = true, .after = others[i]);
		CHECK_INT(rig_append("record\n"), 7);
		snprintf(want, sizeof want, "first\nrecord\n%s", others[i]);
		CHECK_FILE(want);
		CHECK_INT(rig_append("next\n"), 5);
		strcat(want, "next\n");
		CHECK_FILE(want);
	}
}

/* Other writers keep coming in between: ours goes to the end at last. */
static void lost_and_other_writers(void)
{
	rig_start(NFSAPPEND_GUARDED);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .after = "other\n",
		.times = 3);
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_INT(rig_file->stats.conflicts, 3);
	CHECK_FILE("other\nother\nother\nrecord\n");
}

/* Truncated meanwhile: whether it had been in cannot be known, but it is not
 * behind a hole, and not twice. */
static void lost_and_truncated(void)
{
	for (int executed = 0; executed < 2; executed++) {
		rig_again(NFSAPPEND_GUARDED);
		unit_case("executed %d", executed);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.executed = executed);
		FAKE(.op = FAKE_GETATTR, .at = 2, .truncate = true);
		CHECK_INT(rig_append("record\n"), 7);
		CHECK_INT(fake_rules_left(), 0);
		CHECK_FILE("record\n");
	}
}

/* Another host's record is the first line of ours: it is not written over.
 * Only a part that ends in the middle of a line is our own. */
static void lost_and_other_writer_of_a_prefix(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .after = "one\n");
	CHECK_INT(rig_append("one\ntwo\n"), 8);
	CHECK_HAS(rig_log(), "[N303]");
	CHECK_FILE("first\none\none\ntwo\n");
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .executed = true,
		.count = 5);
	CHECK_INT(rig_append("six\nseven\n"), 10);
	CHECK_HAS_NOT(rig_log(), "[N303]");
	CHECK_FILE("first\none\none\ntwo\nsix\nseven\n");
}

/* Only a part got in before the connection broke. */
static void lost_after_a_part(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.executed = true, .count = 3);
		CHECK_INT(rig_append("record\n"), 7);
		CHECK_FILE("first\nrecord\n");
	}
}

/* Read back from the server's cache is not yet on stable storage. */
static void lost_and_only_cached(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.executed = true, .cached = true);
		CHECK_INT(rig_append("record\n"), 7);
		CHECK_FILE("first\nrecord\n");
	}
}

/* ... and the server restarts after it was read: it must be noticed. */
static void lost_cached_and_restarted(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .executed = true,
		.cached = true);
	FAKE(.op = FAKE_READ, .restart = true);
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_FILE("first\nrecord\n");
}

/* Faults on the way to settle one. */
static void faults_while_settling(void)
{
	static const int outcomes[] = {
		NFSAPPEND_UNSENT, NFSAPPEND_LOST, NFSAPPEND_DELAY};
	static const enum fake_op ops[] = {
		FAKE_GETATTR, FAKE_READ, FAKE_COMMIT, FAKE_WRITE};

	for (unsigned o = 0; o < UNIT_COUNT(ops); o++)
		for (unsigned i = 0; i < UNIT_COUNT(outcomes); i++)
			for (int executed = 0; executed < 2; executed++) {
				rig_again(NFSAPPEND_GUARDED);
				unit_case("op %d, outcome %d, executed %d",
					ops[o], outcomes[i], executed);
				CHECK_INT(rig_append("first\n"), 6);
				FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
					.executed = executed);
				FAKE(.op = ops[o], .result = outcomes[i],
					.times = 2,
					.at = ops[o] == FAKE_GETATTR ||
							      ops[o] ==
								      FAKE_WRITE
						      ? 2
						      : 1);
				CHECK_INT(rig_append("record\n"), 7);
				fake_rules_clear();
				CHECK_INT(rig_append("next\n"), 5);
				CHECK_FILE("first\nrecord\nnext\n");
			}
}

static void errors_while_settling(void)
{
	static const int errors[] = {EIO, ESTALE, EACCES, EPERM, ENXIO};

	for (unsigned i = 0; i < UNIT_COUNT(errors); i++)
		for (int executed = 0; executed < 2; executed++) {
			rig_again(NFSAPPEND_GUARDED);
			unit_case("GETATTR errno %d, executed %d", errors[i],
				executed);
			CHECK_INT(rig_append("first\n"), 6);
			FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
				.executed = executed);
			FAKE(.op = FAKE_GETATTR, .at = 2, .result = -errors[i]);
			CHECK_INT(rig_append("record\n"), -errors[i]);
			CHECK_HAS(rig_log(), "may be in the file");
			CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE(executed ? "first\nrecord\nnext\n"
					    : "first\nnext\n");
		}
}

/* A file that we may write but not read: at least once, and it is said. */
static void read_back_is_refused(void)
{
	for (int executed = 0; executed < 2; executed++) {
		rig_again(NFSAPPEND_GUARDED);
		unit_case("executed %d", executed);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
			.executed = executed, .after = "other\n");
		FAKE(.op = FAKE_READ, .result = -EACCES, .times = 9);
		CHECK_INT(rig_append("record\n"), 7);
		CHECK_FILE(executed ? "first\nrecord\nother\nrecord\n"
				    : "first\nother\nrecord\n");
		CHECK_HAS(rig_log(), "[N303]");
	}
	/* Without anybody else's bytes there is no need to read. */
	rig_again(NFSAPPEND_GUARDED);
	unit_case("nothing there");
	FAKE(.op = FAKE_READ, .result = -EACCES, .times = 9);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST);
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_FILE("record\n");
	CHECK_HAS_NOT(rig_log(), "[N303]");
}

static void read_back_in_pieces(void)
{
	char record[3001];

	memset(record, 'r', 3000);
	record[3000] = '\0';
	rig_start(NFSAPPEND_GUARDED);
	rig_file->key.server->contact.rtmax = 1000;
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .executed = true);
	FAKE(.op = FAKE_READ, .count = 7, .times = 2);
	CHECK_INT(rig_append(record), 3000);
	CHECK_INT(fake_calls(FAKE_WRITE), 1);
	CHECK_FILE(record);
}

/* The deadline passes with a WRITE in the air. */
static void timed_out(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (int executed = 0; executed < 2; executed++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, executed %d",
				rig_sharing_name(rig_sharings[m]), executed);
			rig_file->timeout_s = 60;
			CHECK_INT(rig_append("first\n"), 6);
			FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_TIMED_OUT,
				.executed = executed);
			CHECK_INT(rig_append("record\n"), -EIO);
			CHECK_INT(rig_pending(), NFSAPPEND_IN_FLIGHT);
			CHECK_HAS(rig_log(), "may be in the file");
			CHECK_INT(rig_file->stats.errors, 1);
			/* The next one settles it first: a late WRITE would
			 * land on whatever stood there. */
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
			CHECK_FILE("first\nrecord\nnext\n");
			CHECK_HAS(rig_log(), "[N306]");
		}
}

/* ... of a later chunk of a long record: no count, which would make the
 * program send the rest while it may be in. */
static void timed_out_in_a_later_chunk(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (int executed = 0; executed < 2; executed++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, executed %d",
				rig_sharing_name(rig_sharings[m]), executed);
			rig_file->timeout_s = 60;
			rig_file->key.server->contact.wtmax = 4;
			FAKE(.op = FAKE_WRITE, .at = 2,
				.result = NFSAPPEND_TIMED_OUT,
				.executed = executed);
			CHECK_INT(rig_append("0123456789ab"), -EIO);
			CHECK_INT(rig_pending(), NFSAPPEND_IN_FLIGHT);
			CHECK_HAS(rig_log(), "may be in the file");
			rig_file->key.server->contact.wtmax = 1 << 20;
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("01234567next\n");
		}
}

/* The same where the server refuses what would tell. */
static void doubt_in_a_later_chunk(void)
{
	rig_start(NFSAPPEND_GUARDED);
	rig_file->key.server->contact.wtmax = 4;
	FAKE(.op = FAKE_WRITE, .at = 2, .result = NFSAPPEND_LOST,
		.executed = true);
	FAKE(.op = FAKE_GETATTR, .at = 3, .result = -EIO);
	CHECK_INT(rig_append("0123456789ab"), -EIO);
	CHECK_HAS(rig_log(), "may be in the file");
	CHECK_FILE("01234567");
	/* What is refused without a doubt is counted as before. */
	FAKE(.op = FAKE_WRITE, .at = 2, .result = -ENOSPC);
	CHECK_INT(rig_append("cdefghijkl"), 4);
	CHECK_HAS_NOT(rig_log(), "may be in the file");
	CHECK_FILE("01234567cdef");
}

/* Behind a short WRITE, too. */
static void timed_out_behind_a_part(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (int executed = 0; executed < 2; executed++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, executed %d",
				rig_sharing_name(rig_sharings[m]), executed);
			rig_file->timeout_s = 60;
			FAKE(.op = FAKE_WRITE, .count = 3);
			FAKE(.op = FAKE_WRITE, .at = 2,
				.result = NFSAPPEND_TIMED_OUT,
				.executed = executed);
			CHECK_INT(rig_append("record\n"), -EIO);
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("record\nnext\n");
		}
}

/* ... and while it is being settled, by its own call and by the next. */
static void timed_out_again(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (int executed = 0; executed < 2; executed++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, executed %d",
				rig_sharing_name(rig_sharings[m]), executed);
			rig_file->timeout_s = 60;
			CHECK_INT(rig_append("first\n"), 6);
			FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_TIMED_OUT,
				.executed = executed);
			CHECK_INT(rig_append("record\n"), -EIO);
			FAKE(.op = rig_sharings[m] == NFSAPPEND_SINGLE
					   ? FAKE_WRITE
					   : FAKE_GETATTR,
				.result = NFSAPPEND_TIMED_OUT);
			CHECK_INT(rig_append("refused\n"), -EIO);
			CHECK_INT(rig_pending(), NFSAPPEND_IN_FLIGHT);
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("first\nrecord\nnext\n");
			CHECK_INT(rig_file->stats.errors, 2);
			/* Every RPC is counted, those in vain too. */
			CHECK_INT(rig_file->stats.rpcs,
				fake_calls(FAKE_WRITE) +
					fake_calls(FAKE_GETATTR) +
					fake_calls(FAKE_READ) +
					fake_calls(FAKE_COMMIT));
		}
}

static void timed_out_and_other_writer(void)
{
	rig_start(NFSAPPEND_GUARDED);
	rig_file->timeout_s = 60;
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_TIMED_OUT,
		.after = "other\n");
	CHECK_INT(rig_append("record\n"), -EIO);
	/* Not there, and another's is: it was not written, as was said. */
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nother\nnext\n");
}

/* In doubt about a COMMIT: the bytes are in the file. */
static void commit_timed_out(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		rig_file->timeout_s = 60;
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .lesser = 2);
		FAKE(.op = FAKE_COMMIT, .result = NFSAPPEND_TIMED_OUT);
		CHECK_INT(rig_append("record\n"), -EIO);
		CHECK_HAS(rig_log(), "may be in the file");
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("first\nrecord\nnext\n");
	}
}

/* The leader is killed; the next process finds what it left. */
static void killed(const struct fake_rule *rule, const char *want)
{
	for (unsigned m = 0; m < 2; m++) {
		int status;

		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		fake_inject(rule);
		status = rig_append_in_child("record\n");
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
		CHECK_FILE(want);
		CHECK_INT(rig_append_in_child("last\n"), 0);
	}
}

static void killed_before_it_was_sent(void)
{
	killed(&(struct fake_rule){.op = FAKE_WRITE, .death = FAKE_DIE_BEFORE},
		"first\nrecord\nnext\n");
}

static void killed_after_it_was_executed(void)
{
	killed(&(struct fake_rule){.op = FAKE_WRITE, .death = FAKE_DIE_AFTER},
		"first\nrecord\nnext\n");
}

static void killed_after_a_part_was_executed(void)
{
	killed(
		&(struct fake_rule){
			.op = FAKE_WRITE, .count = 3, .death = FAKE_DIE_AFTER},
		"first\nrecord\nnext\n");
}

/* Between a short WRITE and the rest. */
static void killed_behind_a_part(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .count = 3);
		FAKE(.op = FAKE_WRITE, .at = 2, .death = FAKE_DIE_BEFORE);
		CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("first\nrecord\nnext\n");
	}
}

/* The one who settles it meets the short WRITE. */
static void killed_and_a_part_follows(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .death = FAKE_DIE_BEFORE);
		CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
		FAKE(.op = FAKE_WRITE, .count = 3, .times = 2);
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("first\nrecord\nnext\n");
	}
}

/* What the segment says of a record of which a part is in: sent, if nobody
 * has come between and it makes sense. */
static void rest_of_a_dead_one(void)
{
	static const struct {
		uint64_t staged, landed, end;
		const char *want;
	} cases[] = {
		{7, 3, 9, "first\nrecord\nnext\n"},
		{7, 3, 8, "first\nrecnext\n"}, /* not the end any more */
		{7, 7, 9, "first\nrecnext\n"},
		{7, 0, 9, "first\nrecnext\n"},
		{UINT64_MAX, 3, 9, "first\nrecnext\n"},
		{NFSAPPEND_STAGE_MAX + 1, 3, 9, "first\nrecnext\n"},
		{3, UINT64_MAX, 9, "first\nrecnext\n"},
	};

	for (unsigned m = 0; m < 2; m++)
		for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
			struct nfsappend_segment *s;

			rig_again(rig_sharings[m]);
			unit_case("%s, %u", rig_sharing_name(rig_sharings[m]),
				i);
			CHECK_INT(rig_append("first\nrec"), 9);
			s = rig_file->segment.shared;
			memcpy(s->stage, "record\n", 7);
			s->staged = cases[i].staged;
			s->landed = cases[i].landed;
			s->landed_end = cases[i].end;
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_INT(s->staged, 0);
			CHECK_FILE(cases[i].want);
		}
}

static void killed_before_it_was_staged(void)
{
	int status;

	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_GETATTR, .death = FAKE_DIE_AFTER);
	status = rig_append_in_child("record\n");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nnext\n");
}

static void killed_and_other_writer(void)
{
	static const struct {
		enum fake_death death;
		bool executed;
		const char *want;
	} cases[] = {
		{FAKE_DIE_AFTER, true, "first\nrecord\nother\nnext\n"},
		{FAKE_DIE_AFTER, false, "first\nother\nnext\n"},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		int status;

		rig_again(NFSAPPEND_GUARDED);
		unit_case("executed %d", cases[i].executed);
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE,
			.result = cases[i].executed ? 0 : NFSAPPEND_LOST,
			.death = cases[i].death, .after = "other\n");
		status = rig_append_in_child("record\n");
		CHECK(WIFSIGNALED(status));
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE(cases[i].want);
	}
}

static void killed_before_commit(void)
{
	for (unsigned m = 0; m < 2; m++) {
		int status;

		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .lesser = 2);
		FAKE(.op = FAKE_COMMIT, .death = FAKE_DIE_BEFORE);
		status = rig_append_in_child("record\n");
		CHECK(WIFSIGNALED(status));
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("first\nrecord\nnext\n");
	}
}

/* One after the other dies of the same record. */
static void killed_while_settling(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		for (int i = 0; i < 3; i++) {
			FAKE(.op = FAKE_WRITE, .death = FAKE_DIE_BEFORE);
			CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
		}
		FAKE(.op = FAKE_WRITE, .death = FAKE_DIE_AFTER);
		CHECK(WIFSIGNALED(rig_append_in_child("never\n")));
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("first\nrecord\nnext\n");
	}
}

/* The record moves to a new end, and its writer dies on the way. */
static void killed_after_moving_on(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .after = "other\n");
	FAKE(.op = FAKE_WRITE, .at = 2, .death = FAKE_DIE_BEFORE);
	CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nother\nrecord\nnext\n");
}

/* In the second WRITE of a long record: a prefix, as documented, and the
 * part that was staged. */
static void killed_in_a_long_record(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		rig_file->key.server->contact.wtmax = 4;
		FAKE(.op = FAKE_WRITE, .at = 2, .death = FAKE_DIE_BEFORE);
		CHECK(WIFSIGNALED(rig_append_in_child("0123456789ab")));
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("01234567next\n");
		rig_file->key.server->contact.wtmax = 1 << 20;
	}
}

/* Errors while a dead one's record is settled: it is given up, and the living
 * one's append goes on. */
static void settling_for_another_fails(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("first\n"), 6);
		FAKE(.op = FAKE_WRITE, .death = FAKE_DIE_BEFORE);
		CHECK(WIFSIGNALED(rig_append_in_child("record\n")));
		FAKE(.op = FAKE_WRITE, .result = -ENOSPC);
		CHECK_INT(rig_append("n\n"), 2);
		CHECK_FILE("first\nn\n");
	}
}

/* What a segment says is checked: it is shared, and may be scribbled on. */
static void nonsense_in_the_segment(void)
{
	static const struct {
		uint32_t pending, len;
	} cases[] = {{NFSAPPEND_IN_FLIGHT, 0},
		{NFSAPPEND_IN_FLIGHT, UINT32_MAX},
		{NFSAPPEND_IN_FLIGHT, NFSAPPEND_STAGE_MAX + 1}, {77, 5}};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		struct nfsappend_segment *s;

		rig_again(NFSAPPEND_GUARDED);
		unit_case("%u", i);
		s = rig_file->segment.shared;
		s->pending = cases[i].pending;
		s->pending_len = cases[i].len;
		s->pending_offset = 3;
		s->allocated = UINT64_MAX;
		CHECK_INT(rig_append("record\n"), 7);
		CHECK_FILE("record\n");
	}
}

/* pwrite() without O_APPEND is sent again at its place, and says nothing on
 * where the end is. */
static void write_at_in_doubt(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (int how = 0; how < 3; how++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, %d", rig_sharing_name(rig_sharings[m]),
				how);
			rig_file->timeout_s = 60;
			CHECK_INT(rig_append("0123456789\n"), 11);
			if (how == 0) {
				FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST,
					.times = 2);
				CHECK_INT(rig_pwrite("xyz", 2), 3);
			} else {
				FAKE(.op = FAKE_WRITE,
					.result = NFSAPPEND_TIMED_OUT,
					.executed = how == 2);
				CHECK_INT(rig_pwrite("xyz", 2), -EIO);
				CHECK_INT(
					rig_pending(), NFSAPPEND_IN_FLIGHT_AT);
			}
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("01xyz56789\nnext\n");
		}
}

static void write_at_killed(void)
{
	for (unsigned m = 0; m < 2; m++) {
		pid_t pid;

		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("0123456789\n"), 11);
		FAKE(.op = FAKE_WRITE, .death = FAKE_DIE_BEFORE);
		fflush(stdout);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0)
			exit(rig_pwrite("xyz", 2) == 3 ? 0 : 1);
		CHECK(WIFSIGNALED(unit_wait(pid)));
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("01xyz56789\nnext\n");
	}
}

/* A leader that is stopped is not pushed aside: EIO in time. */
static void leader_is_stopped(void)
{
	int reached[2], status;
	pid_t pid;
	char c;

	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	CHECK_INT(pipe(reached), 0);
	FAKE(.op = FAKE_WRITE, .reached = &reached[1]);
	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		exit(rig_append("record\n") == 7 ? 0 : 1);
	CHECK_INT(read(reached[0], &c, 1), 1);
	CHECK_INT(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	rig_file->timeout_s = 1;
	CHECK_INT(rig_append("refused\n"), -EIO);
	CHECK_HAS(rig_log(), "did not finish in time");
	CHECK_INT(kill(pid, SIGCONT), 0);
	CHECK_INT(unit_wait(pid), 0);
	rig_file->timeout_s = 0;
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nrecord\nnext\n");
}

static const struct unit_test tests[] = {
	UNIT_TEST(lost),
	UNIT_TEST(lost_and_other_writer),
	UNIT_TEST(lost_and_other_writers),
	UNIT_TEST(lost_and_truncated),
	UNIT_TEST(lost_and_other_writer_of_a_prefix),
	UNIT_TEST(lost_after_a_part),
	UNIT_TEST(lost_and_only_cached),
	UNIT_TEST(lost_cached_and_restarted),
	UNIT_TEST(faults_while_settling),
	UNIT_TEST(errors_while_settling),
	UNIT_TEST(read_back_is_refused),
	UNIT_TEST(read_back_in_pieces),
	UNIT_TEST(timed_out),
	UNIT_TEST(timed_out_in_a_later_chunk),
	UNIT_TEST(doubt_in_a_later_chunk),
	UNIT_TEST(timed_out_behind_a_part),
	UNIT_TEST(timed_out_again),
	UNIT_TEST(timed_out_and_other_writer),
	UNIT_TEST(commit_timed_out),
	UNIT_TEST(killed_before_it_was_sent),
	UNIT_TEST(killed_after_it_was_executed),
	UNIT_TEST(killed_after_a_part_was_executed),
	UNIT_TEST(killed_behind_a_part),
	UNIT_TEST(killed_and_a_part_follows),
	UNIT_TEST(rest_of_a_dead_one),
	UNIT_TEST(killed_before_it_was_staged),
	UNIT_TEST(killed_and_other_writer),
	UNIT_TEST(killed_before_commit),
	UNIT_TEST(killed_while_settling),
	UNIT_TEST(killed_after_moving_on),
	UNIT_TEST(killed_in_a_long_record),
	UNIT_TEST(settling_for_another_fails),
	UNIT_TEST(nonsense_in_the_segment),
	UNIT_TEST(write_at_in_doubt),
	UNIT_TEST(write_at_killed),
	UNIT_TEST(leader_is_stopped),
};

UNIT_MAIN(tests)
