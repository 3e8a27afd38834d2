/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/log.h"
#include "core/sys.h"
#include "nfs/connection.h"

#define SECOND INT64_C(1000000000)
/* The ports that the kernel's client takes (sunrpc min_resvport and
 * max_resvport): an export is 'secure' unless told otherwise. */
#define RESERVED_FIRST 665
#define RESERVED_LAST 1023

const struct nfsappend_services *nfsappend_services;

static uint32_t random32(void)
{
	uint32_t r;

	if (getrandom(&r, sizeof r, GRND_NONBLOCK) != sizeof r)
		r = (uint32_t)nfsappend_now() * UINT32_C(2654435761);
	return r;
}

/* A reserved port where that is allowed; any other where it is not. tried:
 * how many times connect() found the port taken on the other side. */
static void bind_reserved(int fd, int family, unsigned tried)
{
	static _Atomic bool said; /* once, it is the same for each connection */
	const unsigned n = RESERVED_LAST - RESERVED_FIRST + 1;
	unsigned start = random32();
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} local;

	if (tried >= 8)
		return;
	for (unsigned i = 0; i < n; i++) {
		uint16_t port = (uint16_t)(RESERVED_FIRST + (start + i) % n);

		memset(&local, 0, sizeof local);
		local.sa.sa_family = (sa_family_t)family;
		if (family == AF_INET)
			local.in.sin_port = htons(port);
		else
			local.in6.sin6_port = htons(port);
		if (bind(fd, &local.sa,
			    family == AF_INET ? sizeof local.in
					      : sizeof local.in6) == 0)
			return;
		if (errno != EADDRINUSE) {
			nfsappend_services->log(NFSAPPEND_DEBUG,
				NFSAPPEND_MSG_PORT,
				"no port below 1024 (needs "
				"CAP_NET_BIND_SERVICE); the export must have "
				"'insecure'");
			return;
		}
	}
	if (atomic_exchange(&said, true))
		return;
	nfsappend_services->log(NFSAPPEND_WARN, NFSAPPEND_MSG_PORT,
		"all ports below 1024 are in use; an unprivileged one is "
		"taken, which the export must allow ('insecure')");
}

static void set_options(int fd)
{
	int one = 1, idle = 30, interval = 10, count = 3;
	unsigned unacked_ms = 60000;
	struct linger linger = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	/* A peer that is gone without a word, as the kernel's client. */
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms,
		sizeof unacked_ms);
	/* No TIME_WAIT: reserved ports are few. Nothing is unsent when we
	 * close: every request has had its answer or is in doubt. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/* What wait->receive() needs; else it finds nothing and poll() waits. */
static void block_briefly(int fd)
{
	struct timeval t = {0, NFSAPPEND_RECV_MS * 1000};

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0)
		fcntl(fd, F_SETFL, O_RDWR); /* without O_NONBLOCK */
}

/* 0 when connected, -errno, or NFSAPPEND_TIMED_OUT. */
static int connect_socket(int fd, const struct sockaddr *sa, socklen_t len,
	struct nfsappend_wait *wait)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = 0, r;
	socklen_t size = sizeof error;

	if (connect(fd, sa, len) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	r = wait->poll(wait, &p, 1, 0);
	if (r < 0)
		return NFSAPPEND_TIMED_OUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		return -errno;
	return -error;
}

static int open_socket(const struct sockaddr_in6 *to,
	bool unprivileged, struct nfsappend_wait *wait, int *out)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&to->sin6_addr);
	struct sockaddr_in in = {.sin_family = AF_INET,
		.sin_port = to->sin6_port};
	int r = -EADDRNOTAVAIL;

	memcpy(&in.sin_addr, &to->sin6_addr.s6_addr[12], 4);
	/* A reserved port may still be in use towards the same server, seen
	 * only by connect(). */
	for (unsigned tried = 0; tried < 10 &&
		(r == -EADDRNOTAVAIL || r == -EADDRINUSE);
		tried++) {
		int fd = socket(v4 ? AF_INET : AF_INET6,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			return -errno;
		if (!unprivileged)
			bind_reserved(fd, v4 ? AF_INET : AF_INET6, tried);
		set_options(fd);
		r = v4 ? connect_socket(fd, (const struct sockaddr *)&in,
				 sizeof in, wait)
		       : connect_socket(fd, (const struct sockaddr *)to,
				 sizeof *to, wait);
		if (r == 0) {
			block_briefly(fd);
			*out = fd;
		} else {
			close(fd);
		}
	}
	return r;
}

/* What libnfs encodes calls with, and the part of it that is the same for all.
 * It never gets to see the socket. */
static int make_context(
	struct nfsappend_connection *c, const struct nfsappend_cred *cred)
{
	struct rpc_context *rpc = rpc_init_context();
	uint8_t head[NFSAPPEND_CALL_NUMBERS + sizeof c->cred];
	struct rpc_msg msg = {.direction = CALL};
	struct call_body *call = &msg.body.cbody;
	struct utsname name;
	struct AUTH *auth;
	ZDR zdr;

	if (rpc == NULL)
		return -ENOMEM;
	if (uname(&name) != 0)
		strcpy(name.nodename, "localhost");
	auth = libnfs_authunix_create(name.nodename, cred->uid, cred->gid,
		cred->ngroups, (uint32_t *)cred->groups);
	if (auth == NULL) {
		rpc_destroy_context(rpc);
		return -ENOMEM;
	}
	rpc_set_auth(rpc, auth);
	c->rpc = rpc;
	c->xid = random32(); /* a server's cache of replies goes by it */
	zdrmem_create(&zdr, (char *)head, sizeof head, ZDR_ENCODE);
	call->rpcvers = RPC_MSG_VERSION;
	call->cred = auth->ah_cred;
	call->verf = auth->ah_verf;
	if (zdr_callmsg(rpc, &zdr, &msg)) {
		c->cred_len = zdr_getpos(&zdr) - NFSAPPEND_CALL_NUMBERS;
		memcpy(c->cred, head + NFSAPPEND_CALL_NUMBERS, c->cred_len);
	}
	zdr_destroy(&zdr);
	if (c->cred_len != 0)
		return 0;
	rpc_destroy_context(rpc);
	return -ENOMEM;
}

int nfsappend_connect(const struct sockaddr_in6 *address,
	const struct nfsappend_cred *cred, bool unprivileged,
	struct nfsappend_wait *wait, struct nfsappend_connection **out)
{
	struct nfsappend_connection *c;
	int fd = -1, r = open_socket(address, unprivileged, wait, &fd);

	if (r != 0)
		return r;
	c = calloc(1, sizeof *c);
	if (c == NULL) {
		close(fd);
		return -ENOMEM;
	}
	c->slot = nfsappend_services->socket_adopt(fd);
	if (c->slot < 0) {
		r = c->slot;
		free(c);
		return r;
	}
	r = make_context(c, cred);
	if (r != 0) {
		nfsappend_services->socket_drop(c->slot);
		free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void nfsappend_disconnect(struct nfsappend_connection *c)
{
	rpc_destroy_context(c->rpc);
	nfsappend_services->socket_drop(c->slot);
	free(c);
}

bool nfsappend_connection_dead(struct nfsappend_connection *c)
{
	char byte;
	int fd;
	ssize_t n;

	if (nfsappend_now_coarse() - c->last_used < SECOND)
		return false;
	fd = nfsappend_services->socket_hold(c->slot);
	if (fd < 0)
		return true;
	n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	nfsappend_services->socket_unhold(c->slot);
	/* Bytes without a question (a late answer) are as bad. */
	return n >= 0 || (errno != EAGAIN && errno != EINTR);
}
