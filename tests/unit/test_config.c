/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The NFSAPPEND_* variables: a bad one is dropped with one message that names
 * variable, value and cause, and the good ones beside it stay. */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_env.h"
#include "core/log.h"
#include "core/mounts.h"
#include "core/path.h"
#include "rig.h"

#define GOOD "/nfsappend-unit/good=nfs://server/export"

static void nothing_set(void)
{
	rig_core();
	nfsappend_config.runtime = NULL;
	rig_config("PATH=/bin", "NFSAPPEND_MAPS=/x=nfs://s/e", "NFSAPPEND_MAP",
		"NFSAPPEND_TIMEOUT=", NULL);
	CHECK_INT(nfsappend_config.nmaps, 0);
	CHECK_INT(nfsappend_config.sharing, NFSAPPEND_SHARING_AUTO);
	CHECK_INT(nfsappend_config.timeout_s, 0);
	CHECK(nfsappend_config.stats == NULL);
	CHECK(!nfsappend_config.any_local);
	CHECK_STR(rig_log(), "");
	CHECK_INT(nfsappend_config_sharing(3), NFSAPPEND_GUARDED);
	CHECK_INT(nfsappend_config_sharing(4), NFSAPPEND_LOCKED);
}

static void all_set(void)
{
	char stats[100], log[100], text[220], *content;

	rig_core();
	snprintf(stats, sizeof stats, "NFSAPPEND_STATS=%s/stats", unit_dir);
	snprintf(log, sizeof log, "NFSAPPEND_LOG=error:%s/other", unit_dir);
	rig_config(log, "NFSAPPEND_MAP=" GOOD, "NFSAPPEND_SHARING=single",
		"NFSAPPEND_TIMEOUT=86400", "NFSAPPEND_FALLBACK=fail",
		"NFSAPPEND_RUNTIME=/run/x", stats, NULL);
	CHECK_INT(nfsappend_config.nmaps, 1);
	CHECK_STR(nfsappend_config.maps[0].dir, "/nfsappend-unit/good");
	CHECK_INT(nfsappend_config.maps[0].len, 20);
	CHECK(!nfsappend_config.maps[0].dropped);
	CHECK_STR(nfsappend_config.maps[0].target.host, "server");
	CHECK_INT(nfsappend_config_sharing(3), NFSAPPEND_SINGLE);
	CHECK_INT(nfsappend_config_sharing(4), NFSAPPEND_SINGLE);
	CHECK_INT(nfsappend_config.timeout_s, 86400);
	CHECK(nfsappend_config.fallback_fails);
	CHECK_STR(nfsappend_config.runtime, "/run/x");
	CHECK_STR(nfsappend_config.stats, stats + strlen("NFSAPPEND_STATS="));
	CHECK(nfsappend_log_wanted(NFSAPPEND_ERROR));
	CHECK(!nfsappend_log_wanted(NFSAPPEND_WARN));
	nfsappend_log(NFSAPPEND_ERROR, 999, "said");
	snprintf(text, sizeof text, "%s/other", unit_dir);
	content = unit_read_file(text, NULL);
	CHECK_HAS(content, "said [N999]");
	free(content);
}

/* Programs overwrite their environment block (nginx for its title). */
static void environment_is_copied(void)
{
	char stats[] = "NFSAPPEND_STATS=/a/b", map[] = "NFSAPPEND_MAP=" GOOD;
	char runtime[] = "NFSAPPEND_RUNTIME=/run/x";

	rig_core();
	rig_config(stats, map, runtime, NULL);
	memset(stats, 'X', strlen(stats));
	memset(map, 'X', strlen(map));
	memset(runtime, 'X', strlen(runtime));
	CHECK_STR(nfsappend_config.stats, "/a/b");
	CHECK_STR(nfsappend_config.runtime, "/run/x");
	CHECK_STR(nfsappend_config.maps[0].target.path, "/export");
}

