/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user's DIR or URL stands for, and how far away it is. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/config_env.h"

#define NFS_PROGRAM 100003
#define NFS_MAGIC 0x6969
#define PINGS 21
#define PING_S 5 /* for all of it */

/* In a child: prints "DEVICE-MAJOR MINOR TYPE PATH". */
static int look(void *arg)
{
	const char *name = arg;
	char path[PATH_MAX];
	struct statfs fs;
	struct stat st;

	if (realpath(name, path) == NULL || stat(path, &st) != 0 ||
		statfs(path, &fs) != 0) {
		printf("%m");
		fflush(stdout);
		return 1;
	}
	printf("%u %u %lx %d %s", major(st.st_dev), minor(st.st_dev),
		(unsigned long)fs.f_type & 0xffffffff, S_ISDIR(st.st_mode),
		path);
	fflush(stdout);
	return 0;
}

static bool find_mount(struct bench *b, unsigned maj, unsigned min)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (f != NULL && !found && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = nfsappend_mount_line(
			line, 0, (uint64_t)maj << 32 | min, &b->mount);
	}
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

static bool directory_target(
	struct bench *b, const char *name, char *why, size_t room)
{
	char output[PATH_MAX + 64];
	unsigned maj, min;
	unsigned long type;
	int is_directory, at = 0;
	enum bench_end end = bench_child(
		look, (void *)name, b->limit_s, false, output, sizeof output);

	if (end == BENCH_TOO_LONG)
		snprintf(why, room,
			"%s: no answer within %u s; is its server down?", name,
			b->limit_s);
	else if (end == BENCH_FAILED)
		snprintf(why, room, "%s: %s", name, output);
	if (end != BENCH_DONE)
		return false;
	sscanf(output, "%u %u %lx %d %n", &maj, &min, &type, &is_directory,
		&at);
	snprintf(b->directory, sizeof b->directory, "%s", output + at);
	if (!is_directory) {
		snprintf(why, room,
			"%s is no directory; name the one that its file is in",
			name);
		return false;
	}
	if (type != NFS_MAGIC || !find_mount(b, maj, min)) {
		snprintf(why, room,
			"%s is not on NFS (file system type %#lx), and "
			"nfsappend "
			"changes nothing there; name a directory of an NFS "
			"mount, "
			"or nfs://SERVER/EXPORT",
			name, type);
		return false;
	}
	if (strchr(b->directory, ':') != NULL) {
		snprintf(why, room,
			"%s: NFSAPPEND_PATHS cannot express a path with a "
			"colon; "
			"name another directory",
			name);
		return false;
	}
	b->target = b->mount.target;
	return true;
}

bool bench_target(struct bench *b, const char *name, char *why, size_t room)
{
	char cause[256];

	if (strncmp(name, "nfs://", 6) != 0)
		return directory_target(b, name, why, room);
	if (strpbrk(name, " \t\n\r\v\f") != NULL) {
		snprintf(why, room, "%s: white space in an URL; write %%20",
			name);
		return false;
	}
	if (nfsappend_url_parse(name, &b->target, cause, sizeof cause) != 0) {
		snprintf(why, room, "%s: %s", name, cause);
		return false;
	}
	b->url = name;
	/* No such name may be on this machine: it would be hidden. */
	snprintf(b->directory, sizeof b->directory, "/nfsappend-bench-%d",
		(int)getpid());
	return true;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int connect_to(const char *host, unsigned port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *a;
	struct timeval limit = {.tv_sec = PING_S};
	char service[16];
	int fd = -1, one = 1, r;

	snprintf(service, sizeof service, "%u", port);
	r = getaddrinfo(host, service, &hints, &list);
	if (r != 0) {
		printf("%s: %s", host, gai_strerror(r));
		return -1;
	}
	for (a = list; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			r = errno;
			close(fd);
			errno = r;
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		printf("port %u: %m", port);
	return fd;
}

/* One NULL call (RFC 5531, AUTH_NONE): the reply has 24 bytes and its mark. */
static bool null_call(int fd, uint32_t version, uint32_t xid)
{
	uint32_t call[] = {htonl(0x80000000u | 40), htonl(xid), 0, htonl(2),
		htonl(NFS_PROGRAM), htonl(version), 0, 0, 0, 0, 0};
	uint32_t reply[7];

	return send(fd, call, sizeof call, MSG_NOSIGNAL) == sizeof call &&
	       recv(fd, reply, sizeof reply, MSG_WAITALL) == sizeof reply &&
	       reply[1] == htonl(xid) && reply[6] == 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int ping(void *arg)
{
	const struct nfsappend_target *t = arg;
	double us[PINGS];
	int fd = connect_to(t->host, t->nfsport != 0 ? t->nfsport : 2049);

	for (unsigned i = 0; fd >= 0 && i < PINGS; i++) {
		double began = now_us();

		if (!null_call(fd, t->version, i + 1)) {
			printf("the server does not answer a NULL call");
			fd = -1;
		}
		us[i] = now_us() - began;
	}
	if (fd >= 0) {
		qsort(us, PINGS, sizeof *us, ascending);
		printf("%.1f", us[PINGS / 2]);
	}
	fflush(stdout);
	return fd < 0;
}

void bench_ping(struct bench *b)
{
	char output[128];
	enum bench_end end = bench_child(
		ping, &b->target, 2 * PING_S, false, output, sizeof output);

	if (end == BENCH_DONE)
		b->rtt_us = strtod(output, NULL);
	else
		snprintf(b->no_rtt, sizeof b->no_rtt, "%s",
			end == BENCH_FAILED ? output : "no answer");
}
