/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The append: what the server answers, one step at a time. What is in doubt
 * has a file of its own (test_doubt.c). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/errname.h"
#include "core/process.h"
#include "rig.h"

static const int errors[] = {EPERM, EIO, ENXIO, EACCES, EINVAL, EFBIG, ENOSPC,
	EROFS, EDQUOT, ESTALE};

static void plain(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append("one\n"), 4);
		CHECK_INT(rig_append("two\n"), 4);
		CHECK_INT(rig_append("three\n"), 6);
		CHECK_FILE("one\ntwo\nthree\n");
		CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
		CHECK_INT(fake_calls(FAKE_WRITE), 3);
		/* single asks once, guarded each time. */
		CHECK_INT(fake_calls(FAKE_GETATTR),
			rig_sharings[m] == NFSAPPEND_SINGLE ? 1 : 3);
		CHECK_INT(fake_calls(FAKE_COMMIT), 0);
		CHECK_INT(rig_file->stats.appends, 3);
		CHECK_INT(rig_file->stats.bytes, 14);
		CHECK_INT(rig_file->stats.write_rpcs, 3);
		CHECK_INT(rig_file->stats.rpcs,
			rig_sharings[m] == NFSAPPEND_SINGLE ? 4 : 6);
		CHECK_INT(rig_file->stats.errors, 0);
		CHECK_INT(rig_file->stats.retries, 0);
		CHECK_STR(rig_log(), "");
	}
}

/* The size that open() has just seen saves the first GETATTR. */
static void hint_in_single(void)
{
	struct nfsappend_guard guard;
	struct nfsappend_attr attr;

	rig_start(NFSAPPEND_SINGLE);
	fake_append(rig_node, "old\n", 4);
	attr = *fake_attr(rig_node);
	nfsappend_guard_enter(&guard);
	nfsappend_file_hint(rig_file, &attr);
	nfsappend_guard_leave(&guard);
	CHECK_INT(rig_append("new\n"), 4);
	CHECK_INT(fake_calls(FAKE_GETATTR), 0);
	CHECK_FILE("old\nnew\n");
	/* Attributes from before that append are a lie by now. */
	nfsappend_guard_enter(&guard);
	nfsappend_file_hint(rig_file, &attr);
	nfsappend_guard_leave(&guard);
	CHECK_INT(rig_append("newer\n"), 6);
	CHECK_FILE("old\nnew\nnewer\n");
}

static void hint_is_not_for_guarded(void)
{
	struct nfsappend_guard guard;
	struct nfsappend_attr attr;

	rig_start(NFSAPPEND_GUARDED);
	attr = *fake_attr(rig_node);
	nfsappend_guard_enter(&guard);
	nfsappend_file_hint(rig_file, &attr);
	nfsappend_guard_leave(&guard);
	fake_append(rig_node, "other\n", 6);
	CHECK_INT(rig_append("mine\n"), 5);
	CHECK_FILE("other\nmine\n");
}

static void other_writers_end(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("one\n"), 4);
	fake_append(rig_node, "other\n", 6);
	CHECK_INT(rig_append("two\n"), 4);
	CHECK_INT(rig_file->stats.conflicts, 1);
	fake_truncate(rig_node, 4);
	CHECK_INT(rig_append("three\n"), 6);
	CHECK_INT(rig_file->stats.conflicts, 2);
	CHECK_FILE("one\nthree\n");
}

/* An error is the program's, and nothing is left behind. */
static void expect_error(const char *step, enum nfsappend_sharing sharing,
	int error, const char *after)
{
	const char *log;

	unit_case("%s, %s, errno %d", rig_sharing_name(sharing), step, error);
	CHECK_INT(rig_append("record\n"), -error);
	CHECK_INT(fake_rules_left(), 0);
	CHECK_FILE(after);
	CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
	CHECK_INT(rig_file->stats.errors, 1);
	log = rig_log();
	CHECK_HAS(log, "[N301]");
	CHECK_HAS(log, "/logs/x");
	CHECK_HAS(log, nfsappend_strerror(error));
}

