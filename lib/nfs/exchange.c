/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "nfs/exchange.h"

#define SECOND INT64_C(1000000000)
#define DONE 100 /* no enum nfsappend_outcome, those are smaller */
#define LAST_FRAGMENT UINT32_C(0x80000000) /* RFC 5531 section 11 */

/* A message on its way out, or a reply on its way in. */
struct message {
	uint8_t head[NFSAPPEND_MESSAGE_MAX] __attribute__((aligned(8)));
	struct iovec iov[3]; /* out: head, data, padding */
	int cnt;
	int fd;
	uint32_t have; /* in: bytes so far, all of the fragments */
	uint32_t at;   /* in: where the present fragment's mark is */
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static int encode(struct nfsappend_connection *c,
	const struct nfsappend_exchange *x, struct message *m, uint32_t xid)
{
	static const uint8_t zeros[4];
	uint32_t padding = x->data != NULL ? -x->len & 3 : 0, size, mark;
	struct rpc_msg msg = {.xid = xid, .direction = CALL};
	struct call_body *call = &msg.body.cbody;
	uint32_t len = x->len;
	ZDR zdr;
	bool ok;

	call->rpcvers = RPC_MSG_VERSION;
	call->prog = x->program;
	call->vers = x->version;
	call->proc = x->procedure;
	call->cred = c->auth->ah_cred;
	call->verf = c->auth->ah_verf;
	zdrmem_create(&zdr, (char *)m->head + 4, sizeof m->head - 4,
		ZDR_ENCODE);
	ok = zdr_callmsg(c->rpc, &zdr, &msg) && x->encode(&zdr, x->args) &&
		(x->data == NULL || zdr_u_int(&zdr, &len));
	size = zdr_getpos(&zdr);
	zdr_destroy(&zdr);
	if (!ok)
		return -ENOMEM; /* longer than any that we know */
	mark = htonl((size + x->len + padding) | LAST_FRAGMENT);
	memcpy(m->head, &mark, 4);
	m->iov[0] = (struct iovec){m->head, size + 4};
	m->iov[1] = (struct iovec){(void *)x->data, x->len};
	m->iov[2] = (struct iovec){(void *)zeros, padding};
	m->cnt = x->data == NULL ? 1 : padding > 0 ? 3 : 2;
	return 0;
}

/* DONE when all is out, 0 when the socket is full, NFSAPPEND_LOST. */
static int send_some(int fd, struct message *m)
{
	struct msghdr msg = {.msg_iov = m->iov, .msg_iovlen = (size_t)m->cnt};
	ssize_t n = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	struct iovec *iov = m->iov;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : NFSAPPEND_LOST;
	for (int i = 0; i < m->cnt; i++, iov++) {
		size_t part = (size_t)n < iov->iov_len ? (size_t)n
						       : iov->iov_len;

		iov->iov_base = (char *)iov->iov_base + part;
		iov->iov_len -= part;
		n -= (ssize_t)part;
	}
	iov--;
	return iov->iov_len == 0 ? DONE : 0;
}

/* DONE when the reply is complete, in head without its marks, 0 when more is
 * to come, NFSAPPEND_LOST. */
static int receive_some(int fd, struct message *m)
{
	ssize_t n = recv(fd, m->head + m->have, sizeof m->head - m->have,
		MSG_DONTWAIT);
	uint32_t mark, len;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR)
			? 0
			: NFSAPPEND_LOST;
	m->have += (uint32_t)n;
	while (m->have - m->at >= 4) {
		memcpy(&mark, m->head + m->at, 4);
		mark = ntohl(mark);
		len = mark & ~LAST_FRAGMENT;
		if (len > sizeof m->head - m->at - 4)
			return NFSAPPEND_LOST;
		if (m->have - m->at - 4 < len)
			return 0;
		m->have -= 4;
		memmove(m->head + m->at, m->head + m->at + 4,
			m->have - m->at);
		m->at += len;
		if (mark & LAST_FRAGMENT)
			/* One call, one reply: more bytes are not ours. */
			return m->have == m->at ? DONE : NFSAPPEND_LOST;
	}
	return m->have < sizeof m->head ? 0 : NFSAPPEND_LOST;
}

/* One step, if the socket is still ours; its number is the one to sleep on. */
static int try_step(struct nfsappend_connection *c, struct message *m,
	int (*step)(int fd, struct message *))
{
	int r;

	m->fd = nfsappend_services->socket_hold(c->slot);
	if (m->fd < 0)
		return NFSAPPEND_LOST;
	r = step(m->fd, m);
	nfsappend_services->socket_unhold(c->slot);
	return r;
}

/* Sleeps, and takes the step, until that says something. */
static int drive(struct nfsappend_connection *c, struct nfsappend_wait *wait,
	struct message *m, int (*step)(int fd, struct message *), short events)
{
	struct pollfd p = {.events = events};
	int r;

	do {
		/* A second at a time, since the number may be taken away or
		 * moved while we sleep. */
		p.fd = m->fd;
		r = wait->poll(wait, &p, 1, now() + SECOND);
		if (r == -ETIMEDOUT)
			return NFSAPPEND_TIMED_OUT;
		r = try_step(c, m, step);
	} while (r == 0);
	return r;
}

/* RFC 5531 section 9: what else a reply may say, as nfsappend_call_done(). */
static int refused(const struct rpc_msg *msg)
{
	if (msg->body.rbody.stat != MSG_ACCEPTED)
		return -EACCES;
	switch (msg->body.rbody.reply.areply.stat) {
	case PROG_UNAVAIL:
	case PROG_MISMATCH:
		return -EPROTONOSUPPORT;
	default:
		return -EIO;
	}
}

static int decode(struct nfsappend_connection *c,
	const struct nfsappend_exchange *x, struct message *m, uint32_t xid)
{
	struct rpc_msg msg = {0};
	struct accepted_reply *accepted = &msg.body.rbody.reply.areply;
	int result = NFSAPPEND_LOST;
	ZDR zdr;

	accepted->reply_data.results.proc = x->results;
	accepted->reply_data.results.where = x->res;
	zdrmem_create(&zdr, (char *)m->head, m->have, ZDR_DECODE);
	if (zdr_replymsg(c->rpc, &zdr, &msg) && msg.xid == xid &&
		msg.direction == REPLY) {
		if (msg.body.rbody.stat == MSG_ACCEPTED &&
			accepted->stat == SUCCESS)
			result = x->decode(x->res, x->out);
		else
			result = refused(&msg);
	}
	zdr_destroy(&zdr);
	return result;
}

static int exchange(struct nfsappend_connection *c,
	struct nfsappend_wait *wait, const struct nfsappend_exchange *x)
{
	struct message m;
	uint32_t xid = c->xid++;
	int r = encode(c, x, &m, xid);

	if (r != 0)
		return r;
	wait->rpcs++;
	r = try_step(c, &m, send_some);
	if (r == 0)
		r = drive(c, wait, &m, send_some, POLLOUT);
	if (r != DONE)
		return r;
	m.have = m.at = 0;
	r = drive(c, wait, &m, receive_some, POLLIN);
	if (r != DONE)
		return r;
	c->last_used = now();
	return decode(c, x, &m, xid);
}

int nfsappend_exchange(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_exchange *x)
{
	struct nfsappend_connection *c;
	int r = nfsappend_session_take(s, wait, &c);

	if (r == 0) {
		r = exchange(c, wait, x);
		nfsappend_session_give(s, c, r);
	}
	return r;
}
