/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/sys.h"
#include "nfs/exchange.h"

#define SECOND INT64_C(1000000000)
#define DONE 100 /* no enum nfsappend_outcome, those are smaller */
#define LAST_FRAGMENT UINT32_C(0x80000000) /* RFC 5531 section 11 */

/* A message on its way out, or a reply on its way in. */
struct message {
	struct iovec iov[4]; /* out: head, data, padding, tail */
	int cnt;
	int fd;
	int64_t until; /* when to ask again elsewhere, 0: never; from the
			* first sleep on */
	/* In: the body of the fragments so far, at the beginning of buf, and
	 * behind it, up to have, what has not been looked at. */
	uint8_t *buf;
	uint32_t room, body, have;
	uint32_t left; /* of the present fragment */
	bool last;     /* it is the last one */
};

static void add(struct message *m, const void *p, uint32_t len)
{
	if (len > 0)
		m->iov[m->cnt++] = (struct iovec){(void *)p, len};
}

static int encode(struct nfsappend_connection *c,
	const struct nfsappend_exchange *x, struct message *m, uint32_t xid)
{
	static const uint8_t zeros[4];
	uint32_t padding = -x->len & 3, size = 4 + NFSAPPEND_CALL_NUMBERS;
	uint32_t numbers[1 + NFSAPPEND_CALL_NUMBERS / 4] = {0, htonl(xid),
		htonl(CALL), htonl(RPC_MSG_VERSION), htonl(x->program),
		htonl(x->version), htonl(x->procedure)};
	ZDR zdr;
	bool ok;

	memcpy(c->message + size, c->cred, c->cred_len);
	size += c->cred_len;
	zdrmem_create(&zdr, (char *)c->message + size,
		sizeof c->message - size, ZDR_ENCODE);
	ok = x->encode(&zdr, x->args);
	size += zdr_getpos(&zdr);
	zdr_destroy(&zdr);
	if (!ok)
		return -ENOMEM; /* longer than any that we know */
	numbers[0] = htonl(
		(size - 4 + x->len + padding + x->tail_len) | LAST_FRAGMENT);
	memcpy(c->message, numbers, sizeof numbers);
	m->cnt = 0;
	add(m, c->message, size);
	add(m, x->data, x->len);
	add(m, zeros, padding);
	add(m, x->tail, x->tail_len);
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

/* Takes the marks out of what has come. DONE, 0: more is to come, LOST. */
static int join_fragments(struct message *m)
{
	uint32_t at = m->body, n, mark;

	for (;;) {
		n = m->have - at < m->left ? m->have - at : m->left;
		if (at != m->body)
			memmove(m->buf + m->body, m->buf + at, n);
		m->body += n;
		m->left -= n;
		at += n;
		if (m->left == 0 && m->last)
			/* One call, one reply: more bytes are not ours. */
			return m->have == at ? DONE : NFSAPPEND_LOST;
		if (m->left > 0 || m->have - at < 4)
			break;
		memcpy(&mark, m->buf + at, 4);
		mark = ntohl(mark);
		at += 4;
		m->left = mark & ~LAST_FRAGMENT;
		m->last = mark & LAST_FRAGMENT;
		if (m->left > m->room - m->body)
			return NFSAPPEND_LOST;
	}
	memmove(m->buf + m->body, m->buf + at, m->have - at);
	m->have -= at - m->body;
	return m->have < m->room ? 0 : NFSAPPEND_LOST;
}

static int receive_some(int fd, struct message *m)
{
	ssize_t n = recv(fd, m->buf + m->have, m->room - m->have, MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR)
			? 0
			: NFSAPPEND_LOST;
	m->have += (uint32_t)n;
	return join_fragments(m);
}

/* What comes within NFSAPPEND_RECV_MS; as receive_some(), or TIMED_OUT when
 * the answer is another process's by now. */
static int receive_first(struct nfsappend_wait *wait, struct message *m)
{
	ssize_t n = wait->receive(wait, m->fd, m->buf, m->room);

	if (n <= 0)
		return n == -EAGAIN || n == -EINTR ? 0
			: n == -ETIMEDOUT	   ? NFSAPPEND_TIMED_OUT
						   : NFSAPPEND_LOST;
	m->have = (uint32_t)n;
	return join_fragments(m);
}

/* The usual exchange: with one look at the socket, since a number that is
 * held is not moved, and without a poll(). *sent: all is out. */
static int at_once(struct nfsappend_connection *c, struct nfsappend_wait *wait,
	struct message *m, bool *sent)
{
	int r;

	m->fd = nfsappend_services->socket_hold(c->slot);
	if (m->fd < 0)
		return NFSAPPEND_LOST;
	r = send_some(m->fd, m);
	*sent = r == DONE;
	if (*sent)
		r = receive_first(wait, m);
	nfsappend_services->socket_unhold(c->slot);
	return r;
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
	int64_t slice;
	int r;

	if (m->until == 0 && c->answer_ns != 0)
		m->until = nfsappend_now() + c->answer_ns;
	do {
		/* A second at a time, since the number may be taken away or
		 * moved while we sleep. */
		slice = nfsappend_now() + SECOND;
		if (m->until != 0 && m->until < slice)
			slice = m->until;
		p.fd = m->fd;
		r = wait->poll(wait, &p, 1, slice);
		if (r == -ETIMEDOUT)
			return NFSAPPEND_TIMED_OUT;
		if (r == 0 && m->until != 0 && nfsappend_now() >= m->until)
			return NFSAPPEND_LOST;
		r = try_step(c, m, step);
	} while (r == 0);
	return r;
}

static int decode(const struct nfsappend_exchange *x, const struct message *m,
	uint32_t xid)
{
	struct nfsappend_results results = {
		.p = m->buf, .end = m->buf + m->body};
	int r = nfsappend_get_accepted(&results, xid);

	if (r == 0)
		r = x->decode(&results, x->out);
	return results.bad ? NFSAPPEND_LOST : r;
}

static int talk(struct nfsappend_connection *c, struct nfsappend_wait *wait,
	const struct nfsappend_exchange *x, struct message *m, uint32_t xid)
{
	bool sent = false;
	int r = at_once(c, wait, m, &sent);

	if (r == 0 && !sent) {
		r = drive(c, wait, m, send_some, POLLOUT);
		if (r != DONE)
			return r;
		r = 0;
	}
	if (r == 0)
		r = drive(c, wait, m, receive_some, POLLIN);
	if (r != DONE)
		return r;
	c->last_used = nfsappend_now_coarse();
	return decode(x, m, xid);
}

int nfsappend_exchange_on(struct nfsappend_connection *c,
	struct nfsappend_wait *wait, const struct nfsappend_exchange *x)
{
	bool longer = x->reply_max > NFSAPPEND_MESSAGE_MAX;
	uint32_t xid = c->xid++;
	struct message m;
	int r = encode(c, x, &m, xid);

	if (r != 0)
		return r;
	m.room = longer ? x->reply_max : sizeof c->message;
	m.buf = longer ? malloc(m.room) 
		       : c->message; /* when all is out */
	if (m.buf == NULL)
		return -ENOMEM;
	m.body = m.have = m.left = 0;
	m.last = false;
	m.until = 0;
	wait->rpcs++;
	r = talk(c, wait, x, &m, xid);
	if (longer)
		free(m.buf);
	return r;
}

int nfsappend_exchange(struct nfsappend_session *s, struct nfsappend_wait *wait,
	const struct nfsappend_exchange *x)
{
	struct nfsappend_connection *c;
	int r = nfsappend_session_take(s, wait, &c);

	if (r == 0) {
		r = nfsappend_exchange_on(c, wait, x);
		nfsappend_session_give(s, c, r);
	}
	return r;
}
