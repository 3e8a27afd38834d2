/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a path to a file on the server: its directories, its links, "..". */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/resolve.h"
#include "rig.h"

static struct nfsappend_place *place;
static int export, dir, file, sub, deep;

static void start(void)
{
	char map[200];

	rig_core();
	fake_start();
	export = fake_add(0, "export", NFSAPPEND_DIR, 0755, 0);
	file = fake_add(export, "file", NFSAPPEND_REG, 0644, 0);
	dir = fake_add(export, "dir", NFSAPPEND_DIR, 0755, 0);
	sub = fake_add(dir, "sub", NFSAPPEND_DIR, 0755, 0);
	deep = fake_add(sub, "deep", NFSAPPEND_REG, 0644, 0);
	fake_set_contact(1 << 20, 1 << 20, export);
	snprintf(map, sizeof map,
		"NFSAPPEND_MAP=" RIG_MAP "=nfs://fake/export "
		"%s/m=nfs://fake/export?uid=1",
		unit_dir);
	rig_config(map, NULL);
	place = nfsappend_place_new();
	CHECK(place != NULL);
}

static int resolve(const char *path, bool follow)
{
	struct nfsappend_guard guard;
	struct nfsappend_waiting w;
	int r;

	unit_case("%.80s", path);
	nfsappend_guard_enter(&guard);
	nfsappend_wait_start(&w, NULL, 0);
	r = nfsappend_resolve(AT_FDCWD, path, follow, &w, place);
	nfsappend_guard_leave(&guard);
	return r;
}

static void finds(const char *path, int node)
{
	struct nfsappend_fh fh = fake_handle(node);

	CHECK_INT(resolve(path, true), 0);
	CHECK(place->map != NULL);
	CHECK(place->found);
	CHECK_MEM(place->fh.data, place->fh.len, fh.data, fh.len);
	CHECK_INT(place->attr.fileid, fake_attr(node)->fileid);
}

static void misses(const char *path, int in, const char *name)
{
	struct nfsappend_fh fh = fake_handle(in);

	CHECK_INT(resolve(path, true), 0);
	CHECK(place->map != NULL);
	CHECK(!place->found);
	CHECK_STR(place->name, name);
	CHECK_MEM(place->dir.data, place->dir.len, fh.data, fh.len);
}

static void fails(const char *path, int error)
{
	CHECK_INT(resolve(path, true), -error);
	CHECK(place->map != NULL);
}

static void is_local(const char *path, const char *want)
{
	CHECK_INT(resolve(path, true), 0);
	CHECK(place->map == NULL);
	CHECK_STR(place->walk.rest, want);
}

static void plain(void)
{
	start();
	finds(RIG_MAP "/file", file);
	CHECK_STR(place->name, "file");
	finds(RIG_MAP "/dir/sub/deep", deep);
	finds(RIG_MAP "//dir/./sub//deep", deep);
	finds(RIG_MAP, export);
	CHECK_STR(place->name, "");
	finds(RIG_MAP "/.", export);
	finds(RIG_MAP "/dir/", dir);
	finds(RIG_MAP "/dir/.", dir);
	misses(RIG_MAP "/none", export, "none");
	misses(RIG_MAP "/dir/none", dir, "none");
	fails(RIG_MAP "/none/x", ENOENT);
	fails(RIG_MAP "/file/x", ENOTDIR);
	fails(RIG_MAP "/file/..", ENOTDIR);
	is_local("/etc/x", "/etc/x");
	CHECK_INT(fake_calls(FAKE_CONTACT), 1);
}

static void trailing_slash(void)
{
	start();
	fails(RIG_MAP "/file/", ENOTDIR);
	finds(RIG_MAP "/dir/sub/", sub);
	misses(RIG_MAP "/none/", export, "none");
	CHECK(place->slash);
	misses(RIG_MAP "/none", export, "none");
	CHECK(!place->slash);
}

