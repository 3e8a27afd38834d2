/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open() below a map: flags, modes, errors, and the descriptor it gives. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/directory.h"
#include "core/io.h"
#include "core/opening.h"
#include "core/placeholder.h"
#include "rig.h"

static int export, dir, file;

static void start(const char *setting)
{
	rig_core();
	fake_start();
	export = fake_add(0, "export", NFSAPPEND_DIR, 0755, 0);
	dir = fake_add(export, "dir", NFSAPPEND_DIR, 0755, 0);
	file = fake_add(export, "file", NFSAPPEND_REG, 0644, 0);
	fake_append(file, "old\n", 4);
	fake_set_contact(1 << 20, 1 << 20, export);
	rig_config(
		"NFSAPPEND_MAP=" RIG_MAP "=nfs://fake/export", setting, NULL);
	umask(022);
}

static int open_at(const char *path, int flags, mode_t mode)
{
	unit_case("%.60s, flags %o", path, (unsigned)flags);
	return nfsappend_open_path(AT_FDCWD, path, flags, mode);
}

/* An open that succeeds; closed at once. */
static void opens(const char *path, int flags)
{
	int fd = open_at(path, flags, 0666);

	CHECK(fd >= 0);
	CHECK(nfsappend_placeholder_marked(fd));
	nfsappend_table_forget(fd);
	close(fd);
}

