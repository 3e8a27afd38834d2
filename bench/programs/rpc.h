/* ONC RPC over a bare TCP socket (RFC 5531), for what is encoded by hand. */
#ifndef RPC_H
#define RPC_H
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loop.h"

#define LAST_FRAGMENT 0x80000000u
#define HEAD 1024

/* An RPC call under construction, or a reply. Big-endian words. */
struct message {
	uint8_t data[HEAD];
	size_t at; /* bytes; where the next word goes, or comes from */
	size_t len;
};

static inline void put(struct message *m, uint32_t word)
{
	word = htonl(word);
	memcpy(m->data + m->at, &word, 4);
	m->at += 4;
}

static inline void put_bytes(struct message *m, const void *bytes, size_t n)
{
	put(m, (uint32_t)n);
	memset(m->data + m->at + n, 0, 4);
	memcpy(m->data + m->at, bytes, n);
	m->at += (n + 3) & ~(size_t)3;
}

static inline uint32_t get(struct message *m)
{
	uint32_t word;

	if (m->at + 4 > m->len)
		die("a reply is too short");
	memcpy(&word, m->data + m->at, 4);
	m->at += 4;
	return ntohl(word);
}

/* Record mark, call header, AUTH_SYS of this process (RFC 5531). */
static inline void rpc_begin(struct message *m, uint32_t xid, uint32_t program,
	uint32_t version, uint32_t procedure)
{
	m->at = 4;
	put(m, xid);
	put(m, 0);
	put(m, 2);
	put(m, program);
	put(m, version);
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

static inline void receive(int fd, struct message *m)
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
static inline void check_reply(struct message *m, uint32_t xid, const char *what)
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

static inline void call(int fd, struct message *m, uint32_t xid,
	const char *what)
{
	uint32_t mark = htonl((uint32_t)(m->at - 4) | LAST_FRAGMENT);

	memcpy(m->data, &mark, 4);
	if (send(fd, m->data, m->at, 0) != (ssize_t)m->at)
		die("send: %s", strerror(errno));
	receive(fd, m);
	check_reply(m, xid, what);
}

static inline int connect_to(const char *address, unsigned port)
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

static inline void send_all(int fd, struct iovec *iov, int n)
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
#endif