static void (*error_case)(enum nfsappend_sharing, int error);

static void all_errors(void *sharing)
{
	for (unsigned i = 0; i < UNIT_COUNT(errors); i++) {
		rig_again(*(enum nfsappend_sharing *)sharing);
		error_case(*(enum nfsappend_sharing *)sharing, errors[i]);
	}
}

/* A process for each mode: so many messages of a kind are shown, no more. */
static void each_error(void (*fn)(enum nfsappend_sharing, int error))
{
	error_case = fn;
	for (unsigned m = 0; m < 2; m++) {
		enum nfsappend_sharing sharing = rig_sharings[m];

		CHECK_INT(unit_wait(unit_fork(all_errors, &sharing)), 0);
	}
}

static void error_of_getattr(enum nfsappend_sharing sharing, int error)
{
	fake_append(rig_node, "first\n", 6);
	FAKE(.op = FAKE_GETATTR, .result = -error);
	expect_error("GETATTR", sharing, error, "first\n");
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nnext\n");
}

static void errors_of_getattr(void)
{
	each_error(error_of_getattr);
}

static void error_of_write(enum nfsappend_sharing sharing, int error)
{
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .result = -error);
	expect_error("WRITE", sharing, error, "first\n");
	/* single no longer trusts the size it knew. */
	fake_append(rig_node, "other\n", 6);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nother\nnext\n");
}

static void errors_of_write(void)
{
	each_error(error_of_write);
}

static void error_of_commit(enum nfsappend_sharing sharing, int error)
{
	size_t len;

	unit_case("%s, COMMIT, errno %d", rig_sharing_name(sharing), error);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .lesser = 2);
	FAKE(.op = FAKE_COMMIT, .result = -error);
	CHECK_INT(rig_append("record\n"), -error);
	CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
	CHECK_HAS(rig_log(), nfsappend_strerror(error));
	/* It is in the file, but no promise was made. */
	fake_content(rig_node, &len);
	CHECK_INT(len, 13);
	CHECK_INT(fake_stable(rig_node), 6);
	fake_truncate(rig_node, 6);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nnext\n");
}

static void errors_of_commit(void)
{
	each_error(error_of_commit);
}

/* The same error again and again is one message; a success ends that. */
static void one_message_a_fault(void)
{
	rig_start(NFSAPPEND_GUARDED);
	FAKE(.op = FAKE_WRITE, .result = -ENOSPC, .times = 3);
	CHECK_INT(rig_append("a\n"), -ENOSPC);
	CHECK_HAS(rig_log(), "ENOSPC");
	CHECK_INT(rig_append("a\n"), -ENOSPC);
	CHECK_INT(rig_append("a\n"), -ENOSPC);
	CHECK_STR(rig_log(), "");
	CHECK_INT(rig_file->stats.errors, 3);
	CHECK_INT(rig_append("a\n"), 2);
	FAKE(.op = FAKE_WRITE, .result = -ENOSPC);
	CHECK_INT(rig_append("b\n"), -ENOSPC);
	CHECK_HAS(rig_log(), "ENOSPC");
	CHECK_FILE("a\n");
}

/* DELAY and UNSENT: not executed, so the same again until it is. */
static void not_executed(void)
{
	static const int outcomes[] = {NFSAPPEND_DELAY, NFSAPPEND_UNSENT};
	static const struct {
		enum fake_op op;
		const char *name;
	} ops[] = {{FAKE_GETATTR, "GETATTR"}, {FAKE_WRITE, "WRITE"},
		{FAKE_COMMIT, "COMMIT"}};

	for (unsigned m = 0; m < 2; m++)
		for (unsigned i = 0; i < UNIT_COUNT(ops); i++)
			for (unsigned k = 0; k < UNIT_COUNT(outcomes); k++) {
				rig_again(rig_sharings[m]);
				unit_case("%s, %s, outcome %d",
					rig_sharing_name(rig_sharings[m]),
					ops[i].name, outcomes[k]);
				FAKE(.op = ops[i].op, .result = outcomes[k],
					.times = 3);
				if (ops[i].op == FAKE_COMMIT)
					FAKE(.op = FAKE_WRITE, .lesser = 2);
				CHECK_INT(rig_append("record\n"), 7);
				CHECK_INT(fake_rules_left(), 0);
				CHECK_INT(fake_calls(FAKE_READ), 0);
				CHECK_INT(rig_file->stats.retries,
					ops[i].op == FAKE_WRITE ? 3 : 0);
				CHECK_INT(rig_append("next\n"), 5);
				CHECK_FILE("record\nnext\n");
			}
}

