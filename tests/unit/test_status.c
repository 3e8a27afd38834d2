/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nfsappend-status makes of host segments, true ones and others. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/json.h"
#include "core/segment_file.h"
#include "read_json.h"
#include "rig.h"
#include "status/show.h"

static struct nfsappend_found found;

/* The output of one of the two; good until the next call. */
static const char *shown(void (*show)(FILE *, const struct nfsappend_found *))
{
	static char *text;
	size_t len;
	FILE *f;

	free(text);
	f = open_memstream(&text, &len);
	CHECK(f != NULL);
	show(f, &found);
	fclose(f);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c != '\n' && (c < 0x20 || c == 0x7f))
			unit_fail(__FILE__, __LINE__,
				"a control character at %zu of: %s", i, text);
	}
	return text;
}

static const char *table(void)
{
	return shown(nfsappend_show_table);
}

static const char *json(void)
{
	const char *text = shown(nfsappend_show_json), *end = read_json(text);

	CHECK(end != NULL);
	CHECK_STR(end, "\n");
	return text;
}

static void find(void)
{
	nfsappend_status_forget(&found);
	nfsappend_status_find(nfsappend_config.runtime, &found);
}

static void quoted(void)
{
	static const struct {
		const char *text, *json, *plain;
	} cases[] = {
		{"", "\"\"", ""},
		{"/logs/x", "\"/logs/x\"", "/logs/x"},
		{"a\"b\\c", "\"a\\\"b\\\\c\"", "a\"b\\c"},
		{"\033[2J\n\t", "\"\\u001b[2J\\u000a\\u0009\"", "?[2J??"},
		{"\177", "\"\\u007f\"", "?"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
			"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xc2\x9b", "\"\\u009b\"", "?"},	       /* CSI */
		{"a\xff", "\"a\\ufffd\"", "a?"},	       /* no UTF-8 */
		{"\xc0\xaf", "\"\\ufffd\\ufffd\"", "??"},      /* overlong */
		{"\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"", "???"},
		{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"", "???"},
		{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"",
			"????"},
		{"\xe2\x82", "\"\\ufffd\\ufffd\"", "??"},      /* cut short */
	};
	char out[100];

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		unit_case("%u", i);
		CHECK_INT(nfsappend_json_quote(out, sizeof out, cases[i].text),
			strlen(cases[i].json));
		CHECK_STR(out, cases[i].json);
		CHECK_STR(nfsappend_plain_text(out, sizeof out, cases[i].text),
			cases[i].plain);
	}
}

/* Whatever the room: a string, and no half of a character. */
static void quoted_in_little_room(void)
{
	for (size_t room = 3; room < 40; room++) {
		char *out = unit_alloc(room);
		size_t n = nfsappend_json_quote(
			out, room, "\001\001\xe2\x82\xac\"\"\xe2\x82\xac");

		unit_case("room %zu", room);
		CHECK(n >= 2 && n < room);
		CHECK(out[0] == '"' && out[n - 1] == '"' && out[n] == '\0');
		CHECK(out[n - 2] != '\\' || n == 2 || out[n - 3] == '\\');
		nfsappend_plain_text(out, room, "\xe2\x82\xac\xe2\x82\xac");
		CHECK(strlen(out) % 3 == 0 && strlen(out) < room);
		free(out);
	}
}

static void times(void)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {
		{0, "0us"},
		{999, "999us"},
		{1000, "1.0ms"},
		{9999, "9.9ms"},
		{10000, "10ms"},
		{999999, "999ms"},
		{1500000, "1.5s"},
		{59999999, "59s"},
		{60000000, "1.0min"},
		{3600000000, "1.0h"},
		{UINT64_C(86400000000), "1.0d"},
		{UINT64_MAX, ">99999d"},
	};
	char out[16];

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++)
		CHECK_STR(nfsappend_show_time(out, cases[i].us), cases[i].text);
	for (int bit = 0; bit < 64; bit++)
		CHECK(strlen(nfsappend_show_time(
			      out, (UINT64_C(1) << bit) - 1)) <= 7);
}

