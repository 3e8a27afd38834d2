/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Host segments: who meets in one, who gets none, and what is not believed. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/process.h"
#include "core/segment.h"
#include "rig.h"

#define KEY "server and handle"

static struct nfsappend_segment_view view;
static const char *directory;

static struct nfsappend_segment *open_key(
	struct nfsappend_segment_view *v, const char *key)
{
	struct nfsappend_guard guard;

	nfsappend_guard_enter(&guard);
	CHECK_INT(nfsappend_segment_open(v, key, strlen(key)), 0);
	nfsappend_guard_leave(&guard);
	CHECK(v->shared != NULL);
	return v->shared;
}

static void start(void)
{
	rig_core();
	directory = nfsappend_config.runtime;
}

static int lead(struct nfsappend_segment_view *v, unsigned timeout_s)
{
	struct nfsappend_guard guard;
	struct nfsappend_waiting w;
	int r;

	nfsappend_guard_enter(&guard);
	nfsappend_wait_start(&w, "test", timeout_s);
	r = nfsappend_segment_lead(v, &w);
	nfsappend_guard_leave(&guard);
	return r;
}

static unsigned files_in(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	unsigned n = 0;

	CHECK(dir != NULL);
	while ((e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static unsigned users_of(struct nfsappend_segment *s)
{
	unsigned n = 0;

	for (int i = 0; i < NFSAPPEND_USERS; i++)
		n += s->users[i] != 0;
	return n;
}

static void created(void)
{
	struct nfsappend_segment *s;
	struct stat st;

	start();
	umask(0);
	s = open_key(&view, KEY);
	CHECK(!view.is_private);
	CHECK_INT(stat(directory, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK_INT(stat(view.path, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(files_in(directory), 1);
	CHECK_INT(s->size_known, 0);
	CHECK_INT(s->pending, NFSAPPEND_SETTLED);
	CHECK_INT(s->users[0], getpid());
	CHECK_INT(lead(&view, 0), 0);
	nfsappend_segment_unlead(&view);
	CHECK_STR(rig_log(), "");
	nfsappend_segment_close(&view);
	CHECK(view.shared == NULL);
	nfsappend_segment_close(&view); /* nothing to do */
	CHECK_INT(files_in(directory), 1);
}

static void sharer(void *arg)
{
	struct nfsappend_segment *s = open_key(&view, KEY);

	(void)arg;
	CHECK(!view.is_private);
	CHECK_INT(s->size, 4711);
	CHECK_INT(lead(&view, 0), 0);
	s->size = 4712;
	nfsappend_segment_unlead(&view);
	CHECK_INT(users_of(s), 2);
	nfsappend_segment_close(&view);
}

static void shared(void)
{
	struct nfsappend_segment_view other;
	struct nfsappend_segment *s;

	start();
	s = open_key(&view, KEY);
	s->size = 4711;
	CHECK_INT(unit_wait(unit_fork(sharer, NULL)), 0);
	CHECK_INT(s->size, 4712);
	CHECK_INT(users_of(s), 1);
	/* Another key, another segment. */
	CHECK(open_key(&other, KEY "2") != s);
	CHECK_INT(other.shared->size, 0);
	CHECK_INT(files_in(directory), 2);
}

static void inherits(void *arg)
{
	struct nfsappend_segment *s = view.shared;

	(void)arg;
	/* Inherited, not opened: entered at the first use. */
	CHECK_INT(lead(&view, 0), 0);
	CHECK_INT(users_of(s), 2);
	nfsappend_segment_unlead(&view);
}

static void inherited(void)
{
	start();
	open_key(&view, KEY);
	CHECK_INT(unit_wait(unit_fork(inherits, NULL)), 0);
	CHECK_INT(lead(&view, 0), 0);
	nfsappend_segment_unlead(&view);
}

static void dies_leading(void *arg)
{
	(void)arg;
	CHECK_INT(lead(&view, 0), 0);
	view.shared->size = 5;
	view.shared->size_known = 1;
	raise(SIGKILL);
}

static void leader_dies(void)
{
	start();
	open_key(&view, KEY);
	for (int i = 0; i < 3; i++) {
		CHECK(WIFSIGNALED(unit_wait(unit_fork(dies_leading, NULL))));
		CHECK_INT(lead(&view, 0), 1);
		CHECK_INT(view.shared->size_known, 0);
		nfsappend_segment_unlead(&view);
		CHECK_INT(lead(&view, 0), 0);
		nfsappend_segment_unlead(&view);
	}
}

/* One dies while another waits for it. */
static void leads_for_ever(void *arg)
{
	CHECK_INT(lead(&view, 0), 0);
	CHECK_INT(write(*(int *)arg, "", 1), 1);
	for (;;)
		pause();
}

static pid_t other_leader(void)
{
	int led[2];
	pid_t pid;
	char c;

	CHECK_INT(pipe(led), 0);
	pid = unit_fork(leads_for_ever, &led[1]);
	CHECK_INT(read(led[0], &c, 1), 1);
	return pid;
}

static void waits(void *arg)
{
	(void)arg;
	CHECK_INT(lead(&view, 0), 1);
	nfsappend_segment_unlead(&view);
}

static void leader_dies_while_another_waits(void)
{
	pid_t leader, waiter;

	start();
	open_key(&view, KEY);
	leader = other_leader();
	waiter = unit_fork(waits, NULL);
	kill(leader, SIGKILL);
	CHECK(WIFSIGNALED(unit_wait(leader)));
	CHECK_INT(unit_wait(waiter), 0);
}

static void leader_lives(void)
{
	pid_t leader;

	start();
	open_key(&view, KEY);
	leader = other_leader();
	CHECK_INT(lead(&view, 1), -ETIMEDOUT);
	kill(leader, SIGKILL);
	unit_wait(leader);
	CHECK_INT(lead(&view, 1), 1);
	nfsappend_segment_unlead(&view);
}

/* A file that is not what it should be is put aside. */
static void replaced(void (*spoil)(const char *path))
{
	struct nfsappend_segment *s;
	char path[sizeof view.path];

	start();
	s = open_key(&view, KEY);
	s->size = 4711;
	strcpy(path, view.path);
	nfsappend_segment_close(&view);
	spoil(path);
	rig_log();
	s = open_key(&view, KEY);
	CHECK(!view.is_private);
	CHECK_STR(view.path, path);
	CHECK_INT(s->size, 0);
	CHECK_INT(users_of(s), 1);
	CHECK_HAS(rig_log(), "it is replaced");
	CHECK_INT(lead(&view, 0), 0);
	nfsappend_segment_unlead(&view);
}

static void poke(const char *path, const void *data, size_t n, off_t at)
{
	int fd = open(path, O_RDWR);

	CHECK(fd >= 0);
	CHECK_INT(pwrite(fd, data, n, at), n);
	close(fd);
}

static void spoil_magic(const char *path)
{
	poke(path, "x", 1, 0);
}

static void other_version(void)
{
	replaced(spoil_magic);
}

static void spoil_key(const char *path)
{
	poke(path, "x", 1, offsetof(struct nfsappend_segment, key) + 40);
}

static void other_key(void)
{
	replaced(spoil_key);
}

static void spoil_keylen(const char *path)
{
	uint32_t len = UINT32_MAX;

	poke(path, &len, sizeof len,
		offsetof(struct nfsappend_segment, keylen));
}

static void bad_length_of_key(void)
{
	replaced(spoil_keylen);
}

static void spoil_allocated(const char *path)
{
	uint64_t len = UINT64_MAX;

	poke(path, &len, sizeof len,
		offsetof(struct nfsappend_segment, allocated));
}

static void bad_size_of_stage(void)
{
	replaced(spoil_allocated);
}

static void spoil_size(const char *path)
{
	CHECK_INT(truncate(path, 100), 0);
}

static void cut_short(void)
{
	replaced(spoil_size);
}

static void spoil_mode(const char *path)
{
	CHECK_INT(chmod(path, 0666), 0);
}

static void open_to_others(void)
{
	replaced(spoil_mode);
}

static void spoil_owner(const char *path)
{
	if (chown(path, 12345, 12345) != 0)
		unit_skip("needs root");
}

static void of_another_owner(void)
{
	replaced(spoil_owner);
}

static void spoil_type(const char *path)
{
	CHECK_INT(unlink(path), 0);
	CHECK_INT(mkfifo(path, 0600), 0);
}

static void no_regular_file(void)
{
	replaced(spoil_type);
}

/* Half made by a process that died: gone on with. */
static void unfinished(void)
{
	uint32_t none = 0;
	char path[sizeof view.path];

	start();
	open_key(&view, KEY);
	strcpy(path, view.path);
	nfsappend_segment_close(&view);
	poke(path, &none, sizeof none,
		offsetof(struct nfsappend_segment, ready));
	rig_log();
	open_key(&view, KEY);
	CHECK(!view.is_private);
	CHECK_INT(lead(&view, 0), 0);
	nfsappend_segment_unlead(&view);
	CHECK_STR(rig_log(), "");
}

/* No segment to share: one of its own, and one message that says why. */
static void gets_a_private_one(const char *why)
{
	const char *log;

	open_key(&view, KEY);
	CHECK(view.is_private);
	log = rig_log();
	CHECK_HAS(log, "no shared memory in ");
	CHECK_HAS(log, why);
	CHECK_INT(lead(&view, 0), 0);
	CHECK_INT(nfsappend_segment_stage(&view, UINT32_MAX),
		NFSAPPEND_STAGE_MAX);
	memset(view.shared->stage, 1, NFSAPPEND_STAGE_MAX);
	nfsappend_segment_unlead(&view);
	nfsappend_segment_close(&view);
}

static void a_link_in_its_place(void)
{
	char path[sizeof view.path], target[100];

	start();
	open_key(&view, KEY);
	strcpy(path, view.path);
	nfsappend_segment_close(&view);
	CHECK_INT(unlink(path), 0);
	snprintf(target, sizeof target, "%s/victim", unit_dir);
	CHECK_INT(symlink(target, path), 0);
	rig_log();
	gets_a_private_one("ELOOP");
	CHECK_INT(access(target, F_OK), -1);
}

static void directories(void)
{
	static char path[300];

	start();
	rig_log();
	nfsappend_config.runtime = path;

	unit_case("a mode that lets others in");
	snprintf(path, sizeof path, "%s/open", unit_dir);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK_INT(chmod(path, 0750), 0);
	gets_a_private_one("EPERM");
	CHECK_INT(files_in(path), 0);

	unit_case("a file");
	snprintf(path, sizeof path, "%s/log", unit_dir);
	gets_a_private_one("EPERM");

	unit_case("a link");
	snprintf(path, sizeof path, "%s/link", unit_dir);
	CHECK_INT(symlink(unit_dir, path), 0);
	gets_a_private_one("EPERM");

	unit_case("no parent");
	snprintf(path, sizeof path, "%s/no/where", unit_dir);
	gets_a_private_one("ENOENT");

	unit_case("too long");
	memset(path, 'x', sizeof path - 1);
	path[0] = '/';
	gets_a_private_one("ENAMETOOLONG");
}

static void directory_of_another(void)
{
	static char path[100];

	start();
	rig_log();
	snprintf(path, sizeof path, "%s/foreign", unit_dir);
	CHECK_INT(mkdir(path, 0700), 0);
	if (chown(path, 12345, 12345) != 0)
		unit_skip("needs root");
	nfsappend_config.runtime = path;
	gets_a_private_one("EPERM");
	CHECK_INT(files_in(path), 0);
}

/* single needs what a private segment cannot give. */
static void single_without_a_segment(void)
{
	rig_core();
	fake_start();
	nfsappend_config.runtime = "/nfsappend-unit/none";
	rig_private = true;
	rig_file_now(NFSAPPEND_SINGLE);
	CHECK_INT(rig_file->sharing, NFSAPPEND_GUARDED);
	CHECK_HAS(rig_log(), "[N105]");
}

static void private_is_shared_with_children(void)
{
	start();
	nfsappend_config.runtime = "/nfsappend-unit/none";
	open_key(&view, KEY);
	CHECK(view.is_private);
	CHECK(WIFSIGNALED(unit_wait(unit_fork(dies_leading, NULL))));
	CHECK_INT(lead(&view, 0), 1);
	CHECK_INT(view.shared->size, 5);
	nfsappend_segment_unlead(&view);
}

static void default_directory(void)
{
	char want[100];

	start();
	nfsappend_config.runtime = NULL;
	snprintf(want, sizeof want, "/dev/shm/nfsappend-%u/", geteuid());
	open_key(&view, unit_dir); /* a key of this test alone */
	if (view.is_private)
		unit_skip("no /dev/shm here");
	CHECK(!strncmp(view.path, want, strlen(want)));
	CHECK_INT(unlink(view.path), 0);
}

static void stage_grows(void)
{
	struct nfsappend_segment *s;
	struct stat st;
	uint32_t first;

	start();
	s = open_key(&view, KEY);
	CHECK_INT(lead(&view, 0), 0);
	CHECK_INT(nfsappend_segment_stage(&view, 100), 100);
	first = (uint32_t)s->allocated;
	CHECK(first >= 2048);
	CHECK_INT(nfsappend_segment_stage(&view, first + 1), first + 1);
	CHECK_INT(nfsappend_segment_stage(&view, 100000), 100000);
	memset(s->stage, 7, 100000);
	CHECK_INT(nfsappend_segment_stage(&view, 4096), 4096);
	CHECK_INT(nfsappend_segment_stage(&view, UINT32_MAX),
		NFSAPPEND_STAGE_MAX);
	memset(s->stage, 7, NFSAPPEND_STAGE_MAX);
	CHECK_INT(s->stage[99999], 7);
	CHECK_INT(stat(view.path, &st), 0);
	CHECK(st.st_blocks * 512 >= NFSAPPEND_STAGE_MAX);
	/* Scribbled on: only what is certainly there. */
	s->allocated = UINT64_MAX;
	CHECK_INT(nfsappend_segment_stage(&view, 100), 100);
	s->allocated = 0;
	CHECK_INT(nfsappend_segment_stage(&view, 100), 100);
	nfsappend_segment_unlead(&view);
}

static void stage_without_the_file(void)
{
	uint32_t first;

	start();
	open_key(&view, KEY);
	first = (uint32_t)view.shared->allocated;
	CHECK_INT(unlink(view.path), 0);
	CHECK_INT(nfsappend_segment_stage(&view, 100000), first);
	memset(view.shared->stage, 7, first);
	/* Another file under the name is no memory of ours. */
	close(open(view.path, O_RDWR | O_CREAT, 0600));
	CHECK_INT(nfsappend_segment_stage(&view, 100000), first);
}

/* A tmpfs of its own, so that it can be full. */
static void mount_tmpfs(const char *options)
{
	static char path[100];

	start();
	snprintf(path, sizeof path, "%s/tmpfs", unit_dir);
	CHECK_INT(mkdir(path, 0700), 0);
	if (unshare(CLONE_NEWNS) != 0 ||
		mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("tmpfs", path, "tmpfs", 0, options) != 0)
		unit_skip("needs root and mount namespaces");
	nfsappend_config.runtime = path;
	directory = path;
	rig_log();
}

static void fill(void)
{
	char path[200], page[4096] = "";
	struct statvfs st;
	int fd;

	snprintf(path, sizeof path, "%s/fill", directory);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	while (write(fd, page, sizeof page) > 0)
		;
	CHECK_INT(errno, ENOSPC);
	CHECK_INT(statvfs(directory, &st), 0);
	CHECK_INT(st.f_bfree, 0);
	close(fd);
}

static void full_disk(void)
{
	mount_tmpfs("size=64k,mode=0700");
	fill();
	gets_a_private_one("ENOSPC");
	/* Nothing half made is left to others. */
	open_key(&view, KEY);
	CHECK(view.is_private);
}

static void disk_that_fills_up(void)
{
	uint32_t got;

	mount_tmpfs("size=64k,mode=0700");
	open_key(&view, KEY);
	CHECK(!view.is_private);
	fill();
	/* Memory stands behind what may be used: no SIGBUS. */
	got = nfsappend_segment_stage(&view, NFSAPPEND_STAGE_MAX);
	CHECK(got >= 2048 && got < 65536);
	memset(view.shared->stage, 7, got);
	/* Appends go on, in smaller WRITEs. */
	nfsappend_segment_close(&view);
}

static void append_on_a_full_disk(void)
{
	char *record = unit_alloc(60000);
	size_t len;

	memset(record, 'r', 60000);
	mount_tmpfs("size=64k,mode=0700");
	fake_start();
	rig_file_now(NFSAPPEND_GUARDED);
	fill();
	CHECK_INT(rig_append_bytes(record, 60000), 60000);
	CHECK(fake_calls(FAKE_WRITE) > 1);
	CHECK_MEM(fake_content(rig_node, &len), 60000, record, 60000);
	free(record);
}

static void leaves_one(void *arg)
{
	open_key(&view, arg);
}

static void age(const char *key, int64_t seconds)
{
	int64_t used = nfsappend_now() / INT64_C(1000000000) - seconds;
	struct nfsappend_segment_view v;

	CHECK_INT(unit_wait(unit_fork(leaves_one, (void *)key)), 0);
	/* A look of ours tells its path. */
	open_key(&v, key);
	nfsappend_segment_close(&v);
	poke(v.path, &used, sizeof used,
		offsetof(struct nfsappend_segment, used_s));
	strcpy(view.path, v.path);
}

static void make_stranger(const char *path, size_t size, int age_s)
{
	struct timespec t[2];
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, (off_t)size), 0);
	clock_gettime(CLOCK_REALTIME, &t[0]);
	t[0].tv_sec -= age_s;
	t[1] = t[0];
	CHECK_INT(futimens(fd, t), 0);
	close(fd);
}

/* Those of another version, of which nothing but the age can be told. */
static void sweep_strangers(void)
{
	char old[200], young[200], small[200], other[200];

	start();
	open_key(&view, "first");
	snprintf(old, sizeof old, "%s/%032d", directory, 1);
	snprintf(young, sizeof young, "%s/%032d", directory, 2);
	snprintf(small, sizeof small, "%s/%032d", directory, 3);
	snprintf(other, sizeof other, "%s/an-old-file", directory);
	make_stranger(old, 1 << 20, 2 * 86400);
	make_stranger(young, 1 << 20, 3600);
	make_stranger(small, 100, 2 * 86400);
	make_stranger(other, 1 << 20, 2 * 86400);
	open_key(&view, "new");
	CHECK_INT(access(old, F_OK), -1);
	CHECK_INT(access(small, F_OK), -1);
	CHECK_INT(access(young, F_OK), 0);
	CHECK_INT(access(other, F_OK), 0);
}

/* Whoever makes a new one looks at the old ones. */
static void sweep(void)
{
	char old[sizeof view.path], young[sizeof view.path];
	char used[sizeof view.path], other[200];
	struct nfsappend_segment_view v;

	start();
	open_key(&v, "in use");
	strcpy(used, v.path);
	age("young", 10);
	strcpy(young, view.path);
	age("old", 3600);
	strcpy(old, view.path);
	snprintf(other, sizeof other, "%s/README", directory);
	close(open(other, O_RDWR | O_CREAT, 0600));
	v.shared->used_s -= 3600;
	CHECK_INT(access(old, F_OK), 0);
	/* An open of one that is there sweeps nothing. */
	open_key(&view, "in use");
	CHECK_INT(access(old, F_OK), 0);
	open_key(&view, "new");
	CHECK_INT(access(old, F_OK), -1);
	CHECK_INT(access(young, F_OK), 0);
	CHECK_INT(access(used, F_OK), 0);
	CHECK_INT(access(other, F_OK), 0);
	CHECK_INT(access(view.path, F_OK), 0);
}

static void waits_for_its_end(void *arg)
{
	open_key(&view, arg);
	for (;;)
		pause();
}

/* With more users than are listed: as long as one of them lives, be it one
 * that is not listed. */
static void sweep_of_a_crowd(void)
{
	uint32_t yes = 1;
	char path[sizeof view.path];
	pid_t pid;

	start();
	age("crowd", 3600);
	strcpy(path, view.path);
	poke(path, &yes, sizeof yes,
		offsetof(struct nfsappend_segment, crowded));
	pid = unit_fork(waits_for_its_end, "crowd");
	while (open_key(&view, "crowd")->users[0] != pid) {
		nfsappend_segment_close(&view);
		usleep(1000);
	}
	memset(view.shared->users, 0, sizeof view.shared->users);
	view.shared->used_s -= 3600;
	nfsappend_segment_close(&view);
	poke(path, &(int64_t){1}, 8,
		offsetof(struct nfsappend_segment, used_s));
	open_key(&view, "new");
	CHECK_INT(access(path, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	open_key(&view, "newer");
	CHECK_INT(access(path, F_OK), -1);
}

static void sweep_of_many(void)
{
	unsigned left;

	start();
	for (int i = 0; i < 300; i++) {
		char key[20];

		sprintf(key, "many %d", i);
		age(key, 3600);
	}
	for (int i = 0; i < 1000 && (left = files_in(directory)) > 2; i++) {
		char key[20];

		sprintf(key, "new %d", i);
		open_key(&view, key);
		unlink(view.path);
		nfsappend_segment_close(&view);
	}
	CHECK(left <= 2);
}

static void enters(void *arg)
{
	(void)arg;
	CHECK_INT(lead(&view, 0), 0);
	nfsappend_segment_unlead(&view);
}

static void users(void)
{
	struct nfsappend_segment *s;

	start();
	open_key(&view, KEY);
	nfsappend_segment_close(&view);
	s = open_key(&view, KEY);
	CHECK_INT(users_of(s), 1);
	/* The dead make room; where there is none, all that is known is that
	 * it is in use. */
	for (int i = 0; i < NFSAPPEND_USERS; i++)
		s->users[i] = i == 7 ? INT32_MAX : 1;
	CHECK_INT(unit_wait(unit_fork(enters, NULL)), 0);
	CHECK_INT(s->crowded, 0);
	for (int i = 0; i < NFSAPPEND_USERS; i++)
		s->users[i] = 1;
	CHECK_INT(unit_wait(unit_fork(enters, NULL)), 0);
	CHECK_INT(s->crowded, 1);
}

static void after_exit_is_found_again(void)
{
	struct nfsappend_segment *s;

	start();
	CHECK_INT(unit_wait(unit_fork(leaves_one, (void *)KEY)), 0);
	s = open_key(&view, KEY);
	CHECK(!view.is_private);
	CHECK_INT(files_in(directory), 1);
	CHECK(users_of(s) >= 1);
	CHECK_STR(rig_log(), "");
}

static void long_key(void)
{
	char key[NFSAPPEND_SEGMENT_KEY + 1];
	struct nfsappend_guard guard;

	start();
	memset(key, 'k', sizeof key);
	nfsappend_guard_enter(&guard);
	CHECK_INT(nfsappend_segment_open(&view, key, sizeof key), -EINVAL);
	nfsappend_guard_leave(&guard);
	CHECK(view.shared == NULL);
}

/* Many make the same one at the same time. */
static void races(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++) {
		char key[20];

		sprintf(key, "race %d", i);
		open_key(&view, key);
		CHECK(!view.is_private);
		CHECK(lead(&view, 0) >= 0);
		view.shared->size++;
		nfsappend_segment_unlead(&view);
		nfsappend_segment_close(&view);
	}
}

static void made_by_many(void)
{
	pid_t pid[4];

	start();
	for (int i = 0; i < 4; i++)
		pid[i] = unit_fork(races, NULL);
	for (int i = 0; i < 4; i++)
		CHECK_INT(unit_wait(pid[i]), 0);
	for (int i = 0; i < 20; i++) {
		char key[20];

		sprintf(key, "race %d", i);
		CHECK_INT(open_key(&view, key)->size, 4);
	}
	CHECK_STR(rig_log(), "");
}

static const struct unit_test tests[] = {
	UNIT_TEST(created),
	UNIT_TEST(shared),
	UNIT_TEST(inherited),
	UNIT_TEST(leader_dies),
	UNIT_TEST(leader_dies_while_another_waits),
	UNIT_TEST(leader_lives),
	UNIT_TEST(other_version),
	UNIT_TEST(other_key),
	UNIT_TEST(bad_length_of_key),
	UNIT_TEST(bad_size_of_stage),
	UNIT_TEST(cut_short),
	UNIT_TEST(open_to_others),
	UNIT_TEST(of_another_owner),
	UNIT_TEST(no_regular_file),
	UNIT_TEST(unfinished),
	UNIT_TEST(a_link_in_its_place),
	UNIT_TEST(directories),
	UNIT_TEST(directory_of_another),
	UNIT_TEST(single_without_a_segment),
	UNIT_TEST(private_is_shared_with_children),
	UNIT_TEST(default_directory),
	UNIT_TEST(stage_grows),
	UNIT_TEST(stage_without_the_file),
	UNIT_TEST(full_disk),
	UNIT_TEST(disk_that_fills_up),
	UNIT_TEST(append_on_a_full_disk),
	UNIT_TEST(sweep_strangers),
	UNIT_TEST(sweep),
	UNIT_TEST(sweep_of_a_crowd),
	UNIT_TEST(sweep_of_many),
	UNIT_TEST(users),
	UNIT_TEST(after_exit_is_found_again),
	UNIT_TEST(long_key),
	UNIT_TEST(made_by_many),
};

UNIT_MAIN(tests)
