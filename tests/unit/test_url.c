/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_env.h"
#include "unit.h"

static struct nfsappend_target target;
static char why[200];

static int parse(const char *url)
{
	unit_case("%.100s", url);
	memset(&target, 0xee, sizeof target);
	why[0] = '\0';
	return nfsappend_url_parse(url, &target, why, sizeof why);
}

static void good(void)
{
	static const struct {
		const char *url, *host, *path;
		unsigned version, nfsport, mountport;
	} cases[] = {
		{"nfs://server/export", "server", "/export", 3, 0, 0},
		{"nfs://server/", "server", "/", 3, 0, 0},
		{"nfs://server//", "server", "/", 3, 0, 0},
		{"nfs://server/a/b/", "server", "/a/b", 3, 0, 0},
		{"nfs://10.0.0.1:2050/e", "10.0.0.1", "/e", 3, 2050, 0},
		{"nfs://[::1]/e", "::1", "/e", 3, 0, 0},
		{"nfs://[fe80::1]:1/e", "fe80::1", "/e", 3, 1, 0},
		{"nfs://server/e?version=4", "server", "/e", 4, 0, 0},
		{"nfs://server/e?nfsport=65535&mountport=1", "server", "/e", 3,
			65535, 1},
		{"nfs://server:1/e?nfsport=2", "server", "/e", 3, 2, 0},
		{"nfs://server/a%20b%2Fc%3f", "server", "/a b/c?", 3, 0, 0},
		{"nfs://server/e?", "server", "/e", 3, 0, 0},
		{"nfs://server/e?&&version=3&", "server", "/e", 3, 0, 0},
		{"nfs://server/e?readahead=4&sec=sys&debug=1", "server", "/e",
			3, 0, 0},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		CHECK_INT(parse(cases[i].url), 0);
		CHECK_STR(target.host, cases[i].host);
		CHECK_STR(target.path, cases[i].path);
		CHECK_INT(target.version, cases[i].version);
		CHECK_INT(target.nfsport, cases[i].nfsport);
		CHECK_INT(target.mountport, cases[i].mountport);
		CHECK_INT(target.has_uid, 0);
		CHECK_INT(target.has_gid, 0);
	}
}

static void ids(void)
{
	CHECK_INT(parse("nfs://s/e?uid=0&gid=4294967295"), 0);
	CHECK_INT(target.has_uid, 1);
	CHECK_INT(target.uid, 0);
	CHECK_INT(target.has_gid, 1);
	CHECK_INT(target.gid, UINT32_MAX);
}

static void bad(void)
{
	static const struct {
		const char *url, *why;
	} cases[] = {
		{"", "does not begin with nfs://"},
		{"nfs:/server/e", "does not begin with nfs://"},
		{"http://server/e", "does not begin with nfs://"},
		{"nfs://", "no /export"},
		{"nfs://server", "no /export"},
		{"nfs://server?version=3", "no /export"},
		{"nfs://server?x=/y", "no /export"},
		{"nfs:///export", "no server name"},
		{"nfs://:2049/export", "no server name"},
		{"nfs://[]/export", "no server name"},
		{"nfs://[::1/export", "no ']'"},
		{"nfs://[::1]x/export", "no ']'"},
		{"nfs://se%00rver/export", "server name"},
		{"nfs://server:/export", "port is not a number"},
		{"nfs://server:0/export", "port is not a number"},
		{"nfs://server:65536/export", "port is not a number"},
		{"nfs://server:20x/export", "port is not a number"},
		{"nfs://server:-1/export", "port is not a number"},
		{"nfs://server/a%2", "bad %-escape"},
		{"nfs://server/a%zz", "bad %-escape"},
		{"nfs://server/a%00b", "bad %-escape"},
		{"nfs://server/e?version=2", "value of version is not 3 or 4"},
		{"nfs://server/e?version=5", "value of version is not 3 or 4"},
		{"nfs://server/e?version=", "value of version is not 3 or 4"},
		{"nfs://server/e?version", "value of version is not 3 or 4"},
		{"nfs://server/e?version=3x", "value of version is not 3 or 4"},
		{"nfs://server/e?nfsport=0", "value of nfsport is not a port"},
		{"nfs://server/e?nfsport=99999", "nfsport is not a port"},
		{"nfs://server/e?timeo=0", "timeo is not 1 to 36000"},
		{"nfs://server/e?timeo=36001", "timeo is not 1 to 36000"},
		{"nfs://server/e?mountport=99999999999999999999",
			"value of mountport is not a port"},
		{"nfs://server/e?uid=4294967296", "uid is not a number"},
		{"nfs://server/e?uid=-1", "uid is not a number"},
		{"nfs://server/e?gid=users", "gid is not a number"},
		{"nfs://server/e?sec=krb5", "only sec=sys"},
		{"nfs://server/e?sec", "only sec=sys"},
		{"nfs://server/e?verison=4", "unknown argument 'verison'"},
		{"nfs://server/e?=4", "unknown argument ''"},
	};

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		CHECK_INT(parse(cases[i].url), -EINVAL);
		CHECK_HAS(why, cases[i].why);
	}
}

static void too_long(void)
{
	static char url[4096];

	sprintf(url, "nfs://%0255d/e", 0);
	CHECK_INT(parse(url), 0);
	CHECK_INT(strlen(target.host), 255);
	sprintf(url, "nfs://%0256d/e", 0);
	CHECK_INT(parse(url), -EINVAL);
	CHECK_HAS(why, "server name is too long");
	sprintf(url, "nfs://s/%01022d", 0);
	CHECK_INT(parse(url), 0);
	CHECK_INT(strlen(target.path), 1023);
	sprintf(url, "nfs://s/%01023d", 0);
	CHECK_INT(parse(url), -EINVAL);
	CHECK_HAS(why, "longer than 1023 bytes");
}

static const struct unit_test tests[] = {
	UNIT_TEST(good),
	UNIT_TEST(ids),
	UNIT_TEST(bad),
	UNIT_TEST(too_long),
};

UNIT_MAIN(tests)