static void a_file(void)
{
	const struct nfsappend_row *row;
	char want[100];

	rig_start(NFSAPPEND_LOCKED);
	CHECK_INT(rig_append("one\n"), 4);
	CHECK_INT(rig_append("three\n"), 6);
	find();
	CHECK_INT(found.count, 1);
	CHECK_INT(found.note_count, 0);
	CHECK(!found.failed);
	row = found.rows[0];
	CHECK_STR(row->shown.path, "/logs/x");
	CHECK_STR(row->shown.server, "nfs://fake/export");
	CHECK_STR(row->shown.protocol, "v4.0");
	CHECK_STR(row->shown.sharing, "locked");
	CHECK_INT(row->uid, geteuid());
	CHECK(row->shown.here && row->shown.size_known);
	CHECK_INT(row->shown.size, 10);
	CHECK_INT(row->shown.appends, 2);
	CHECK_INT(row->shown.bytes, 10);
	CHECK_INT(row->shown.batches, 2);
	CHECK_INT(row->shown.batched_max, 1);
	CHECK_INT(row->shown.rpcs, rig_file->stats.rpcs);
	CHECK_INT(row->shown.write_rpcs, rig_file->stats.write_rpcs);
	CHECK_INT(row->shown.leader, 0);
	CHECK(row->shown.last_ns >= 0);
	CHECK(row->shown.age_ns >= row->shown.last_ns);
	CHECK_INT(row->writer_count, 1);
	CHECK_INT(row->writers[0].pid, getpid());
	CHECK_INT(row->writers[0].state, NFSAPPEND_WRITER_RUNNING);
	snprintf(want, sizeof want, "writers: %d ", (int)getpid());
	CHECK_HAS(table(), want);
	CHECK_HAS(table(), " /logs/x\n");
	CHECK_HAS(table(), "nfs://fake/export, v4.0, sharing locked, user ");
	snprintf(want, sizeof want, "\"pid\":%d,\"state\":\"running\"",
		(int)getpid());
	CHECK_HAS(json(), want);
	CHECK_HAS(json(), "\"appends\":2,\"bytes\":10,");
}

/* Errors and records longer than a slot are counted too. */
static void counted(void)
{
	static char big[3000];
	struct nfsappend_figures *f;

	rig_start_large(NFSAPPEND_GUARDED, 1 << 16);
	f = &rig_file->segment.shared->figures;
	memset(big, 'x', sizeof big);
	CHECK_INT(rig_append_bytes(big, sizeof big), sizeof big);
	FAKE(.op = FAKE_WRITE, .result = -28);
	CHECK_INT(rig_append("no\n"), -28);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST);
	CHECK_INT(rig_append("yes\n"), 4);
	find();
	CHECK_INT(found.rows[0]->shown.appends, 3);
	CHECK_INT(found.rows[0]->shown.bytes, sizeof big + 4);
	CHECK_INT(found.rows[0]->shown.errors, 1);
	CHECK_INT(found.rows[0]->shown.retries, rig_file->stats.retries);
	CHECK(rig_file->stats.retries > 0);
	CHECK_INT(f->batches, 3);
}

static void appends_in_child(void *arg)
{
	(void)arg;
	CHECK_INT(rig_append("child\n"), 6);
	raise(SIGSTOP);
}

/* A child that appends is one more writer; stopped, killed, it is told. */
static void others(void)
{
	const struct nfsappend_row *row;
	pid_t child;
	int status;

	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("one\n"), 4);
	child = unit_fork(appends_in_child, NULL);
	CHECK_INT(waitpid(child, &status, WUNTRACED), child);
	CHECK(WIFSTOPPED(status));
	find();
	row = found.rows[0];
	CHECK_INT(row->writer_count, 2);
	CHECK_INT(row->writers[1].pid, child);
	CHECK_INT(row->writers[1].state, NFSAPPEND_WRITER_STOPPED);
	CHECK_HAS(table(), "(stopped)");
	CHECK_INT(row->shown.appends, 2);
	kill(child, SIGKILL);
	CHECK_INT(waitpid(child, &status, 0), child);
	find();
	row = found.rows[0];
	CHECK_INT(row->writers[1].state, NFSAPPEND_WRITER_GONE);
	CHECK_HAS(table(), "; 1 gone\n");
	CHECK_HAS(json(), "\"state\":\"gone\"");
}

/* Its number is a process's that has not mapped the segment. */
static void number_used_again(void)
{
	rig_start(NFSAPPEND_GUARDED);
	CHECK_INT(rig_append("one\n"), 4);
	rig_file->segment.shared->users[5] = getppid();
	find();
	CHECK_INT(found.rows[0]->writer_count, 2);
	CHECK_INT(found.rows[0]->writers[1].state, NFSAPPEND_WRITER_GONE);
}