static void descriptor(void)
{
	struct nfsappend_placeholder *p = malloc(sizeof *p);
	struct nfsappend_open *o;
	int fd, flags;

	start("NFSAPPEND_TIMEOUT=7");
	fd = open_at(RIG_MAP "/file", O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
	flags = fcntl(fd, F_GETFL);
	CHECK(flags & O_APPEND);
	CHECK(!(flags & O_NONBLOCK));
	CHECK_INT(write(fd, "x", 1), -1); /* sealed: nothing gets lost */
	CHECK_INT(errno, EPERM);
	o = rig_open(fd);
	CHECK_INT(o->accmode, O_WRONLY);
	CHECK_STR(o->file->path, RIG_MAP "/file");
	CHECK_INT(o->file->fileid, fake_attr(file)->fileid);
	CHECK_INT(o->file->timeout_s, 7);
	CHECK_INT(o->file->sharing, NFSAPPEND_GUARDED);
	CHECK_INT(nfsappend_io_flags(o, flags) & O_ACCMODE, O_WRONLY);
	/* What finding it has cost. */
	CHECK_INT(o->file->stats.lookup_rpcs, o->file->stats.rpcs);
	CHECK(o->file->stats.lookup_rpcs > 0);
	nfsappend_open_put(o);
	CHECK_INT(nfsappend_placeholder_read(fd, p), 0);
	CHECK_STR(p->path, RIG_MAP "/file");
	CHECK_STR(p->target.host, "fake");
	CHECK_INT(p->timeout_s, 7);
	CHECK_HAS(rig_log(),
		"is served by nfsappend, because NFSAPPEND_MAP leads to it: "
		"nfs://fake/export, NFSv3, sharing guarded, ");
	fd = open_at(RIG_MAP "/file", O_RDWR | O_NONBLOCK, 0);
	CHECK_STR(rig_log(), ""); /* said at the first use */
	CHECK(fd >= 0);
	CHECK_INT(fcntl(fd, F_GETFD), 0);
	CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
	CHECK(!(fcntl(fd, F_GETFL) & O_APPEND));
	free(p);
}

static void not_ours(void)
{
	start(NULL);
	CHECK_INT(open_at("/etc/passwd", O_RDONLY, 0), NFSAPPEND_NOT_OURS);
	CHECK_INT(open_at("", O_RDONLY, 0), NFSAPPEND_NOT_OURS);
	CHECK_INT(open_at(RIG_MAP "/../x", O_RDONLY, 0), NFSAPPEND_NOT_OURS);
	CHECK_INT(fake_calls(FAKE_WRITE), 0);
}

static void found(void)
{
	start(NULL);
	opens(RIG_MAP "/file", O_RDONLY);
	opens(RIG_MAP "/file", O_WRONLY);
	opens(RIG_MAP "/file", O_RDWR | O_APPEND);
	opens(RIG_MAP "/file", O_WRONLY | O_CREAT | O_APPEND);
	opens(RIG_MAP "/file", O_WRONLY | O_EXCL);
	CHECK_INT(open_at(RIG_MAP "/file", O_WRONLY | O_CREAT | O_EXCL, 0666),
		-EEXIST);
	CHECK_INT(
		open_at(RIG_MAP "/file", O_RDONLY | O_DIRECTORY, 0), -ENOTDIR);
	CHECK_INT(open_at(RIG_MAP "/file/", O_RDONLY, 0), -ENOTDIR);
	CHECK_INT(fake_calls(FAKE_CREATE), 0);
	CHECK_INT(fake_calls(FAKE_SETATTR), 0);
	CHECK_INT(fake_attr(file)->size, 4);
}

static void missing(void)
{
	start(NULL);
	CHECK_INT(open_at(RIG_MAP "/none", O_WRONLY | O_APPEND, 0), -ENOENT);
	CHECK_INT(
		open_at(RIG_MAP "/none/x", O_WRONLY | O_CREAT, 0666), -ENOENT);
	CHECK_INT(
		open_at(RIG_MAP "/file/x", O_WRONLY | O_CREAT, 0666), -ENOTDIR);
	CHECK_INT(open_at(RIG_MAP "/none/", O_WRONLY | O_CREAT, 0666), -EISDIR);
	CHECK_INT(fake_calls(FAKE_CREATE), 0);
}

static void created(void)
{
	int made;

	start(NULL);
	umask(027);
	opens(RIG_MAP "/new", O_WRONLY | O_CREAT | O_APPEND);
	made = fake_find(export, "new");
	CHECK(made >= 0);
	CHECK_INT(fake_attr(made)->mode, 0640);
	umask(0);
	CHECK(open_at(RIG_MAP "/dir/new2", O_WRONLY | O_CREAT, 04755) >= 0);
	CHECK_INT(fake_attr(fake_find(dir, "new2"))->mode, 04755);
	/* Without write permission for its own maker, as creat() may. */
	CHECK(open_at(RIG_MAP "/new3", O_WRONLY | O_CREAT, 0444) >= 0);
	CHECK_INT(fake_attr(fake_find(export, "new3"))->mode, 0444);
}

static void create_through_a_link(void)
{
	start(NULL);
	fake_add_link(export, "link", "dir/target");
	CHECK_INT(open_at(RIG_MAP "/link", O_WRONLY | O_CREAT | O_EXCL, 0666),
		-EEXIST);
	opens(RIG_MAP "/link", O_WRONLY | O_CREAT);
	CHECK(fake_find(dir, "target") >= 0);
}

static void create_exclusive(void)
{
	int made;

	start(NULL);
	opens(RIG_MAP "/new", O_WRONLY | O_CREAT | O_EXCL);
	made = fake_find(export, "new");
	CHECK_INT(fake_attr(made)->mode, 0644);
	CHECK_INT(open_at(RIG_MAP "/new", O_WRONLY | O_CREAT | O_EXCL, 0666),
		-EEXIST);
	/* The answer was lost: made by us all the same. */
	FAKE(.op = FAKE_CREATE, .result = NFSAPPEND_LOST, .executed = true);
	opens(RIG_MAP "/new2", O_WRONLY | O_CREAT | O_EXCL);
	/* Somebody else was faster. */
	FAKE(.op = FAKE_LOOKUP, .result = -ENOENT);
	CHECK_INT(open_at(RIG_MAP "/new2", O_WRONLY | O_CREAT | O_EXCL, 0666),
		-EEXIST);
}

static void create_without_a_handle(void)
{
	struct nfsappend_open *o;
	int fd;

	start(NULL);
	FAKE(.op = FAKE_CREATE, .no_handle = true);
	fd = open_at(RIG_MAP "/new", O_WRONLY | O_CREAT, 0666);
	CHECK(fd >= 0);
	o = rig_open(fd);
	CHECK_INT(o->file->fileid, fake_attr(fake_find(export, "new"))->fileid);
	nfsappend_open_put(o);
}

static void truncated(void)
{
	start(NULL);
	opens(RIG_MAP "/file", O_WRONLY | O_TRUNC);
	CHECK_INT(fake_attr(file)->size, 0);
	fake_append(file, "more\n", 5);
	opens(RIG_MAP "/file", O_RDWR | O_CREAT | O_TRUNC | O_APPEND);
	CHECK_INT(fake_attr(file)->size, 0);
	/* A new file is empty: no RPC to say so. */
	fake_calls_reset();
	opens(RIG_MAP "/new", O_WRONLY | O_CREAT | O_TRUNC);
	CHECK_INT(fake_calls(FAKE_SETATTR), 0);
}

/* Linux truncates for O_RDONLY as well, where the mode allows to write. */
static void truncate_read_only(void)
{
	start(NULL);
	opens(RIG_MAP "/file", O_RDONLY | O_TRUNC);
	CHECK_INT(fake_attr(file)->size, 0);
}

static void truncate_and_known_size(void)
{
	struct iovec iov = {(void *)"new\n", 4};
	struct nfsappend_guard guard;
	struct nfsappend_open *o;
	size_t len;
	int fd;

	start("NFSAPPEND_SHARING=single");
	fd = open_at(RIG_MAP "/file", O_WRONLY | O_APPEND, 0);
	CHECK(fd >= 0);
	o = rig_open(fd);
	nfsappend_guard_enter(&guard);
	CHECK_INT(nfsappend_io_write(o, fd, &iov, 1, -1, 0), 4);
	opens(RIG_MAP "/file", O_WRONLY | O_TRUNC);
	CHECK_INT(nfsappend_io_write(o, fd, &iov, 1, -1, 0), 4);
	nfsappend_guard_leave(&guard);
	CHECK_MEM(fake_content(file, &len), fake_attr(file)->size, "new\n", 4);
	nfsappend_open_put(o);
}

static void directories(void)
{
	struct nfsappend_open *o;
	struct nfsappend_attr attr;
	int fd, again;

	start(NULL);
	CHECK_INT(open_at(RIG_MAP "/dir", O_WRONLY, 0), -EISDIR);
	CHECK_INT(open_at(RIG_MAP "/dir", O_RDWR | O_APPEND, 0), -EISDIR);
	CHECK_INT(open_at(RIG_MAP "/dir", O_RDONLY | O_CREAT, 0666), -EISDIR);
	CHECK_INT(open_at(RIG_MAP, O_WRONLY | O_CREAT, 0666), -EISDIR);
	fd = open_at(RIG_MAP "/dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
	o = rig_open(fd);
	CHECK(o->file == NULL);
	CHECK_STR(o->dir->path, RIG_MAP "/dir");
	CHECK_INT(nfsappend_io_getattr(o, &attr), 0);
	CHECK_INT(attr.type, NFSAPPEND_DIR);
	CHECK_INT(nfsappend_io_read(o, fd, NULL, 0, NFSAPPEND_AT_POSITION, 0),
		-EISDIR);
	CHECK(nfsappend_io_flags(o, 0) & O_DIRECTORY);
	nfsappend_open_put(o);
	/* What another process learns of it by its placeholder alone. */
	nfsappend_table_unsure(fd);
	o = rig_open(fd);
	CHECK_STR(o->dir->path, RIG_MAP "/dir");
	nfsappend_open_put(o);
	/* And what is relative to it. */
	again = nfsappend_open_path(fd, "../file", O_WRONLY | O_APPEND, 0);
	CHECK(again >= 0);
	close(again);
	CHECK_INT(nfsappend_open_path(fd, "none", O_WRONLY, 0), -ENOENT);
	close(fd);
}

static void special_files(void)
{
	static const enum nfsappend_type types[] = {
		NFSAPPEND_BLK, NFSAPPEND_CHR, NFSAPPEND_SOCK, NFSAPPEND_FIFO};
	char name[8], path[100];

	start(NULL);
	for (unsigned i = 0; i < UNIT_COUNT(types); i++) {
		sprintf(name, "s%u", i);
		fake_add(export, name, types[i], 0644, 0);
		sprintf(path, RIG_MAP "/%s", name);
		CHECK_INT(open_at(path, O_WRONLY | O_APPEND, 0), -EOPNOTSUPP);
		CHECK_HAS(rig_log(), "opening a special file");
	}
}

static void unsupported_flags(void)
{
	start(NULL);
	CHECK_INT(open_at(RIG_MAP "/file", O_PATH, 0), -EOPNOTSUPP);
	CHECK_INT(open_at(RIG_MAP "/dir", O_WRONLY | O_TMPFILE, 0600),
		-EOPNOTSUPP);
	CHECK_HAS(rig_log(), "[N401]");
}

static void no_follow(void)
{
	start(NULL);
	fake_add_link(export, "link", "file");
	opens(RIG_MAP "/link", O_WRONLY);
	CHECK_INT(open_at(RIG_MAP "/link", O_WRONLY | O_NOFOLLOW, 0), -ELOOP);
	opens(RIG_MAP "/file", O_WRONLY | O_NOFOLLOW);
}

static void permissions(void)
{
	static const struct {
		uint32_t denied;
		int flags, result;
	} cases[] = {
		{NFSAPPEND_ACCESS_READ, O_RDONLY, -EACCES},
		{NFSAPPEND_ACCESS_READ, O_RDWR, -EACCES},
		{NFSAPPEND_ACCESS_READ, O_WRONLY, 0},
		{NFSAPPEND_ACCESS_MODIFY, O_WRONLY, -EACCES},
		{NFSAPPEND_ACCESS_MODIFY, O_WRONLY | O_APPEND, 0},
		{NFSAPPEND_ACCESS_EXTEND, O_WRONLY | O_APPEND, -EACCES},
		{NFSAPPEND_ACCESS_MODIFY, O_WRONLY | O_APPEND | O_TRUNC,
			-EACCES},
		{NFSAPPEND_ACCESS_MODIFY, O_RDONLY | O_TRUNC, -EACCES},
		{NFSAPPEND_ACCESS_MODIFY | NFSAPPEND_ACCESS_EXTEND, O_RDONLY,
			0},
	};

	start(NULL);
	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		int r;

		fake_deny(file, cases[i].denied);
		fake_attr(file)->uid = i; /* nothing is remembered of it */
		r = open_at(RIG_MAP "/file", cases[i].flags, 0);
		CHECK_INT(r < 0 ? r : 0, cases[i].result);
		if (r < 0)
			CHECK_INT(fake_attr(file)->size, 4);
	}
}

/* ACCESS is asked once for a mode and owner, and for each right. */
static void rights_are_remembered(void)
{
	const char *path = RIG_MAP "/file";

	start(NULL);
	opens(path, O_WRONLY | O_APPEND);
	CHECK_INT(fake_calls(FAKE_ACCESS), 1);
	opens(path, O_WRONLY | O_APPEND);
	CHECK_INT(fake_calls(FAKE_ACCESS), 1);
	opens(path, O_RDWR | O_APPEND);
	CHECK_INT(fake_calls(FAKE_ACCESS), 2);
	opens(path, O_RDONLY);
	opens(path, O_WRONLY | O_APPEND);
	CHECK_INT(fake_calls(FAKE_ACCESS), 2);
	CHECK_INT(fake_calls(FAKE_LOOKUP), 5);
	/* What was granted to another mode or owner says nothing. */
	fake_deny(file, NFSAPPEND_ACCESS_EXTEND);
	fake_attr(file)->mode = 0444;
	CHECK_INT(open_at(path, O_WRONLY | O_APPEND, 0), -EACCES);
	fake_attr(file)->mode = 0644;
	fake_attr(file)->gid++;
	CHECK_INT(open_at(path, O_WRONLY | O_APPEND, 0), -EACCES);
	CHECK_INT(open_at(path, O_WRONLY | O_APPEND, 0), -EACCES);
	CHECK_INT(fake_calls(FAKE_ACCESS), 5);
}

/* What fails on the server is the program's errno, and told once. */
static void errors_of_the_server(void)
{
	static const struct {
		enum fake_op op;
		int flags;
		const char *name;
	} steps[] = {{FAKE_LOOKUP, O_WRONLY, "file"},
		{FAKE_ACCESS, O_WRONLY, "file"},
		{FAKE_CREATE, O_WRONLY | O_CREAT, "new"},
		{FAKE_SETATTR, O_WRONLY | O_TRUNC, "file"},
		{FAKE_SETATTR, O_WRONLY | O_CREAT | O_EXCL, "excl"}};
	static const int errors[] = {
		EACCES, EROFS, ENOSPC, EDQUOT, ESTALE, EIO};
	char path[100];

	start(NULL);
	for (unsigned s = 0; s < UNIT_COUNT(steps); s++)
		for (unsigned i = 0; i < UNIT_COUNT(errors); i++) {
			int before = open("/dev/null", O_RDONLY), after;

			snprintf(path, sizeof path, RIG_MAP "/%s",
				steps[s].name);
			FAKE(.op = steps[s].op, .result = -errors[i]);
			CHECK_INT(open_at(path, steps[s].flags, 0666),
				-errors[i]);
			CHECK_INT(fake_rules_left(), 0);
			if (steps[s].flags & O_EXCL)
				fake_remove(fake_find(export, "excl"));
			/* No descriptor is left behind. */
			close(before);
			after = open("/dev/null", O_RDONLY);
			CHECK_INT(after, before);
			close(after);
		}
	CHECK_INT(fake_attr(file)->size, 4);
}

static void messages(void)
{
	start(NULL);
	rig_log();
	FAKE(.op = FAKE_CREATE, .result = -ENOSPC);
	CHECK_INT(open_at(RIG_MAP "/new", O_WRONLY | O_CREAT, 0666), -ENOSPC);
	CHECK_HAS(rig_log(), "open of " RIG_MAP "/new (nfs://fake/export) "
			     "failed: ENOSPC");
	/* What programs try and expect to fail is not worth a message. */
	CHECK_INT(open_at(RIG_MAP "/none", O_WRONLY, 0), -ENOENT);
	CHECK_INT(open_at(RIG_MAP "/none", O_RDONLY, 0), -ENOENT);
	CHECK_INT(open_at(RIG_MAP "/file", O_WRONLY | O_CREAT | O_EXCL, 0666),
		-EEXIST);
	CHECK_STR(rig_log(), "");
}

static void outcomes_are_retried(void)
{
	static const int outcomes[] = {
		NFSAPPEND_UNSENT, NFSAPPEND_LOST, NFSAPPEND_DELAY};
	static const enum fake_op ops[] = {
		FAKE_LOOKUP, FAKE_ACCESS, FAKE_SETATTR};

	start(NULL);
	for (unsigned o = 0; o < UNIT_COUNT(ops); o++)
		for (unsigned i = 0; i < UNIT_COUNT(outcomes); i++) {
			FAKE(.op = ops[o], .result = outcomes[i],
				.executed = outcomes[i] == NFSAPPEND_LOST,
				/* The second is not sent: it shows. */
				.times = ops[o] == FAKE_SETATTR &&
							 outcomes[i] ==
								 NFSAPPEND_LOST
						 ? 1
						 : 2);
			fake_attr(file)->uid++; /* ACCESS is asked again */
			opens(RIG_MAP "/file", O_WRONLY | O_TRUNC);
			CHECK_INT(fake_rules_left(), 0);
		}
}

/* Another program makes the file, and writes, between our look and our
 * CREATE, which then finds it. */
static void loser_of_a_race_truncates(void)
{
	size_t len;

	start(NULL);
	FAKE(.op = FAKE_LOOKUP, .at = 1, .result = -ENOENT);
	opens(RIG_MAP "/file", O_WRONLY | O_CREAT | O_TRUNC);
	CHECK_INT(fake_calls(FAKE_CREATE), 1);
	fake_content(file, &len);
	CHECK_INT(len, 0);
	/* Without O_TRUNC it keeps what it has, and a new one needs none. */
	fake_append(file, "new\n", 4);
	FAKE(.op = FAKE_LOOKUP, .at = 1, .result = -ENOENT);
	opens(RIG_MAP "/file", O_WRONLY | O_CREAT);
	fake_content(file, &len);
	CHECK_INT(len, 4);
	fake_calls_reset();
	opens(RIG_MAP "/fresh", O_WRONLY | O_CREAT | O_TRUNC);
	CHECK_INT(fake_calls(FAKE_SETATTR), 0);
}

/* nfs-ganesha says ENOENT when the file goes while it is being created. */
static void create_meets_enoent(void)
{
	start(NULL);
	FAKE(.op = FAKE_CREATE, .result = -ENOENT, .times = 3);
	opens(RIG_MAP "/fresh", O_WRONLY | O_CREAT);
	CHECK_INT(fake_rules_left(), 0);
	FAKE(.op = FAKE_CREATE, .result = -ENOENT);
	opens(RIG_MAP "/exclusive", O_WRONLY | O_CREAT | O_EXCL);
	/* Not for ever. */
	FAKE(.op = FAKE_CREATE, .result = -ENOENT, .times = 100);
	CHECK_INT(open_at(RIG_MAP "/never", O_WRONLY | O_CREAT, 0600), -ENOENT);
	CHECK(fake_rules_left() > 0);
}

static void failed_truncation_is_told(void)
{
	const char *log;

	start(NULL);
	FAKE(.op = FAKE_SETATTR, .result = -EACCES);
	rig_log();
	CHECK_INT(open_at(RIG_MAP "/file", O_WRONLY | O_TRUNC, 0), -EACCES);
	log = rig_log();
	CHECK_HAS(log, "[N403]");
	CHECK_HAS_NOT(log, "[N301]");
}

static void locked_by_nfsv3_is_told_once(void)
{
	const char *log;

	start("NFSAPPEND_SHARING=locked");
	rig_log();
	opens(RIG_MAP "/file", O_WRONLY | O_APPEND);
	log = rig_log();
	CHECK_HAS(log, "[N106]");
	CHECK_HAS(log, "version=4");
	opens(RIG_MAP "/fresh", O_WRONLY | O_APPEND | O_CREAT);
	CHECK_HAS_NOT(rig_log(), "[N106]");
}

static void auto_by_nfsv3_is_not_told(void)
{
	start(NULL);
	opens(RIG_MAP "/file", O_WRONLY | O_APPEND);
	CHECK_HAS_NOT(rig_log(), "[N106]");
}

static void count_mapped(struct nfsappend_file *f, void *n)
{
	*(int *)n += f->segment.shared != NULL;
}

/* A program whose file is rotated does not grow with each one; and one that
 * it opens again is as it was. */
static void closed_files_give_memory_back(void)
{
	struct nfsappend_guard guard;
	struct nfsappend_open *o;
	char path[100];
	struct iovec iov = {"record\n", 7};
	uint64_t end;
	bool over;
	int fd, error, mapped = 0;

	start(NULL);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 40; i++) {
			snprintf(path, sizeof path, RIG_MAP "/f%d", i);
			fd = open_at(
				path, O_WRONLY | O_APPEND | O_CREAT, 0644);
			CHECK(fd >= 0);
			o = nfsappend_table_get(fd, &error);
			CHECK(o != NULL);
			nfsappend_guard_enter(&guard);
			CHECK_INT(nfsappend_file_append(o->file, &iov, 1, 7,
					  INT64_MAX, &end, &over),
				7);
			CHECK_INT(end, 7 * (round + 1));
			nfsappend_guard_leave(&guard);
			nfsappend_open_put(o);
			nfsappend_table_forget(fd);
			close(fd);
		}
	nfsappend_file_each(count_mapped, &mapped);
	CHECK(mapped <= 10);
}