static void bad_settings(void)
{
	static const struct {
		const char *variable, *value, *cause;
	} cases[] = {
		{"NFSAPPEND_SHARING", "Single", "not auto, single, guarded or"},
		{"NFSAPPEND_SHARING", "single ", "not auto, single, guarded"},
		{"NFSAPPEND_TIMEOUT", "-1", "not a number of seconds"},
		{"NFSAPPEND_TIMEOUT", "1s", "not a number of seconds"},
		{"NFSAPPEND_TIMEOUT", " 1", "not a number of seconds"},
		{"NFSAPPEND_TIMEOUT", "+1", "not a number of seconds"},
		{"NFSAPPEND_TIMEOUT", "86401", "not a number of seconds"},
		{"NFSAPPEND_TIMEOUT", "99999999999999999999999",
			"not a number of seconds"},
		{"NFSAPPEND_FALLBACK", "none", "not kernel or fail"},
		{"NFSAPPEND_LOG", "loud", "not off, error, warn"},
		{"NFSAPPEND_LOG", "warning", "not off, error, warn"},
		{"NFSAPPEND_LOG", ":/x", "not off, error, warn"},
		{"NFSAPPEND_RUNTIME", "run", "not an absolute path"},
		{"NFSAPPEND_STATS", "stats", "neither 'stderr' nor an"},
		{"NFSAPPEND_STATS", "Stderr", "neither 'stderr' nor an"},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			char entry[200], quoted[200];
			const char *log;

			unit_case("%s=%s", cases[i].variable, cases[i].value);
			rig_core();
			snprintf(entry, sizeof entry, "%s=%s",
				cases[i].variable, cases[i].value);
			snprintf(quoted, sizeof quoted,
				"%s='%s': ", cases[i].variable, cases[i].value);
			rig_log();
			rig_config(entry, "NFSAPPEND_MAP=" GOOD, NULL);
			log = rig_log();
			CHECK_HAS(log, quoted);
			CHECK_HAS(log, cases[i].cause);
			CHECK_HAS(log, "[N101]");
			CHECK(strchr(log, '\n') == strrchr(log, '\n'));
			CHECK_INT(nfsappend_config.nmaps, 1);
			CHECK_INT(nfsappend_config.timeout_s, 0);
			CHECK(nfsappend_config.stats == NULL);
			CHECK_INT(nfsappend_config.sharing,
				NFSAPPEND_SHARING_AUTO);
			exit(0);
		}
		CHECK_INT(unit_wait(pid), 0);
	}
}

static void log_file_must_be_absolute(void)
{
	rig_core();
	rig_config("NFSAPPEND_LOG=debug:file", NULL);
	CHECK_HAS(rig_log(), "NFSAPPEND_LOG='debug:file': the file after ':' "
			     "must be an absolute path");
	CHECK(nfsappend_log_wanted(NFSAPPEND_DEBUG));
}

