/*
 * append-socket: the floor. A bare TCP socket that sends one WRITE FILE_SYNC
 * (RFC 1813 3.3.7), encoded beforehand, at a time: send(), recv(). Nobody
 * guards the end of the file: workers take turns by a counter in memory.
 * With -r each record is a LOOKUP and a WRITE, what close-to-open needs.
 *
 * On an URL nfs://ADDRESS/EXPORT/FILE?nfsport=N&mountport=N.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loop.h"

#define NFS_PROGRAM 100003
#define MOUNT_PROGRAM 100005
#define MNT 1
#define LOOKUP 3
#define WRITE 7
#define CREATE 8
#define FILE_SYNC 2
#define LAST_FRAGMENT 0x80000000u
#define HEAD 1024

/* An RPC call under construction, or a reply. Big-endian words. */
struct message {
	uint8_t data[HEAD];
	size_t at; /* bytes; where the next word goes, or comes from */
	size_t len;
};

struct handle {
	uint32_t len;
	uint8_t data[64];
};

struct way {
	struct shared *shared;
	char address[64], export[1024];
	const char *file;
	unsigned nfsport, mountport;
	int fd;
	uint32_t xid;
	struct handle directory, handle;
	struct message write; /* all but the bytes that it writes */
	size_t offset_at, size_at;
};

static void put(struct message *m, uint32_t word)
{
	word = htonl(word);
	memcpy(m->data + m->at, &word, 4);
	m->at += 4;
}

static void put_bytes(struct message *m, const void *bytes, size_t n)
{
	put(m, (uint32_t)n);
	memset(m->data + m->at + n, 0, 4);
	memcpy(m->data + m->at, bytes, n);
	m->at += (n + 3) & ~(size_t)3;
}

static uint32_t get(struct message *m)
{
	uint32_t word;

	if (m->at + 4 > m->len)
		die("a reply is too short");
	memcpy(&word, m->data + m->at, 4);
	m->at += 4;
	return ntohl(word);
}

static void get_handle(struct message *m, struct handle *h)
{
	h->len = get(m);
	if (h->len > sizeof h->data || m->at + h->len > m->len)
		die("a reply has no handle");
	memcpy(h->data, m->data + m->at, h->len);
	m->at += (h->len + 3) & ~3u;
}

/* Record mark, call header, AUTH_SYS of root (RFC 5531). */
static void begin(struct way *way, struct message *m, uint32_t program,
	uint32_t procedure)
{
	m->at = 4;
	put(m, ++way->xid);
	put(m, 0);
	put(m, 2);
	put(m, program);
	put(m, 3);
	put(m, procedure);
	put(m, 1); /* AUTH_SYS: stamp, machine, uid, gid, no groups */
	put(m, 4 + 4 + 8 + 4 + 4 + 4);
	put(m, 0);
	put_bytes(m, "bench", 5);
	put(m, (uint32_t)geteuid());
	put(m, (uint32_t)getegid());
	put(m, 0);
	put(m, 0); /* verifier: none */
	put(m, 0);
}

static void receive(int fd, struct message *m)
{
	size_t have = 0, want = 4;
	uint32_t mark;

	while (have < want) {
		ssize_t n = recv(fd, m->data + have, HEAD - have, 0);

		if (n <= 0)
			die("recv: %s", n < 0 ? strerror(errno) : "closed");
		have += (size_t)n;
		if (have >= 4 && want == 4) {
			memcpy(&mark, m->data, 4);
			want = 4 + (ntohl(mark) & ~LAST_FRAGMENT);
			if (want > HEAD)
				die("a reply of %zu bytes", want);
		}
	}
	m->len = want;
	m->at = 4;
}

/* To the procedure's own results; ends the program on any error. */
static void check_reply(struct message *m, uint32_t xid, const char *what)
{
	uint32_t status;

	if (get(m) != xid || get(m) != 1 || get(m) != 0)
		die("%s: not accepted", what);
	get(m);
	m->at += (get(m) + 3) & ~3u;
	if (get(m) != 0)
		die("%s: not executed", what);
	status = get(m);
	if (status != 0)
		die("%s: status %u", what, status);
}

static void call(struct way *way, int fd, struct message *m, const char *what)
{
	uint32_t mark = htonl((uint32_t)(m->at - 4) | LAST_FRAGMENT);

	memcpy(m->data, &mark, 4);
	if (send(fd, m->data, m->at, 0) != (ssize_t)m->at)
		die("send: %s", strerror(errno));
	receive(fd, m);
	check_reply(m, way->xid, what);
}

