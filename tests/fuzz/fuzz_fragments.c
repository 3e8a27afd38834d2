/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Record marks (RFC 5531 section 11): bytes that come in any portions. What
 * is put together must be what a parser of the whole finds. */
#include "nfs/exchange.c"

const struct nfsappend_services *nfsappend_services;

int nfsappend_session_take(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_connection **c)
{
	(void)s;
	(void)wait;
	(void)c;
	return NFSAPPEND_UNSENT;
}

void nfsappend_session_give(struct nfsappend_session *s,
	struct nfsappend_connection *c, int result)
{
	(void)s;
	(void)c;
	(void)result;
}

int nfsappend_get_accepted(struct nfsappend_results *r, uint32_t xid)
{
	(void)r;
	(void)xid;
	return NFSAPPEND_LOST;
}

/* The length of the body of a whole record at p, in out; -1: none there. */
static long whole(const uint8_t *p, size_t n, uint8_t *out, size_t room)
{
	size_t body = 0;

	for (;;) {
		uint32_t mark, len;

		if (n < 4)
			return -1;
		memcpy(&mark, p, 4);
		mark = ntohl(mark);
		len = mark & ~LAST_FRAGMENT;
		p += 4;
		n -= 4;
		if (len > n || len > room - body)
			return -1;
		memcpy(out + body, p, len);
		body += len;
		p += len;
		n -= len;
		if (mark & LAST_FRAGMENT)
			return n == 0 ? (long)body : -1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = 64 + (size > 0 ? data[0] : 0), portion, at = 2;
	uint8_t reference[400];
	struct message m = {.buf = malloc(room), .room = (uint32_t)room};
	int r = 0;

	if (size < 3) {
		free(m.buf);
		return 0;
	}
	portion = data[1] % 40 + 1;
	while (r == 0 && at < size) {
		size_t n = size - at < portion ? size - at : portion;

		if (m.have >= m.room)
			abort(); /* recv() would be told of no room */
		if (n > m.room - m.have)
			n = m.room - m.have;
		memcpy(m.buf + m.have, data + at, n);
		m.have += (uint32_t)n;
		at += n;
		r = join_fragments(&m);
		if (m.body > m.room || m.have > m.room)
			abort();
	}
	if (r == DONE) {
		long n = whole(data + 2, at - 2, reference, sizeof reference);

		if (n != (long)m.body || memcmp(reference, m.buf, m.body) != 0)
			abort();
	}
	free(m.buf);
	return 0;
}
