/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our sockets among the program's descriptors. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/process.h"
#include "core/sockets.h"
#include "rig.h"

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	CHECK(fd >= 0);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void adopt_and_drop(void)
{
	int low, slot, fd;

	rig_core();
	CHECK(!nfsappend_socket_ours(5));
	low = new_socket();
	slot = nfsappend_socket_adopt(low);
	CHECK(slot >= 0);
	CHECK(!is_open(low));
	CHECK_INT(nfsappend_sockets_used, 1);
	fd = nfsappend_socket_hold(slot);
	CHECK(fd > 100);
	CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
	nfsappend_socket_unhold(slot);
	CHECK(nfsappend_socket_ours(fd));
	CHECK(!nfsappend_socket_ours(low));
	CHECK(!nfsappend_socket_ours(0));
	CHECK(!nfsappend_socket_ours(-1));
	nfsappend_socket_drop(slot);
	CHECK(!is_open(fd));
	CHECK_INT(nfsappend_sockets_used, 0);
	CHECK(!nfsappend_socket_ours(fd));
}

/* The program closed it by a raw call, and has the number for a file. */
static void taken_away(void)
{
	int slot, fd, other;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	nfsappend_socket_unhold(slot);
	other = open("/dev/null", O_WRONLY);
	CHECK_INT(dup2(other, fd), fd);
	CHECK(!nfsappend_socket_ours(fd));
	CHECK_INT(nfsappend_socket_hold(slot), -EBADF);
	nfsappend_socket_drop(slot);
	CHECK(is_open(fd));
	CHECK_INT(nfsappend_sockets_used, 0);
	/* By another socket, too. */
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	nfsappend_socket_unhold(slot);
	CHECK_INT(dup2(new_socket(), fd), fd);
	CHECK(!nfsappend_socket_ours(fd));
	CHECK_INT(nfsappend_socket_hold(slot), -EBADF);
	nfsappend_socket_drop(slot);
	CHECK(is_open(fd));
	/* Closed only. */
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	nfsappend_socket_unhold(slot);
	close(fd);
	CHECK_INT(nfsappend_socket_hold(slot), -EBADF);
	nfsappend_socket_drop(slot);
}

/* dup2() onto our number: we move. */
static void yield(void)
{
	int slot, fd, moved;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	CHECK_INT(nfsappend_socket_yield(fd), -EBUSY);
	CHECK(nfsappend_socket_ours(fd));
	nfsappend_socket_unhold(slot);
	CHECK_INT(nfsappend_socket_yield(fd), 0);
	CHECK(is_open(fd)); /* the program's dup2() closes it */
	CHECK(!nfsappend_socket_ours(fd));
	moved = nfsappend_socket_hold(slot);
	CHECK(moved >= 0 && moved != fd);
	nfsappend_socket_unhold(slot);
	CHECK_INT(fcntl(moved, F_GETFD), FD_CLOEXEC);
	nfsappend_socket_drop(slot);
	CHECK(!is_open(moved));
	CHECK(is_open(fd));
}

static _Atomic bool over;

/* As a thread whose appends follow each other: held but for moments. */
static void *append_on(void *slot)
{
	while (!atomic_load(&over)) {
		if (nfsappend_socket_hold(*(int *)slot) < 0)
			return "lost";
		usleep(5000);
		nfsappend_socket_unhold(*(int *)slot);
	}
	return NULL;
}

/* As dup2() does, which must come to its end. */
static void yield_of_a_busy_one(void)
{
	int slot, fd, r = -EBUSY;
	pthread_t thread;
	void *result;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	nfsappend_socket_unhold(slot);
	CHECK_INT(pthread_create(&thread, NULL, append_on, &slot), 0);
	usleep(20000);
	for (int i = 0; i < 1000 && r == -EBUSY; i++) {
		r = nfsappend_socket_yield(fd);
		usleep(1000);
	}
	CHECK_INT(r, 0);
	CHECK(!nfsappend_socket_ours(fd));
	atomic_store(&over, true);
	CHECK_INT(pthread_join(thread, &result), 0);
	CHECK(result == NULL);
	nfsappend_socket_drop(slot);
}

/* A number that is none of ours is nothing to yield: nor is 0, which marks a
 * free slot. */
