/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/stats.h"
#include "read_json.h"
#include "rig.h"

static char stats_path[100];

static void start(void)
{
	rig_start(NFSAPPEND_GUARDED);
	snprintf(stats_path, sizeof stats_path, "%s/stats", unit_dir);
	nfsappend_config.stats = stats_path;
}

/* The lines written so far; each one is one JSON object. */
static char *lines(unsigned want)
{
	size_t len;
	char *text = unit_read_file(stats_path, &len);
	const char *at = text;

	CHECK_INT(strlen(text), len);
	for (unsigned i = 0; i < want; i++) {
		CHECK(*at == '{');
		at = read_json(at);
		CHECK(at != NULL);
		CHECK(*at == '\n');
		at++;
	}
	CHECK_STR(at, "");
	return text;
}

static void percentiles(void)
{
	struct nfsappend_stats s;

	memset(&s, 0, sizeof s);
	CHECK_INT(nfsappend_stats_percentile(&s, 50), 0);
	nfsappend_stats_latency(&s, 1000);
	CHECK_INT(nfsappend_stats_percentile(&s, 50), 1000);
	CHECK_INT(nfsappend_stats_percentile(&s, 99), 1000);
	memset(&s, 0, sizeof s);
	for (uint64_t us = 1; us <= 100; us++)
		nfsappend_stats_latency(&s, us);
	CHECK_INT(s.max_us, 100);
	/* At most one eighth too high, never too low. */
	for (unsigned p = 1; p <= 100; p++) {
		uint64_t v = nfsappend_stats_percentile(&s, p);

		unit_case("p%u is %llu", p, (unsigned long long)v);
		CHECK(v >= p);
		CHECK(v * 8 <= (uint64_t)p * 9);
	}
}

static void every_magnitude(void)
{
	for (int bit = 0; bit < 64; bit++)
		for (int less = 0; less < 2; less++) {
			struct nfsappend_stats s;
			uint64_t us = (UINT64_C(1) << bit) - (uint64_t)less, p;

			unit_case("%llu", (unsigned long long)us);
			memset(&s, 0, sizeof s);
			nfsappend_stats_latency(&s, us);
			nfsappend_stats_latency(&s, UINT64_MAX);
			p = nfsappend_stats_percentile(&s, 50);
			if (us < UINT64_C(1) << 38) { /* three days */
				CHECK(p >= us);
				CHECK(p - us <= us / 8);
			}
			CHECK_INT(s.max_us, UINT64_MAX);
		}
}

static void one_line(void)
{
	char *text, want[300];

	CHECK_INT(prctl(PR_SET_NAME, "a \"b"), 0);
	start();
	CHECK_INT(rig_append("one\n"), 4);
	CHECK_INT(rig_append("two\n"), 4);
	FAKE(.op = FAKE_WRITE, .result = -28);
	CHECK_INT(rig_append("no\n"), -28);
	nfsappend_stats_write();
	text = lines(1);
	snprintf(want, sizeof want,
		"{\"pid\":%d,\"command\":\"a \\\"b\","
		"\"files\":[{",
		(int)getpid());
	CHECK(!strncmp(text, want, strlen(want)));
	CHECK_HAS(text, "{\"path\":\"/logs/x\",\"server\":\"fake\","
			"\"protocol\":\"v3\",\"sharing\":\"guarded\","
			"\"appends\":3,\"bytes\":8,\"rpcs\":6,"
			"\"write_rpcs\":3,\"lookup_rpcs\":0,"
			"\"batched_max\":1,\"retries\":0,\"conflicts\":0,"
			"\"reconnects\":0,\"errors\":1,\"p50_us\":");
	CHECK_HAS(text, "\"max_us\":");
	free(text);
}

/* Counted anew after each line: one before exec, one at the end. */
static void counts_anew(void)
{
	char *text;

	start();
	CHECK_INT(rig_append("one\n"), 4);
	nfsappend_stats_write();
	nfsappend_stats_write();
	free(lines(1));
	CHECK_INT(rig_append("two\n"), 4);
	nfsappend_stats_write();
	text = lines(2);
	CHECK_HAS(strchr(text, '\n'), "\"appends\":1,\"bytes\":4,");
	free(text);
}

static void none_without_traffic(void)
{
	start();
	nfsappend_stats_write();
	free(lines(0));
	nfsappend_config.stats = NULL;
	CHECK_INT(rig_append("one\n"), 4);
	nfsappend_stats_write();
	free(lines(0));
}

static void quoting(void)
{
	char *text;

	start();
	strcpy(rig_file->path, "/logs/a\"b\\c\n\t\001\037\177/\xc3\xa9");
	CHECK_INT(rig_append("one\n"), 4);
	nfsappend_stats_write();
	text = lines(1);
	CHECK_HAS(text, "\"path\":\"/logs/a\\\"b\\\\c\\u000a\\u0009\\u0001"
			"\\u001f\\u007f/\xc3\xa9\"");
	free(text);
}

/* Every name as long as it can be and all of it escaped. */
static void many_long_names(void)
{
	struct nfsappend_server *server;
	struct nfsappend_guard guard;
	char name[1024], *text;
	size_t len;

	start();
	server = rig_file->key.server;
	memset(name, '\001', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	nfsappend_guard_enter(&guard);
	for (int i = 0; i < 400; i++) {
		struct nfsappend_fh fh = {.len = 4};
		struct nfsappend_file *f;

		memcpy(fh.data, &i, 4);
		CHECK_INT(nfsappend_file_get(server, &fh, NULL,
				  NFSAPPEND_GUARDED, 0, 1, name, &f),
			0);
		nfsappend_count(&f->stats.rpcs, UINT64_MAX);
	}
	nfsappend_guard_leave(&guard);
	nfsappend_stats_write();
	text = lines(1);
	len = strlen(text);
	CHECK(len > 900000 && len <= 1 << 20);
	free(text);
}

static void cannot_be_written(void)
{
	start();
	snprintf(stats_path, sizeof stats_path, "%s/no/stats", unit_dir);
	CHECK_INT(rig_append("one\n"), 4);
	nfsappend_stats_write();
	CHECK_HAS(rig_log(), "NFSAPPEND_STATS=");
	CHECK_INT(rig_append("two\n"), 4);
}

static void child_writes(void *arg)
{
	char *text;

	(void)arg;
	CHECK_INT(rig_append("child\n"), 6);
	nfsappend_stats_write();
	text = lines(1);
	CHECK_HAS(text, "\"appends\":1,\"bytes\":6,");
	free(text);
}

/* The child does not report what its parent did. */
static void after_fork(void)
{
	char *text;

	start();
	CHECK_INT(rig_append("one\n"), 4);
	CHECK_INT(rig_append("two\n"), 4);
	CHECK_INT(unit_wait(unit_fork(child_writes, NULL)), 0);
	nfsappend_stats_write();
	text = lines(2);
	CHECK_HAS(strchr(text, '\n'), "\"appends\":2,\"bytes\":8,");
	free(text);
}

static const struct unit_test tests[] = {
	UNIT_TEST(percentiles),
	UNIT_TEST(every_magnitude),
	UNIT_TEST(one_line),
	UNIT_TEST(counts_anew),
	UNIT_TEST(none_without_traffic),
	UNIT_TEST(quoting),
	UNIT_TEST(many_long_names),
	UNIT_TEST(cannot_be_written),
	UNIT_TEST(after_fork),
};

UNIT_MAIN(tests)