static void bad_maps(void)
{
	static const struct {
		const char *entry, *cause;
		bool directory; /* it can be told: what is below it fails */
	} cases[] = {
		{"/nfsappend-unit/d", "no '='", true},
		{"/nfsappend-unit/d=", "does not begin with nfs://", true},
		{"/nfsappend-unit/d=/export", "does not begin with nfs://",
			true},
		{"/nfsappend-unit/d=nfs://s", "no /export", true},
		{"/nfsappend-unit/d=nfs://s:x/e", "port is not", true},
		{"/nfsappend-unit/d=nfs://s/e?x=1", "unknown argument 'x'",
			true},
		/* What no shell has taken the quotes from. */
		{"\"/nfsappend-unit/d=nfs://s/e\"", "not begin with '/'", true},
		{"'/nfsappend-unit/d'=nfs://s/e", "not begin with '/'", true},
		{"NFSAPPEND_MAP=/nfsappend-unit/d=nfs://s/e",
			"not begin with '/'", true},
		{"=nfs://s/e", "must be an absolute path", false},
		{"nfs://s/e", "must be an absolute path", false},
		{"logs=nfs://s/e", "must be an absolute path", false},
		{"/=nfs://s/e", "not '/'", false},
		{"/..=nfs://s/e", "not '/'", false},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			const struct nfsappend_map *map;
			char value[300];
			const char *log;

			unit_case("%s", cases[i].entry);
			rig_core();
			rig_log();
			snprintf(value, sizeof value,
				"NFSAPPEND_MAP= " GOOD "\t%s\n/a=nfs://t/f",
				cases[i].entry);
			rig_config(value, NULL);
			map = nfsappend_path_match("/nfsappend-unit/d/x");
			CHECK((map != NULL) == cases[i].directory);
			/* Only who goes there need know, and once. */
			if (map != NULL) {
				CHECK(map->dropped);
				CHECK_STR(rig_log(), "");
				nfsappend_config_tell_dropped(map);
			}
			log = rig_log();
			CHECK_HAS(log, "NFSAPPEND_MAP entry '");
			CHECK_HAS(log, cases[i].entry);
			CHECK_HAS(log, cases[i].cause);
			CHECK_HAS(log, "[N102]");
			CHECK(strchr(log, '\n') == strrchr(log, '\n'));
			CHECK_INT(nfsappend_config.nmaps,
				cases[i].directory ? 3 : 2);
			map = nfsappend_path_match("/nfsappend-unit/good/x");
			CHECK(map != NULL && !map->dropped);
			map = nfsappend_path_match("/a");
			CHECK(map != NULL && !map->dropped);
			CHECK_STR(map->target.host, "t");
			map = nfsappend_path_match("/nfsappend-unit/d/x");
			if (map != NULL)
				nfsappend_config_tell_dropped(map);
			CHECK_STR(rig_log(), "");
			exit(0);
		}
		CHECK_INT(unit_wait(pid), 0);
	}
}

/* However long the value, the message names its cause. */
static void long_values(void)
{
	static const char *const formats[] = {
		"NFSAPPEND_MAP=/%02000d=nfs://s/e",
		"NFSAPPEND_MAP=/a=nfs://s/%02000d", "NFSAPPEND_MAP=%02000d",
		"NFSAPPEND_TIMEOUT=%02000dx", "NFSAPPEND_SHARING=%02000d",
		"NFSAPPEND_STATS=%02000d", "NFSAPPEND_LOG=%02000d",
		"NFSAPPEND_RUNTIME=%02000d"};
	static const char *const causes[] = {"absolute path of at most 1023",
		"longer than 1023 bytes", "must be an absolute path",
		"not a number of seconds", "not auto, single",
		"neither 'stderr'", "not off, error", "not an absolute path"};

	rig_core();
	for (unsigned i = 0; i < UNIT_COUNT(formats); i++) {
		static char entry[3000];
		const char *log;

		unit_case("%u", i);
		nfsappend_config.nmaps = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(entry, 3000, formats[i], 0);
#pragma GCC diagnostic pop
		rig_config(entry, NULL);
		if (nfsappend_config.nmaps > 0)
			nfsappend_config_tell_dropped(nfsappend_config.maps);
		log = rig_log();
		CHECK_HAS(log, "NFSAPPEND_");
		CHECK_HAS(log, "000000");
		CHECK_HAS(log, causes[i]);
		CHECK(strlen(log) < 1024);
	}
}

static void directories(void)
{
	rig_core();
	rig_config("NFSAPPEND_MAP=/a/./b//c/../=nfs://s/1 /a/b/c/=nfs://s/2 "
		   "/a=nfs://s/3 /d=e=nfs://s/4",
		NULL);
	CHECK_STR(rig_log(), "");
	CHECK_INT(nfsappend_config.nmaps, 4);
	/* The longest first, so that the nearest is found. */
	CHECK_STR(nfsappend_config.maps[0].dir, "/a/b/c");
	CHECK_STR(nfsappend_path_match("/a/b/x")->target.path, "/1");
	CHECK_STR(nfsappend_path_match("/a/b/c")->target.path, "/2");
	CHECK_STR(nfsappend_path_match("/a/c")->target.path, "/3");
	CHECK_STR(nfsappend_path_match("/d=e/c")->target.path, "/4");
	CHECK(!nfsappend_config.any_local);
}

