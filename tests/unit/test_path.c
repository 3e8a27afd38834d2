/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths on this host: normalised, matched, followed through links. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/path.h"
#include "rig.h"

static void normalise(void)
{
	static const struct {
		const char *path, *out;
	} cases[] = {
		{"/", "/"},
		{"//", "/"},
		{"/.", "/"},
		{"/..", "/"},
		{"/../..", "/"},
		{"/a", "/a"},
		{"/a/", "/a"},
		{"//a//b//", "/a/b"},
		{"/a/./b/.", "/a/b"},
		{"/a/../b", "/b"},
		{"/a/b/../../c", "/c"},
		{"/a/b/..", "/a"},
		{"/a/..b/.c/...", "/a/..b/.c/..."},
	};
	char out[100];

	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		unit_case("%s", cases[i].path);
		CHECK_INT(nfsappend_path_normalise(
				  cases[i].path, out, sizeof out),
			strlen(cases[i].out));
		CHECK_STR(out, cases[i].out);
	}
	unit_case("%s", "");
	CHECK_INT(nfsappend_path_normalise("a", out, sizeof out), -EINVAL);
	CHECK_INT(nfsappend_path_normalise("", out, sizeof out), -EINVAL);
	CHECK_INT(nfsappend_path_normalise("/abc", out, 5), 4);
	CHECK_INT(nfsappend_path_normalise("/abcd", out, 5), -ENAMETOOLONG);
	CHECK_INT(nfsappend_path_normalise("/a/bc", out, 5), -ENAMETOOLONG);
	/* What is cancelled needs no room at the end, only on the way. */
	CHECK_INT(nfsappend_path_normalise("/abc/../d", out, 5), 2);
}

static void match(void)
{
	rig_core();
	CHECK(nfsappend_path_match("/logs/x") == NULL);
	rig_config("NFSAPPEND_MAP=/logs=nfs://s/1 /logs/deep=nfs://s/2", NULL);
	CHECK_STR(nfsappend_path_match("/logs")->dir, "/logs");
	CHECK_STR(nfsappend_path_match("/logs/")->dir, "/logs");
	CHECK_STR(nfsappend_path_match("/logs/x/y")->dir, "/logs");
	CHECK_STR(nfsappend_path_match("/logs/deep")->dir, "/logs/deep");
	CHECK_STR(nfsappend_path_match("/logs/deep/x")->dir, "/logs/deep");
	CHECK_STR(nfsappend_path_match("/logs/deeper")->dir, "/logs");
	CHECK(nfsappend_path_match("/logsx") == NULL);
	CHECK(nfsappend_path_match("/log") == NULL);
	CHECK(nfsappend_path_match("/") == NULL);
	CHECK(nfsappend_path_match("logs/x") == NULL);
}

static struct nfsappend_walk *walk;

static void start(void)
{
	rig_core();
	rig_config("NFSAPPEND_MAP=" RIG_MAP "=nfs://s/e " RIG_MAP
		   "/sub/in=nfs://s/f",
		NULL);
	walk = unit_alloc(sizeof *walk);
	CHECK_INT(chdir(unit_dir), 0);
	CHECK_INT(mkdir("d", 0700), 0);
	CHECK_INT(mkdir("d/e", 0700), 0);
}

static int walks(int dirfd, const char *path)
{
	unit_case("%.80s", path);
	walk->links = 0;
	return nfsappend_path_walk(dirfd, path, true, walk);
}

/* It leads into the map, with that left to be looked up. */
static void enters(int dirfd, const char *path, const char *rest)
{
	CHECK_INT(walks(dirfd, path), 0);
	CHECK(walk->map != NULL);
	CHECK_STR(walk->map->dir, RIG_MAP);
	CHECK_STR(walk->rest, rest);
}

/* It stays on this host; want is below unit_dir. */
static void stays(int dirfd, const char *path, const char *want)
{
	char full[200];

	snprintf(full, sizeof full, "%s%s", unit_dir, want);
	CHECK_INT(walks(dirfd, path), 0);
	CHECK(walk->map == NULL);
	CHECK_STR(walk->rest, full);
}

static void walk_absolute(void)
{
	start();
	enters(AT_FDCWD, RIG_MAP, "");
	enters(AT_FDCWD, RIG_MAP "/", "/");
	enters(AT_FDCWD, RIG_MAP "/x", "/x");
	enters(AT_FDCWD, RIG_MAP "/x/../y", "/x/../y");
	enters(AT_FDCWD, "//nfsappend-unit/.//logs/x", "/x");
	enters(AT_FDCWD, "/nfsappend-unit/other/../logs/x", "/x");
	enters(AT_FDCWD, "/../nfsappend-unit/logs/x", "/x");
	CHECK_INT(walks(AT_FDCWD, RIG_MAP "x"), 0);
	CHECK(walk->map == NULL);
	CHECK_INT(walks(AT_FDCWD, "/"), 0);
	CHECK(walk->map == NULL);
	CHECK_STR(walk->rest, "/");
	CHECK_INT(walks(AT_FDCWD, ""), -ENOENT);
}