static void dot_dot(void)
{
	start();
	finds(RIG_MAP "/dir/../file", file);
	finds(RIG_MAP "/dir/sub/../../file", file);
	finds(RIG_MAP "/dir/..", export);
	finds(RIG_MAP "/dir/sub/..", dir);
	fails(RIG_MAP "/none/../file", ENOENT);
	/* Out of the map, on this host; and in again. */
	is_local(RIG_MAP "/../x", "/nfsappend-unit/x");
	is_local(RIG_MAP "/..", "/nfsappend-unit");
	is_local(RIG_MAP "/dir/../../x", "/nfsappend-unit/x");
	is_local(RIG_MAP "/../../../etc/x", "/etc/x");
	finds(RIG_MAP "/../logs/file", file);
	finds(RIG_MAP "/../../nfsappend-unit/logs/dir/sub/deep", deep);
}

static void relative_links(void)
{
	start();
	fake_add_link(export, "to_file", "file");
	fake_add_link(export, "to_dir", "dir");
	fake_add_link(export, "to_dir_slash", "dir//");
	fake_add_link(export, "to_file_slash", "file/");
	fake_add_link(dir, "up", "../file");
	fake_add_link(dir, "here", ".");
	fake_add_link(export, "second", "to_dir/sub/deep");
	fake_add_link(export, "dangling", "dir/new");
	fake_add_link(export, "nowhere", "no/new");
	fake_add_link(export, "empty", "");
	finds(RIG_MAP "/to_file", file);
	finds(RIG_MAP "/to_dir", dir);
	finds(RIG_MAP "/to_dir/", dir);
	finds(RIG_MAP "/to_dir/sub/deep", deep);
	finds(RIG_MAP "/to_dir_slash", dir);
	finds(RIG_MAP "/to_dir_slash/sub", sub);
	fails(RIG_MAP "/to_file/", ENOTDIR);
	fails(RIG_MAP "/to_file_slash", ENOTDIR);
	fails(RIG_MAP "/to_file/x", ENOTDIR);
	finds(RIG_MAP "/dir/up", file);
	finds(RIG_MAP "/dir/here/here/sub", sub);
	finds(RIG_MAP "/second", deep);
	/* ".." after a link goes up from where it leads to. */
	finds(RIG_MAP "/to_dir/sub/../up", file);
	/* A file made through a dangling link is made where it points. */
	misses(RIG_MAP "/dangling", dir, "new");
	CHECK(!place->slash);
	fails(RIG_MAP "/nowhere", ENOENT);
	fails(RIG_MAP "/empty", ENOENT);
}

/* Absolute targets are paths of this host, as on a kernel mount. */
static void absolute_links(void)
{
	char local[100];

	start();
	fake_add_link(export, "back", RIG_MAP "/dir/sub");
	fake_add_link(export, "back_file", RIG_MAP "/file");
	fake_add_link(export, "etc", "/etc");
	fake_add_link(export, "passwd", "/etc/passwd");
	fake_add_link(export, "out", "../../etc/x");
	finds(RIG_MAP "/back", sub);
	finds(RIG_MAP "/back/deep", deep);
	finds(RIG_MAP "/back/../..", export);
	finds(RIG_MAP "/back_file", file);
	fails(RIG_MAP "/back_file/", ENOTDIR);
	is_local(RIG_MAP "/etc/x", "/etc/x");
	is_local(RIG_MAP "/passwd", "/etc/passwd");
	is_local(RIG_MAP "/out", "/etc/x");
	/* Through a local link into the map again. */
	snprintf(local, sizeof local, "%s/link", unit_dir);
	CHECK_INT(symlink(RIG_MAP "/dir", local), 0);
	fake_add_link(export, "round", local);
	finds(RIG_MAP "/round/sub/deep", deep);
}

static void link_not_followed(void)
{
	int link;

	start();
	link = fake_add_link(export, "link", "file");
	CHECK_INT(resolve(RIG_MAP "/link", false), 0);
	CHECK(place->found);
	CHECK_INT(place->attr.type, NFSAPPEND_LNK);
	CHECK_INT(place->attr.fileid, fake_attr(link)->fileid);
	/* Only the last one. */
	fake_add_link(export, "dirlink", "dir");
	CHECK_INT(resolve(RIG_MAP "/dirlink/sub", false), 0);
	CHECK_INT(place->attr.fileid, fake_attr(sub)->fileid);
	CHECK_INT(resolve(RIG_MAP "/dirlink/", false), 0);
	CHECK_INT(place->attr.fileid, fake_attr(dir)->fileid);
}