static void yield_of_others(void)
{
	int next, probe;

	rig_core();
	CHECK_INT(nfsappend_socket_adopt(new_socket()), 0);
	probe = open("/dev/null", O_RDONLY);
	close(probe);
	CHECK_INT(nfsappend_socket_yield(0), 0);
	CHECK_INT(nfsappend_socket_yield(-1), 0);
	CHECK_INT(nfsappend_socket_yield(1), 0);
	next = open("/dev/null", O_RDONLY);
	CHECK_INT(next, probe); /* no copy of the program's stdin was made */
	CHECK_INT(nfsappend_sockets_used, 1);
	/* The slots are as free as before. */
	CHECK_INT(nfsappend_socket_adopt(new_socket()), 1);
}

static void yield_without_a_number(void)
{
	int slot, fd;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	nfsappend_socket_unhold(slot);
	unit_limit_descriptors(3);
	CHECK_INT(nfsappend_socket_yield(fd), 0);
	CHECK_INT(nfsappend_socket_hold(slot), -EBADF);
	nfsappend_socket_drop(slot);
	CHECK_INT(nfsappend_sockets_used, 0);
	unit_limit_descriptors(1000);
	CHECK_INT(nfsappend_socket_adopt(new_socket()), slot);
}

static void in_vfork_child(void)
{
	int slot, fd;
	pid_t pid;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	nfsappend_socket_unhold(slot);
	pid = nfsappend_process->pid;
	nfsappend_process->pid++;
	CHECK_INT(nfsappend_socket_yield(fd), 0);
	nfsappend_process->pid = pid;
	CHECK(nfsappend_socket_ours(fd));
	CHECK_INT(nfsappend_socket_hold(slot), fd);
}

static void all_slots(void)
{
	int fd;

	rig_core();
	for (int i = 0; i < NFSAPPEND_SOCKETS; i++)
		CHECK_INT(nfsappend_socket_adopt(new_socket()), i);
	fd = new_socket();
	CHECK_INT(nfsappend_socket_adopt(fd), -ENFILE);
	CHECK(!is_open(fd));
	CHECK_INT(nfsappend_sockets_used, NFSAPPEND_SOCKETS);
	nfsappend_socket_drop(7);
	CHECK_INT(nfsappend_socket_adopt(new_socket()), 7);
}

static void few_descriptors(void)
{
	int slot, fd;

	rig_core();
	unit_limit_descriptors(40);
	slot = nfsappend_socket_adopt(new_socket());
	CHECK_INT(slot, 0);
	fd = nfsappend_socket_hold(slot);
	CHECK(fd >= 3 && fd < 40);
}

static void child(void *arg)
{
	struct nfsappend_guard guard;
	int fd = *(int *)arg;

	nfsappend_guard_enter(&guard);
	CHECK_INT(nfsappend_sockets_used, 0);
	CHECK(!is_open(fd));
	CHECK_INT(nfsappend_socket_adopt(new_socket()), 0);
	nfsappend_guard_leave(&guard);
}

/* A connection has one user: the child drops its copies unused. */
static void after_fork(void)
{
	int slot, fd;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	fd = nfsappend_socket_hold(slot);
	CHECK_INT(unit_wait(unit_fork(child, &fd)), 0);
	nfsappend_socket_unhold(slot);
	CHECK(nfsappend_socket_ours(fd));
}

static void *mover(void *arg)
{
	int slot = *(int *)arg;

	for (int i = 0; i < 300; i++) {
		int fd = nfsappend_socket_hold(slot);

		CHECK(fd >= 0);
		nfsappend_socket_unhold(slot);
		if (nfsappend_socket_yield(fd) == 0)
			close(fd);
	}
	return NULL;
}

static void concurrent(void)
{
	pthread_t thread;
	int slot;

	rig_core();
	slot = nfsappend_socket_adopt(new_socket());
	CHECK_INT(pthread_create(&thread, NULL, mover, &slot), 0);
	for (int i = 0; i < 1000; i++) {
		int fd = nfsappend_socket_hold(slot);

		CHECK(fd >= 0);
		CHECK(is_open(fd));
		nfsappend_socket_unhold(slot);
	}
	CHECK_INT(pthread_join(thread, NULL), 0);
}

static const struct unit_test tests[] = {
	UNIT_TEST(adopt_and_drop),
	UNIT_TEST(taken_away),
	UNIT_TEST(yield),
	UNIT_TEST(yield_of_a_busy_one),
	UNIT_TEST(yield_of_others),
	UNIT_TEST(yield_without_a_number),
	UNIT_TEST(in_vfork_child),
	UNIT_TEST(all_slots),
	UNIT_TEST(few_descriptors),
	UNIT_TEST(after_fork),
	UNIT_TEST(concurrent),
};

UNIT_MAIN(tests)