static void time_is_over(void)
{
	start("NFSAPPEND_TIMEOUT=60");
	FAKE(.op = FAKE_LOOKUP, .result = NFSAPPEND_TIMED_OUT);
	CHECK_INT(open_at(RIG_MAP "/file", O_WRONLY, 0), -EIO);
	FAKE(.op = FAKE_ACCESS, .result = NFSAPPEND_UNSENT, .late = true);
	CHECK_INT(open_at(RIG_MAP "/file", O_WRONLY, 0), -EIO);
	opens(RIG_MAP "/file", O_WRONLY);
}

static void no_descriptor_left(void)
{
	struct rlimit limit, before;

	start(NULL);
	/* Nothing can be opened; and what was made on the server stays. */
	opens(RIG_MAP "/file", O_WRONLY);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 3;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CHECK_INT(open_at(RIG_MAP "/file", O_WRONLY, 0), -EMFILE);
	/* A sanitizer has files to open at the end. */
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(descriptor),
	UNIT_TEST(not_ours),
	UNIT_TEST(found),
	UNIT_TEST(missing),
	UNIT_TEST(created),
	UNIT_TEST(create_through_a_link),
	UNIT_TEST(create_exclusive),
	UNIT_TEST(create_without_a_handle),
	UNIT_TEST(truncated),
	UNIT_TEST(truncate_read_only),
	UNIT_TEST(truncate_and_known_size),
	UNIT_TEST(directories),
	UNIT_TEST(special_files),
	UNIT_TEST(unsupported_flags),
	UNIT_TEST(no_follow),
	UNIT_TEST(permissions),
	UNIT_TEST(rights_are_remembered),
	UNIT_TEST(errors_of_the_server),
	UNIT_TEST(messages),
	UNIT_TEST(outcomes_are_retried),
	UNIT_TEST(loser_of_a_race_truncates),
	UNIT_TEST(create_meets_enoent),
	UNIT_TEST(failed_truncation_is_told),
	UNIT_TEST(locked_by_nfsv3_is_told_once),
	UNIT_TEST(auto_by_nfsv3_is_not_told),
	UNIT_TEST(closed_files_give_memory_back),
	UNIT_TEST(time_is_over),
	UNIT_TEST(no_descriptor_left),
};

UNIT_MAIN(tests)