/* Where the deadline passes before anything could be in the file, the record
 * is not kept for later: the program has been told EIO. */
static void too_late_but_not_in_doubt(void)
{
	static const struct {
		enum fake_op op;
		int result;
	} cases[] = {{FAKE_GETATTR, NFSAPPEND_UNSENT},
		{FAKE_GETATTR, NFSAPPEND_DELAY}, {FAKE_GETATTR, NFSAPPEND_LOST},
		{FAKE_GETATTR, NFSAPPEND_TIMED_OUT},
		{FAKE_WRITE, NFSAPPEND_UNSENT}, {FAKE_WRITE, NFSAPPEND_DELAY}};

	for (unsigned m = 0; m < 2; m++)
		for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
			rig_again(rig_sharings[m]);
			unit_case(
				"%s, %u", rig_sharing_name(rig_sharings[m]), i);
			rig_file->timeout_s = 60;
			fake_append(rig_node, "first\n", 6);
			FAKE(.op = cases[i].op, .result = cases[i].result,
				.late = true);
			CHECK_INT(rig_append("record\n"), -EIO);
			CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
			CHECK_HAS_NOT(rig_log(), "[N302]");
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("first\nnext\n");
		}
}

/* A final answer that comes late is still the answer. */
static void late_answer(void)
{
	rig_start(NFSAPPEND_GUARDED);
	rig_file->timeout_s = 60;
	FAKE(.op = FAKE_WRITE, .result = -ENOSPC, .late = true);
	CHECK_INT(rig_append("record\n"), -ENOSPC);
	CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
	FAKE(.op = FAKE_WRITE, .late = true);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("next\n");
}

static void short_writes(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		FAKE(.op = FAKE_WRITE, .count = 3, .times = 3);
		CHECK_INT(rig_append("0123456789\n"), 11);
		CHECK_INT(fake_calls(FAKE_WRITE), 4);
		CHECK_INT(rig_file->stats.appends, 1);
		CHECK_INT(rig_file->stats.bytes, 11);
		CHECK_FILE("0123456789\n");
	}
}

/* A record is never torn round another's: what is written is counted. */
static void other_writer_after_a_short_write(void)
{
	rig_start(NFSAPPEND_GUARDED);
	FAKE(.op = FAKE_WRITE, .count = 3, .after = "other\n");
	CHECK_INT(rig_append("0123456789\n"), 3);
	CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("012other\nnext\n");
}

static void error_after_a_part(void)
{
	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		FAKE(.op = FAKE_WRITE, .count = 4);
		FAKE(.op = FAKE_WRITE, .at = 2, .result = -ENOSPC);
		CHECK_INT(rig_append("0123456789\n"), 4);
		CHECK_INT(rig_file->stats.bytes, 4);
		CHECK_HAS(rig_log(), "ENOSPC");
		FAKE(.op = FAKE_WRITE, .result = -ENOSPC);
		CHECK_INT(rig_append("456789\n"), -ENOSPC);
		CHECK_INT(rig_append("456789\n"), 7);
		CHECK_FILE("0123456789\n");
	}
}

static void less_than_file_sync(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (unsigned lesser = 1; lesser <= 2; lesser++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, lesser %u",
				rig_sharing_name(rig_sharings[m]), lesser);
			CHECK_INT(rig_append("first\n"), 6);
			FAKE(.op = FAKE_WRITE, .lesser = lesser);
			CHECK_INT(rig_append("record\n"), 7);
			CHECK_INT(fake_calls(FAKE_COMMIT), 1);
			CHECK_FILE("first\nrecord\n");
		}
}