static void directory_that_is_there(void)
{
	char value[200];

	rig_core();
	snprintf(value, sizeof value, "NFSAPPEND_MAP=" GOOD " %s=nfs://s/e",
		unit_dir);
	rig_config(value, NULL);
	CHECK_INT(nfsappend_config.nmaps, 2);
	CHECK(nfsappend_config.any_local);
	CHECK(nfsappend_path_match(unit_dir)->local);
	CHECK(!nfsappend_path_match("/nfsappend-unit/good")->local);
}

static void many_maps(void)
{
	static char value[8192];
	int n = sprintf(value, "NFSAPPEND_MAP=");

	for (int i = 0; i < 300; i++)
		n += sprintf(value + n, "/m%d=nfs://s/%d ", i, i);
	rig_core();
	rig_config(value, NULL);
	CHECK_STR(rig_log(), "");
	CHECK_INT(nfsappend_config.nmaps, 300);
	CHECK_STR(nfsappend_path_match("/m299/x")->target.path, "/299");
}

/* Said only where it makes a difference. */
static void a_map_twice(void)
{
	rig_core();
	rig_config("NFSAPPEND_MAP=/a=nfs://s/1 /a=nfs://s/1", NULL);
	CHECK_STR(rig_log(), "");
	CHECK_INT(nfsappend_config.nmaps, 1);
	nfsappend_config.nmaps = 0;
	rig_config("NFSAPPEND_MAP=/a=nfs://s/1 /a/=nfs://s/2", NULL);
	CHECK_HAS(rig_log(), "/a is there twice, with different URLs");
	CHECK_INT(nfsappend_config.nmaps, 1);
	CHECK_STR(nfsappend_config.maps[0].target.path, "/1");
}

static void paths(void)
{
	rig_core();
	nfsappend_config.npaths = 0;
	rig_config("NFSAPPEND_PATHS=/mnt/logs/:/mnt/one.log::/mnt//a/../p/*.l[oO]g:"
		   "/mnt/q/x?",
		NULL);
	CHECK_STR(rig_log(), "");
	CHECK_INT(nfsappend_config.npaths, 4);
	CHECK(nfsappend_paths_match("/mnt/logs/x"));
	CHECK(nfsappend_paths_match("/mnt/logs/a/b/c"));
	CHECK(nfsappend_paths_match("/mnt/logs"));
	CHECK(!nfsappend_paths_match("/mnt/logs2/x"));
	CHECK(!nfsappend_paths_match("/mnt/log"));
	CHECK(nfsappend_paths_match("/mnt/one.log"));
	CHECK(!nfsappend_paths_match("/mnt/one.logs"));
	CHECK(nfsappend_paths_match("/mnt/p/.log"));
	CHECK(nfsappend_paths_match("/mnt/p/a.b.log"));
	CHECK(nfsappend_paths_match("/mnt/p/a.lOg"));
	CHECK(!nfsappend_paths_match("/mnt/p/a.log.1"));
	CHECK(!nfsappend_paths_match("/mnt/p/d/a.log"));
	CHECK(!nfsappend_paths_match("/mnt/p"));
	CHECK(nfsappend_paths_match("/mnt/q/xy"));
	CHECK(!nfsappend_paths_match("/mnt/q/x"));
	CHECK(!nfsappend_paths_match("/mnt/q/xyz"));
}

static void bad_paths(void)
{
	const char *log;

	rig_core();
	nfsappend_config.npaths = 0;
	rig_config("NFSAPPEND_PATHS=logs:/mnt/*/x:/:/mnt/good", NULL);
	CHECK_INT(nfsappend_config.npaths, 1);
	log = rig_log();
	CHECK_HAS(log, "NFSAPPEND_PATHS entry 'logs': not an absolute path; "
		       "the entry is ignored [N103]");
	CHECK_HAS(log, "'/mnt/*/x': only the last component may be a pattern");
	CHECK_HAS(log, "'/': '/' is all that there is");
	CHECK(nfsappend_paths_match("/mnt/good/x"));
	CHECK(!nfsappend_paths_match("/mnt/a/x"));
}