static void leads(void)
{
	struct nfsappend_guard guard;
	struct nfsappend_segment_view *v;

	rig_start(NFSAPPEND_GUARDED);
	v = &rig_file->segment;
	nfsappend_guard_enter(&guard);
	CHECK_INT(nfsappend_segment_trylead(v), 0);
	v->shared->pending = NFSAPPEND_IN_FLIGHT;
	find();
	CHECK_INT(found.rows[0]->shown.leader, nfsappend_tid());
	CHECK(found.rows[0]->writers[0].leads);
	CHECK(!found.rows[0]->shown.in_doubt);
	CHECK_HAS(table(), " (sends)");
	nfsappend_segment_unlead(v);
	nfsappend_guard_leave(&guard);
	find();
	CHECK(found.rows[0]->shown.in_doubt);
	CHECK_HAS(table(), "a WRITE without an answer");
}

static void queue_told(void)
{
	struct iovec iov = {"queued\n", 7};
	struct nfsappend_guard guard;
	struct nfsappend_queue *q;

	rig_start(NFSAPPEND_GUARDED);
	nfsappend_guard_enter(&guard);
	q = nfsappend_segment_queue(&rig_file->segment, true);
	CHECK(q != NULL);
	CHECK(nfsappend_queue_enter(q, &iov, 1, 7) >= 0);
	nfsappend_guard_leave(&guard);
	find();
	CHECK_INT(found.rows[0]->shown.queued, 1);
	CHECK_INT(found.rows[0]->shown.sending, 0);
	CHECK_HAS(json(), "\"queued\":1,");
}

/* The empty cases: none is silent, each names the place. */
static void nothing(void)
{
	rig_core();
	find();
	CHECK_INT(found.count, 0);
	CHECK(!found.failed);
	CHECK_HAS(table(), nfsappend_config.runtime);
	CHECK_HAS(table(), "does not exist");
	CHECK_INT(mkdir(nfsappend_config.runtime, 0700), 0);
	find();
	CHECK_HAS(table(), "No program has a file open");
	CHECK_HAS(table(), "N503");
	CHECK_INT(chmod(nfsappend_config.runtime, 0755), 0);
	find();
	CHECK_HAS(table(), "mode 0700");
	CHECK_HAS(json(), "{\"files\":[],\"notes\":[\"");
	/* Anybody may put one into /dev/shm. */
	CHECK_INT(rmdir(nfsappend_config.runtime), 0);
	CHECK_INT(symlink("/", nfsappend_config.runtime), 0);
	find();
	CHECK(!found.failed);
	CHECK_HAS(table(), "mode 0700");
	CHECK_INT(unlink(nfsappend_config.runtime), 0);
	close(open(nfsappend_config.runtime, O_WRONLY | O_CREAT, 0600));
	find();
	CHECK(!found.failed);
	CHECK_HAS(table(), "mode 0700");
}

static void in_runtime(char path[200], unsigned i)
{
	snprintf(path, 200, "%s/%032x", nfsappend_config.runtime, i);
}

/* No segments, and none is believed, waited for or followed. */
static void strangers(void)
{
	char path[200];
	int fd;

	rig_start(NFSAPPEND_GUARDED);
	in_runtime(path, 1);
	CHECK_INT(mkfifo(path, 0600), 0);
	in_runtime(path, 2);
	CHECK_INT(symlink(rig_file->segment.path, path), 0);
	in_runtime(path, 3);
	CHECK_INT(mkdir(path, 0700), 0);
	in_runtime(path, 4);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK_INT(write(fd, "no", 2), 2);
	close(fd);
	in_runtime(path, 5);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK_INT(ftruncate(fd, SEGMENT_BYTES), 0); /* all zeroes */
	close(fd);
	in_runtime(path, 6);
	close(open(path, O_WRONLY | O_CREAT, 0600)); /* being made */
	snprintf(path, sizeof path, "%s/notes.txt", nfsappend_config.runtime);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	find();
	CHECK_INT(found.count, 1);
	CHECK_INT(found.note_count, 1);
	CHECK_HAS(found.notes[0], "5 of the files there are not shown");
}

static struct nfsappend_segment *snapshot(void)
{
	struct nfsappend_segment *s = unit_alloc(HEAD_BYTES);