/* The server restarts between WRITE and COMMIT: what it had is written
 * again. */
static void changed_verifier(void)
{
	for (unsigned m = 0; m < 2; m++)
		for (unsigned times = 1; times <= 3; times++) {
			rig_again(rig_sharings[m]);
			unit_case("%s, %u restarts",
				rig_sharing_name(rig_sharings[m]), times);
			CHECK_INT(rig_append("first\n"), 6);
			FAKE(.op = FAKE_WRITE, .lesser = 2, .restart = true,
				.times = times);
			CHECK_INT(rig_append("record\n"), 7);
			CHECK_INT(fake_rules_left(), 0);
			CHECK_INT(rig_file->stats.retries, times);
			CHECK_INT(rig_append("next\n"), 5);
			CHECK_FILE("first\nrecord\nnext\n");
		}
}

/* ... and meanwhile somebody else appended where it was. */
static void changed_verifier_and_other_writer(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	FAKE(.op = FAKE_WRITE, .lesser = 2, .restart = true,
		.after = "other record\n");
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_FILE("first\nother record\nrecord\n");
}

/* A part that the server had only in its cache, with the verifier changed
 * although nothing was lost. */
static void changed_verifier_nothing_lost(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("first\n"), 6);
	/* The restart happens behind the COMMIT, which had written it. */
	FAKE(.op = FAKE_WRITE, .lesser = 2);
	FAKE(.op = FAKE_COMMIT, .result = NFSAPPEND_LOST, .executed = true,
		.restart = true);
	CHECK_INT(rig_append("record\n"), 7);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("first\nrecord\nnext\n");
}

static char *pattern(size_t n)
{
	char *p = unit_alloc(n);

	for (size_t i = 0; i < n; i++)
		p[i] = (char)('a' + (i / 7 + i / 4099) % 26);
	p[n - 1] = '\n';
	return p;
}

static void check_large(const char *want, size_t n)
{
	size_t len;
	const uint8_t *content = fake_content(rig_node, &len);

	CHECK_MEM(content, len, want, n);
	CHECK_INT(fake_stable(rig_node), n);
}

static void record_of_64_mib(void)
{
	size_t n = (size_t)64 << 20;
	char *record = pattern(n);

	rig_start_large(NFSAPPEND_GUARDED, n + 100);
	CHECK_INT(rig_append_bytes(record, n), n);
	CHECK_INT(fake_calls(FAKE_WRITE), 64);
	check_large(record, n);
	CHECK_INT(rig_file->stats.appends, 1);
	CHECK_INT(rig_append("end\n"), 4);
	CHECK_INT(rig_file->stats.conflicts, 0);
	free(record);
}

static void chunks_of_wtmax(void)
{
	size_t n = 100001;
	char *record = pattern(n);

	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		rig_file->key.server->contact.wtmax = 4096;
		fake_attr(rig_node)->size = 0;
		CHECK_INT(rig_append_bytes(record, 60001), 60001);
		CHECK_INT(fake_calls(FAKE_WRITE), 15);
		check_large(record, 60001);
	}
	free(record);
}

/* Every fault in the middle of a record of several WRITEs. */
static void faults_in_a_later_chunk(void)
{
	static const struct fake_rule rules[] = {
		{.result = NFSAPPEND_UNSENT, .times = 2},
		{.result = NFSAPPEND_DELAY, .times = 2},
		{.result = NFSAPPEND_LOST},
		{.result = NFSAPPEND_LOST, .executed = true},
		{.result = NFSAPPEND_LOST, .executed = true, .count = 100},
		{.lesser = 2, .restart = true},
		{.count = 1},
	};
	char *record = pattern(20000);

	for (unsigned m = 0; m < 2; m++)
		for (unsigned i = 0; i < UNIT_COUNT(rules); i++) {
			struct fake_rule rule = rules[i];

			rig_again(rig_sharings[m]);
			unit_case(
				"%s, %u", rig_sharing_name(rig_sharings[m]), i);
			rig_file->key.server->contact.wtmax = 4096;
			rule.op = FAKE_WRITE;
			rule.at = 3;
			fake_inject(&rule);
			CHECK_INT(rig_append_bytes(record, 20000), 20000);
			CHECK_INT(fake_rules_left(), 0);
			check_large(record, 20000);
		}
	free(record);
}