static int connect_to(const char *address, unsigned port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die("%s: not an address", address);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		die("connect to port %u: %s", port, strerror(errno));
	return fd;
}

static void parse(struct way *way, const char *url)
{
	char *file, *arguments;

	if (sscanf(url, "nfs://%63[^/]%1023s", way->address, way->export) != 2)
		die("%s: not an URL", url);
	arguments = strchr(way->export, '?');
	if (arguments == NULL || sscanf(arguments, "?nfsport=%u&mountport=%u",
					 &way->nfsport, &way->mountport) != 2)
		die("%s: no ports", url);
	*arguments = '\0';
	file = strrchr(way->export, '/');
	*file = '\0';
	way->file = file + 1;
}

static void mount_export(struct way *way)
{
	int fd = connect_to(way->address, way->mountport);
	struct message m;

	begin(way, &m, MOUNT_PROGRAM, MNT);
	put_bytes(&m, way->export, strlen(way->export));
	call(way, fd, &m, "MNT");
	get_handle(&m, &way->directory);
	close(fd);
}

static void begin_in_directory(
	struct way *way, struct message *m, uint32_t procedure)
{
	begin(way, m, NFS_PROGRAM, procedure);
	put_bytes(m, way->directory.data, way->directory.len);
	put_bytes(m, way->file, strlen(way->file));
}

static void create(struct way *way)
{
	struct message m;

	begin_in_directory(way, &m, CREATE);
	put(&m, 0); /* UNCHECKED; mode 0644, nothing else set */
	put(&m, 1);
	put(&m, 0644);
	for (int i = 0; i < 5; i++)
		put(&m, 0);
	call(way, way->fd, &m, "CREATE");
	if (get(&m) != 1)
		die("CREATE: no handle");
	get_handle(&m, &way->handle);
}

static void lookup(struct way *way)
{
	struct message m;

	begin_in_directory(way, &m, LOOKUP);
	call(way, way->fd, &m, "LOOKUP");
	get_handle(&m, &way->handle);
}

struct way *way_begin(const char *target, struct shared *shared)
{
	struct way *way = calloc(1, sizeof *way);
	struct message *m = &way->write;

	way->shared = shared;
	way->xid = (uint32_t)getpid() << 16;
	parse(way, target);
	mount_export(way);
	way->fd = connect_to(way->address, way->nfsport);
	create(way);
	begin(way, m, NFS_PROGRAM, WRITE);
	put_bytes(m, way->handle.data, way->handle.len);
	way->offset_at = m->at;
	put(m, 0);
	put(m, 0);
	way->size_at = m->at;
	put(m, 0);
	put(m, FILE_SYNC);
	put(m, 0);
	return way;
}

/* The first of an open/append/close. */
void way_open(struct way *way)
{
	static _Thread_local bool again;

	if (again)
		lookup(way);
	again = true;
}

static void send_all(int fd, struct iovec *iov, int n)
{
	size_t sent;

	while (n > 0) {
		struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)n};
		ssize_t r = sendmsg(fd, &msg, 0);

		if (r < 0)
			die("send: %s", strerror(errno));
		for (sent = (size_t)r; n > 0 && sent >= iov->iov_len; n--)
			sent -= iov++->iov_len;
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + sent;
			iov->iov_len -= sent;
		}
	}
}

void way_append(struct way *way, const void *record, size_t size)
{
	static const char zeros[4];
	uint64_t offset = __atomic_fetch_add(
		(uint64_t *)&way->shared->end, size, __ATOMIC_RELAXED);
	struct message *m = &way->write, reply;
	size_t end = m->at, padding = -size & 3;
	struct iovec iov[] = {{m->data, end}, {(void *)record, size},
		{(void *)zeros, padding}};

	m->at = 0;
	put(m, (uint32_t)(end - 4 + size + padding) | LAST_FRAGMENT);
	put(m, ++way->xid);
	m->at = way->offset_at;
	put(m, (uint32_t)(offset >> 32));
	put(m, (uint32_t)offset);
	m->at = way->size_at;
	put(m, (uint32_t)size);
	m->at += 4;
	put(m, (uint32_t)size);
	m->at = end;
	send_all(way->fd, iov, padding > 0 ? 3 : 2);
	receive(way->fd, &reply);
	check_reply(&reply, way->xid, "WRITE");
	if (get(&reply) == 1)
		reply.at += 24; /* wcc_data: before */
	if (get(&reply) == 1)
		reply.at += 84;
	if (get(&reply) != size || get(&reply) != FILE_SYNC)
		die("WRITE: short, or not FILE_SYNC");
}

void way_close(struct way *way)
{
	(void)way;
}