	memcpy(s, rig_file->segment.shared, HEAD_BYTES);
	return s;
}

static void not_believed(void)
{
	struct nfsappend_shown out;
	struct nfsappend_segment *s;

	rig_start(NFSAPPEND_GUARDED);
#define DECODED(change, want)                                                  \
	do {                                                                   \
		s = snapshot();                                                \
		change;                                                        \
		unit_case("%s", #change);                                      \
		CHECK_INT(nfsappend_status_decode(s, nfsappend_now(), &out),   \
			want);                                                 \
		free(s);                                                       \
	} while (0)
	DECODED(s->magic = s->magic, NFSAPPEND_DECODED_FILE);
	CHECK(out.here);
	DECODED(s->magic++, NFSAPPEND_DECODED_STRANGE);
	DECODED(s->ready = 0, NFSAPPEND_DECODED_STRANGE);
	DECODED(s->keylen = 0, NFSAPPEND_DECODED_STRANGE);
	DECODED(s->keylen = UINT32_MAX, NFSAPPEND_DECODED_STRANGE);
	DECODED(s->keylen = sizeof s->key + 1, NFSAPPEND_DECODED_STRANGE);
	DECODED(s->key[0] ^= 1, NFSAPPEND_DECODED_STRANGE); /* another boot */
	DECODED(s->figures.named = 0, NFSAPPEND_DECODED_OTHER);
	DECODED(s->figures.named = NFSAPPEND_NAMING, NFSAPPEND_DECODED_OTHER);
	DECODED(s->key[37] ^= 1, NFSAPPEND_DECODED_FILE);
	CHECK(!out.here); /* another PID namespace */
	DECODED(memset(s->figures.path, 'x', sizeof s->figures.path),
		NFSAPPEND_DECODED_FILE);
	CHECK_INT(strlen(out.path), sizeof out.path - 1);
	DECODED(memset(s->figures.server, 'x', sizeof s->figures.server),
		NFSAPPEND_DECODED_FILE);
	CHECK_INT(strlen(out.server), sizeof out.server - 1);
	DECODED(s->sharing = 77, NFSAPPEND_DECODED_FILE);
	CHECK_STR(out.sharing, "?");
	DECODED(s->figures.version = 9, NFSAPPEND_DECODED_FILE);
	CHECK_STR(out.protocol, "?");
	DECODED(s->figures.last = s->figures.made = INT64_MAX,
		NFSAPPEND_DECODED_FILE);
	CHECK(out.last_ns == 0 && out.age_ns == 0);
	DECODED(s->figures.last = s->figures.made = INT64_MIN,
		NFSAPPEND_DECODED_FILE);
	CHECK(out.last_ns == 0 && out.age_ns == 0);
	DECODED(s->users[0] = -1; s->users[1] = 1, NFSAPPEND_DECODED_FILE);
	CHECK_INT(out.user_count, 1);
}

/* Any bytes at all, in the file: shown or not, but nothing of them reaches a
 * terminal, and no name is longer than its place. */
static void any_bytes(void)
{
	struct nfsappend_segment *s;
	uint64_t x = 88172645463325252u;

	rig_start(NFSAPPEND_GUARDED);
	s = rig_file->segment.shared;
	CHECK(nfsappend_segment_queue(&rig_file->segment, true) != NULL);
	for (unsigned round = 0; round < 50; round++) {
		const size_t behind = offsetof(struct nfsappend_segment, reign);
		uint8_t *bytes = (uint8_t *)s;

		for (size_t i = behind; i < HEAD_BYTES; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			bytes[i] = (uint8_t)x;
		}
		s->figures.named = NFSAPPEND_NAMED;
		s->queue_ready = 1;
		find();
		CHECK_INT(found.count, 1);
		table();
		json();
	}
}

static const struct unit_test tests[] = {
	UNIT_TEST(quoted),
	UNIT_TEST(quoted_in_little_room),
	UNIT_TEST(times),
	UNIT_TEST(a_file),
	UNIT_TEST(counted),
	UNIT_TEST(others),
	UNIT_TEST(number_used_again),
	UNIT_TEST(leads),
	UNIT_TEST(queue_told),
	UNIT_TEST(nothing),
	UNIT_TEST(strangers),
	UNIT_TEST(not_believed),
	UNIT_TEST(any_bytes),
};

UNIT_MAIN(tests)