static void unreadable_in_the_middle(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_INT(mprotect(p + page, (size_t)page, PROT_NONE), 0);
	memset(p, 'x', (size_t)page);
	for (unsigned m = 0; m < 2; m++) {
		struct iovec iov[2] = {{p + page - 5, 5}, {p + page, 5}};
		struct nfsappend_guard guard;
		uint64_t end = 0;
		bool over = false;
		ssize_t r;

		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(rig_append_bytes(p + page, 5), -EFAULT);
		CHECK_FILE("");
		CHECK_INT(rig_append_bytes(p + page - 3, 6), 3);
		CHECK_FILE("xxx");
		nfsappend_guard_enter(&guard);
		r = nfsappend_file_append(
			rig_file, iov, 2, 10, INT64_MAX, &end, &over);
		nfsappend_guard_leave(&guard);
		CHECK_INT(r, 5);
		CHECK_INT(end, 8);
		CHECK_FILE("xxxxxxxx");
		CHECK_INT(rig_pending(), NFSAPPEND_SETTLED);
		CHECK_INT(rig_file->stats.errors, 0);
		CHECK_STR(rig_log(), "");
	}
}

static ssize_t append_below(
	const char *record, uint64_t limit, uint64_t *end, bool *over)
{
	struct iovec iov = {(void *)record, strlen(record)};
	struct nfsappend_guard guard;
	ssize_t r;

	*over = false;
	nfsappend_guard_enter(&guard);
	r = nfsappend_file_append(
		rig_file, &iov, 1, iov.iov_len, limit, end, over);
	nfsappend_guard_leave(&guard);
	return r;
}

static void limit_of_size(void)
{
	uint64_t end;
	bool over;

	for (unsigned m = 0; m < 2; m++) {
		unsigned calls;

		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		CHECK_INT(append_below("01234567", 10, &end, &over), 8);
		CHECK_INT(end, 8);
		CHECK(!over);
		calls = fake_calls(FAKE_GETATTR);
		CHECK_INT(append_below("89ab", 10, &end, &over), 2);
		CHECK_INT(end, 10);
		CHECK(!over);
		/* Short on purpose: nothing more is asked of the server. */
		CHECK(fake_calls(FAKE_GETATTR) - calls <= 1);
		CHECK_INT(append_below("ab", 10, &end, &over), -EFBIG);
		CHECK(over);
		CHECK_INT(append_below("ab", 5, &end, &over), -EFBIG);
		CHECK(over);
		CHECK_INT(append_below("ab", 11, &end, &over), 1);
		CHECK_INT(append_below("b", 12, &end, &over), 1);
		CHECK(!over);
		CHECK_FILE("0123456789ab");
		/* The limit is the program's own: no fault of a server. */
		CHECK_INT(rig_file->stats.errors, 0);
		CHECK_STR(rig_log(), "");
	}
}

/* At the end of a chunk, where the next one meets the limit. */
static void limit_between_chunks(void)
{
	uint64_t end;
	bool over;

	for (unsigned m = 0; m < 2; m++) {
		rig_again(rig_sharings[m]);
		unit_case("%s", rig_sharing_name(rig_sharings[m]));
		rig_file->key.server->contact.wtmax = 4;
		CHECK_INT(append_below("0123456789", 8, &end, &over), 8);
		CHECK_INT(end, 8);
		CHECK(!over);
		CHECK_INT(rig_file->stats.errors, 0);
		CHECK_STR(rig_log(), "");
		CHECK_FILE("01234567");
	}
}