static void walk_nested_maps(void)
{
	start();
	CHECK_INT(walks(AT_FDCWD, RIG_MAP "/sub/in/x"), 0);
	CHECK_STR(walk->map->dir, RIG_MAP "/sub/in");
	CHECK_STR(walk->rest, "/x");
	CHECK_INT(walks(AT_FDCWD, RIG_MAP "/sub/in"), 0);
	CHECK_STR(walk->map->dir, RIG_MAP "/sub/in");
	enters(AT_FDCWD, RIG_MAP "/sub/inner", "/sub/inner");
	enters(AT_FDCWD, RIG_MAP "/sub", "/sub");
}

static void walk_relative(void)
{
	char up[200] = "";
	int dir;

	start();
	stays(AT_FDCWD, "d/x", "/d/x");
	stays(AT_FDCWD, "d/e/../y", "/d/y");
	stays(AT_FDCWD, ".", "");
	stays(AT_FDCWD, "d/", "/d/");
	for (int i = 0; i < 12; i++)
		strcat(up, "../");
	strcat(up, "nfsappend-unit/logs/x");
	enters(AT_FDCWD, up, "/x");
	dir = open("d/e", O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0);
	stays(dir, "z", "/d/e/z");
	stays(dir, "../z", "/d/z");
	enters(dir, up, "/x");
	/* An absolute path asks nothing of dirfd. */
	enters(12345, RIG_MAP "/x", "/x");
	CHECK_INT(walks(12345, "x"), -EBADF);
	close(dir);
}

static void walk_links(void)
{
	start();
	CHECK_INT(symlink(RIG_MAP, "in"), 0);
	CHECK_INT(symlink(RIG_MAP "/file", "file"), 0);
	CHECK_INT(symlink("in", "second"), 0);
	CHECK_INT(symlink("../second/deep", "d/third"), 0);
	CHECK_INT(symlink("d/e", "local"), 0);
	CHECK_INT(symlink("/nfsappend-unit", "above"), 0);
	CHECK_INT(symlink("none", "dangling"), 0);
	enters(AT_FDCWD, "in/x", "/x");
	enters(AT_FDCWD, "in", "");
	enters(AT_FDCWD, "file", "/file");
	enters(AT_FDCWD, "second/x", "/x");
	enters(AT_FDCWD, "d/third/x", "/deep/x");
	CHECK_INT(walk->links, 3);
	enters(AT_FDCWD, "above/logs/x", "/x");
	/* ".." goes up from where the link leads to. */
	stays(AT_FDCWD, "local/../y", "/d/y");
	stays(AT_FDCWD, "dangling/y", "/none/y");
	/* Below a map links are the server's. */
	enters(AT_FDCWD, "in/../x", "/../x");
}

static void walk_loops(void)
{
	char name[8], target[8];

	start();
	CHECK_INT(symlink("loop", "loop"), 0);
	CHECK_INT(walks(AT_FDCWD, "loop"), -ELOOP);
	CHECK_INT(walks(AT_FDCWD, "loop/x"), -ELOOP);
	/* 40 links are followed, as by the kernel, and no more. */
	CHECK_INT(symlink(RIG_MAP, "l0"), 0);
	for (int i = 1; i <= 40; i++) {
		sprintf(name, "l%d", i);
		sprintf(target, "l%d", i - 1);
		CHECK_INT(symlink(target, name), 0);
	}
	enters(AT_FDCWD, "l39/x", "/x");
	CHECK_INT(walks(AT_FDCWD, "l40/x"), -ELOOP);
}

static void walk_too_long(void)
{
	static char path[3 * PATH_MAX];

	start();
	memset(path, 0, 3 * PATH_MAX);
	memset(path, '/', PATH_MAX - 2);
	strcat(path, "x");
	CHECK_INT(walks(AT_FDCWD, path), 0);
	memset(path, '/', PATH_MAX);
	CHECK_INT(walks(AT_FDCWD, path), -ENAMETOOLONG);
	/* Fits by itself, but not behind the working directory. */
	memset(path, 0, 3 * PATH_MAX);
	for (int i = 0; i < 2040; i++)
		strcat(path, "a/");
	CHECK_INT(walks(AT_FDCWD, path), -ENAMETOOLONG);
	/* A link whose target and rest do not fit together. */
	memset(path, 0, 3 * PATH_MAX);
	for (int i = 0; i < 1200; i++)
		strcat(path, "b/");
	path[strlen(path) - 1] = '\0';
	CHECK_INT(symlink(path, "long"), 0);
	memset(path, 0, 3 * PATH_MAX);
	strcat(path, "long");
	for (int i = 0; i < 1000; i++)
		strcat(path, "/b");
	CHECK_INT(walks(AT_FDCWD, path), -ENAMETOOLONG);
}

/* A directory that is gone is no place that a map could be at. */
static void walk_from_a_removed_directory(void)
{
	int r;

	start();
	CHECK_INT(chdir("d/e"), 0);
	CHECK_INT(rmdir("../e"), 0);
	r = walks(AT_FDCWD, "x");
	CHECK(r == -ENOENT || (r == 0 && walk->map == NULL));
	enters(AT_FDCWD, RIG_MAP "/x", "/x");
}

static const struct unit_test tests[] = {
	UNIT_TEST(normalise),
	UNIT_TEST(match),
	UNIT_TEST(walk_absolute),
	UNIT_TEST(walk_nested_maps),
	UNIT_TEST(walk_relative),
	UNIT_TEST(walk_links),
	UNIT_TEST(walk_loops),
	UNIT_TEST(walk_too_long),
	UNIT_TEST(walk_from_a_removed_directory),
};

UNIT_MAIN(tests)