static bool mount_of(const char *line, struct nfsappend_mount *m)
{
	char text[1024];

	snprintf(text, sizeof text, "%s", line);
	return nfsappend_mount_line(text, 32, 29, m);
}

/* Lines as Linux 6.1 writes them. */
static void mountinfo(void)
{
	struct nfsappend_mount m;

	CHECK(mount_of("32 23 0:29 / /mnt/v\\0403 rw,relatime shared:7 "
		       "master:2 - nfs nas:/export/a\\040b "
		       "rw,vers=3,rsize=131072,wsize=65536,namlen=255,hard,"
		       "nolock,proto=tcp,timeo=600,retrans=2,sec=sys,"
		       "mountaddr=10.0.0.1,mountvers=3,mountport=20048,"
		       "mountproto=udp,local_lock=all,addr=10.0.0.1",
		&m));
	CHECK_STR(m.point, "/mnt/v 3");
	CHECK_STR(m.target.path, "/export/a b");
	CHECK_STR(m.target.host, "10.0.0.1");
	CHECK_INT(m.target.version, 3);
	CHECK_INT(m.target.nfsport, 2049);
	CHECK_INT(m.target.mountport, 20048);
	CHECK_INT(m.target.timeo, 600);
	CHECK_INT(m.target.mounted, 1);
	CHECK_INT(m.contact.wtmax, 65536);
	CHECK_INT(m.contact.rtmax, 131072);
	CHECK_INT(ntohs(m.contact.address.sin6_port), 2049);
	CHECK(m.sys && !m.soft && m.cto && m.local_lock);
	CHECK(mount_of("32 23 0:29 / /mnt rw - nfs4 [fd00::1]:/ "
		       "rw,vers=4.2,rsize=1048576,wsize=1048576,softerr,"
		       "port=20490,timeo=100,retrans=3,sec=krb5p,nocto,"
		       "local_lock=none,addr=fd00::1",
		&m));
	CHECK_STR(m.target.path, "/");
	CHECK_STR(m.target.host, "fd00::1");
	CHECK_INT(m.target.version, 4);
	CHECK_INT(m.minor, 2);
	CHECK_INT(m.target.nfsport, 20490);
	CHECK_STR(m.sec, "krb5p");
	CHECK(!m.sys && m.soft && !m.cto && !m.local_lock);
	/* Another mount, another device, another file system. */
	CHECK(!mount_of("33 23 0:29 / /mnt rw - nfs4 a:/ rw,addr=1.1.1.1", &m));
	CHECK(!mount_of("32 23 0:30 / /mnt rw - nfs4 a:/ rw,addr=1.1.1.1", &m));
	CHECK(!mount_of("32 23 0:29 / /mnt rw - tmpfs tmpfs rw", &m));
	CHECK(!mount_of("32 23 0:29 / /mnt rw -", &m));
	/* An address that is none: there, but nobody can be asked. */
	CHECK(mount_of("32 23 0:29 / /mnt rw - nfs a:/x rw,vers=3,addr=nas",
		&m));
	CHECK_INT(m.target.version, 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(paths),
	UNIT_TEST(bad_paths),
	UNIT_TEST(mountinfo),
	UNIT_TEST(nothing_set),
	UNIT_TEST(all_set),
	UNIT_TEST(environment_is_copied),
	UNIT_TEST(bad_settings),
	UNIT_TEST(log_file_must_be_absolute),
	UNIT_TEST(bad_maps),
	UNIT_TEST(long_values),
	UNIT_TEST(directories),
	UNIT_TEST(directory_that_is_there),
	UNIT_TEST(many_maps),
	UNIT_TEST(a_map_twice),
};

UNIT_MAIN(tests)