/* ... and one on this host that leads into the map is the kernel's. */
static void local_link_not_followed(void)
{
	char path[100];

	start();
	snprintf(path, sizeof path, "%s/link", unit_dir);
	CHECK_INT(symlink(RIG_MAP "/file", path), 0);
	CHECK_INT(resolve(path, false), 0);
	CHECK(place->map == NULL);
	CHECK_STR(place->walk.rest, path);
	finds(path, file);
	snprintf(path, sizeof path, "%s/dirlink", unit_dir);
	CHECK_INT(symlink(RIG_MAP "/dir", path), 0);
	strcat(path, "/sub");
	CHECK_INT(resolve(path, false), 0);
	CHECK(place->map != NULL);
	CHECK_INT(place->attr.fileid, fake_attr(sub)->fileid);
}

static void loops(void)
{
	char name[16], target[16];

	start();
	fake_add_link(export, "self", "self");
	fake_add_link(export, "a", "b");
	fake_add_link(export, "b", RIG_MAP "/a");
	fails(RIG_MAP "/self", ELOOP);
	fails(RIG_MAP "/self/x", ELOOP);
	fails(RIG_MAP "/a", ELOOP);
	fake_add_link(export, "l0", "file");
	for (int i = 1; i <= 40; i++) {
		sprintf(name, "l%d", i);
		sprintf(target, "l%d", i - 1);
		fake_add_link(export, name, target);
	}
	finds(RIG_MAP "/l39", file);
	fails(RIG_MAP "/l40", ELOOP);
}

static void too_long(void)
{
	static char path[PATH_MAX + 100], link[PATH_MAX];

	start();
	sprintf(path, RIG_MAP "/%0255d", 0);
	misses(path, export, path + strlen(RIG_MAP) + 1);
	sprintf(path, RIG_MAP "/%0256d", 0);
	fails(path, ENAMETOOLONG);
	/* A link and what follows it, each within bounds. */
	memset(link, 'x', 4000);
	for (int i = 100; i < 4000; i += 100)
		link[i] = '/';
	link[4000] = '\0';
	fake_add_link(export, "long", link);
	sprintf(path, RIG_MAP "/long/%0200d", 0);
	fails(path, ENAMETOOLONG);
}

static void too_deep(void)
{
	static char path[PATH_MAX];
	int at;

	start();
	at = dir;
	strcpy(path, RIG_MAP "/dir");
	/* As deep as a path can be: PATH_MAX ends it before the stack does. */
	for (int i = 2; i < 200; i++) {
		at = fake_add(at, "d", NFSAPPEND_DIR, 0755, 1);
		strcat(path, "/d");
	}
	finds(path, at);
	while (strlen(path) + 3 < PATH_MAX)
		strcat(path, "/.");
	finds(path, at);
}

static void errors_of_the_server(void)
{
	static const int errors[] = {EACCES, ESTALE, EIO, ENOTDIR};

	start();
	fake_add_link(export, "link", "file");
	for (unsigned i = 0; i < UNIT_COUNT(errors); i++) {
		FAKE(.op = FAKE_LOOKUP, .result = -errors[i]);
		fails(RIG_MAP "/file", errors[i]);
		FAKE(.op = FAKE_LOOKUP, .result = -errors[i], .at = 2);
		fails(RIG_MAP "/dir/sub/deep", errors[i]);
		FAKE(.op = FAKE_READLINK, .result = -errors[i]);
		fails(RIG_MAP "/link", errors[i]);
		FAKE(.op = FAKE_GETATTR, .result = -errors[i]);
		fails(RIG_MAP, errors[i]);
	}
}

static void outcomes_are_retried(void)
{
	static const int outcomes[] = {
		NFSAPPEND_UNSENT, NFSAPPEND_LOST, NFSAPPEND_DELAY};

	start();
	fake_add_link(export, "link", "file");
	for (unsigned i = 0; i < UNIT_COUNT(outcomes); i++) {
		FAKE(.op = FAKE_LOOKUP, .result = outcomes[i], .times = 2);
		FAKE(.op = FAKE_READLINK, .result = outcomes[i], .times = 2);
		finds(RIG_MAP "/link", file);
	}
	CHECK_INT(fake_rules_left(), 0);
}