/* EFBIG of the server is a fault of its own, without the program's limit. */
static void server_is_full_by_size(void)
{
	uint64_t end;
	bool over;

	rig_start(NFSAPPEND_GUARDED);
	FAKE(.op = FAKE_WRITE, .result = -EFBIG);
	CHECK_INT(append_below("x", 1000, &end, &over), -EFBIG);
	CHECK(!over);
	CHECK_HAS(rig_log(), "EFBIG");
}

static void end_is_behind_the_own_bytes(void)
{
	uint64_t end = 0;
	bool over;

	rig_start(NFSAPPEND_GUARDED);
	FAKE(.op = FAKE_WRITE, .count = 3, .after = "other\n");
	CHECK_INT(append_below("0123456789", INT64_MAX, &end, &over), 3);
	CHECK_INT(end, 3);
}

/* Many threads of one process: no record lost, torn or twice. */
#define THREADS 4
#define RECORDS 50

static void *appender(void *arg)
{
	char record[32];

	for (int i = 0; i < RECORDS; i++) {
		int n = sprintf(record, "%d %d\n", *(int *)arg, i);

		CHECK_INT(rig_append(record), n);
	}
	return NULL;
}

static void all_there_once(int writers)
{
	static unsigned seen[64][RECORDS];
	size_t len;
	char *text = (char *)fake_content(rig_node, &len);
	unsigned lines = 0;

	for (char *line = text; line < text + len; lines++) {
		int w, i, used = 0;

		CHECK_INT(sscanf(line, "%d %d\n%n", &w, &i, &used), 2);
		CHECK(w >= 0 && w < writers && i >= 0 && i < RECORDS);
		CHECK_INT(seen[w][i], 0);
		CHECK(i == 0 || seen[w][i - 1] == 1);
		seen[w][i] = 1;
		line += used;
	}
	CHECK_INT(lines, writers * RECORDS);
	CHECK_INT(fake_stable(rig_node), len);
}

static void threads(void)
{
	pthread_t id[THREADS];
	int number[THREADS];

	rig_start(NFSAPPEND_GUARDED);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		CHECK_INT(
			pthread_create(&id[i], NULL, appender, &number[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(id[i], NULL), 0);
	all_there_once(THREADS);
	CHECK_INT(rig_file->stats.appends, THREADS * RECORDS);
}

static void child_appender(void *arg)
{
	appender(arg);
}

static void processes(void)
{
	pid_t pid[THREADS];

	rig_start(NFSAPPEND_SINGLE);
	for (int i = 0; i < THREADS; i++)
		pid[i] = unit_fork(child_appender, &i);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(unit_wait(pid[i]), 0);
	all_there_once(THREADS);
	/* The children's figures are the children's. */
	CHECK_INT(rig_file->stats.appends, 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(plain),
	UNIT_TEST(hint_in_single),
	UNIT_TEST(hint_is_not_for_guarded),
	UNIT_TEST(other_writers_end),
	UNIT_TEST(errors_of_getattr),
	UNIT_TEST(errors_of_write),
	UNIT_TEST(errors_of_commit),
	UNIT_TEST(one_message_a_fault),
	UNIT_TEST(not_executed),
	UNIT_TEST(too_late_but_not_in_doubt),
	UNIT_TEST(late_answer),
	UNIT_TEST(short_writes),
	UNIT_TEST(other_writer_after_a_short_write),
	UNIT_TEST(error_after_a_part),
	UNIT_TEST(less_than_file_sync),
	UNIT_TEST(changed_verifier),
	UNIT_TEST(changed_verifier_and_other_writer),
	UNIT_TEST(changed_verifier_nothing_lost),
	UNIT_TEST(record_of_64_mib),
	UNIT_TEST(chunks_of_wtmax),
	UNIT_TEST(faults_in_a_later_chunk),
	UNIT_TEST(unreadable_in_the_middle),
	UNIT_TEST(limit_of_size),
	UNIT_TEST(limit_between_chunks),
	UNIT_TEST(server_is_full_by_size),
	UNIT_TEST(end_is_behind_the_own_bytes),
	UNIT_TEST(threads),
	UNIT_TEST(processes),
};

UNIT_MAIN(tests)