static void no_contact(void)
{
	static const struct {
		int error;
		const char *cure;
	} cases[] = {{ECONNREFUSED, "start the NFS server"},
		{EHOSTUNREACH, "name and the network"},
		{ENOENT, "correct the path in the URL"},
		{EACCES, "export list"}, {ENOTDIR, "name a directory"}};
	const char *log;

	start();
	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		rig_log();
		FAKE(.op = FAKE_CONTACT, .result = -cases[i].error);
		fails(RIG_MAP "/file", cases[i].error);
		log = rig_log();
		CHECK_HAS(log, "nfs://fake/export cannot be reached: the fake "
			       "server refuses; ");
		CHECK_HAS(log, cases[i].cure);
		CHECK_HAS(log, "[N201]");
	}
	/* Asked again each time, until it answers. */
	finds(RIG_MAP "/file", file);
	finds(RIG_MAP "/file", file);
	CHECK_INT(fake_calls(FAKE_CONTACT), UNIT_COUNT(cases) + 1);
}

static void dropped_map(void)
{
	rig_core();
	fake_start();
	rig_config("NFSAPPEND_MAP=" RIG_MAP "=nfs://fake", NULL);
	place = nfsappend_place_new();
	rig_log();
	fails(RIG_MAP "/file", EIO);
	CHECK_HAS(rig_log(), "paths under " RIG_MAP " fail with EIO [N102]");
	fails(RIG_MAP "/file", EIO);
	CHECK_STR(rig_log(), "");
	CHECK_INT(fake_calls(FAKE_CONTACT), 0);
}

static void nested_maps(void)
{
	int other, inner;

	rig_core();
	fake_start();
	export = fake_add(0, "export", NFSAPPEND_DIR, 0755, 0);
	dir = fake_add(export, "dir", NFSAPPEND_DIR, 0755, 0);
	other = fake_add(dir, "other", NFSAPPEND_DIR, 0755, 0);
	fake_add(dir, "in", NFSAPPEND_DIR, 0755, 0); /* hidden */
	fake_add_link(export, "link", "dir/in/x");
	inner = fake_add(export, "x", NFSAPPEND_REG, 0644, 0);
	fake_set_contact(1 << 20, 1 << 20, export);
	rig_config("NFSAPPEND_MAP=" RIG_MAP "=nfs://fake/export " RIG_MAP
		   "/dir/in=nfs://fake/export?uid=5",
		NULL);
	place = nfsappend_place_new();
	finds(RIG_MAP "/dir/in/x", inner);
	CHECK_INT(place->server->cred.uid, 5);
	finds(RIG_MAP "/dir/./in/x", inner);
	CHECK_INT(place->server->cred.uid, 5);
	finds(RIG_MAP "/dir/other/../in/x", inner);
	CHECK_INT(place->server->cred.uid, 5);
	finds(RIG_MAP "/link", inner);
	CHECK_INT(place->server->cred.uid, 5);
	finds(RIG_MAP "/dir/in/../other", other);
	CHECK(place->server->cred.uid != 5);
}

static void nfs_credentials(void)
{
	char path[100];

	start();
	finds(RIG_MAP "/file", file);
	CHECK_INT(place->server->cred.uid, geteuid());
	CHECK_INT(place->server->cred.gid, getegid());
	snprintf(path, sizeof path, "%s/m/file", unit_dir);
	finds(path, file);
	CHECK_INT(place->server->cred.uid, 1);
	CHECK_INT(place->server->cred.ngroups, 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(plain),
	UNIT_TEST(trailing_slash),
	UNIT_TEST(dot_dot),
	UNIT_TEST(relative_links),
	UNIT_TEST(absolute_links),
	UNIT_TEST(link_not_followed),
	UNIT_TEST(local_link_not_followed),
	UNIT_TEST(loops),
	UNIT_TEST(too_long),
	UNIT_TEST(too_deep),
	UNIT_TEST(errors_of_the_server),
	UNIT_TEST(outcomes_are_retried),
	UNIT_TEST(no_contact),
	UNIT_TEST(dropped_map),
	UNIT_TEST(nested_maps),
	UNIT_TEST(nfs_credentials),
};

UNIT_MAIN(tests)
