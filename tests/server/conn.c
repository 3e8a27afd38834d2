/* TCP connections and record marking (RFC 5531 section 11). */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "server.h"

#define MAX_RECORD (8u << 20)

struct conn {
	struct conn *next;
	uint32_t id;
	int fd;
	struct watch *watch;
	struct buf in, record, out; /* bytes, fragments of one record, bytes */
	bool first;		    /* in holds the first fragment's begin */
	bool asked;		    /* whether rules cut this request */
	bool finish, dead;
};

static struct conn *conns;
static uint32_t last_id;

uint32_t conn_id(const struct conn *c)
{
	return c->id;
}

void conn_close(struct conn *c)
{
	struct conn **at = &conns;

	if (c->dead)
		return;
	c->dead = true;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	call_note("close conn=%u", c->id);
	call_conn_gone(c);
	watch_del(c->watch);
	close(c->fd);
	buf_free(&c->in);
	buf_free(&c->record);
	buf_free(&c->out);
}

void conn_close_all(void)
{
	while (conns) {
		struct conn *c = conns;

		conn_close(c);
		free(c);
	}
}

static void flush(struct conn *c)
{
	while (c->out.len) {
		ssize_t n = send(c->fd, c->out.v, c->out.len,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			c->finish = true;
			c->out.len = 0;
			break;
		}
		buf_drop(&c->out, n);
	}
	if (c->finish && !c->out.len)
		/* Not closed here: callers still hold the connection. */
		shutdown(c->fd, SHUT_RDWR);
	watch_set(c->watch, POLLIN | (c->out.len ? POLLOUT : 0));
}

void conn_send(struct conn *c, const void *data, size_t len)
{
	if (c->finish || c->dead)
		return;
	buf_add(&c->out, data, len);
	flush(c);
}

void conn_finish(struct conn *c)
{
	c->finish = true;
	flush(c);
}

/* Takes complete fragments out of in; true when a record was complete. */
static bool take_record(struct conn *c)
{
	struct xdr x = {c->in.v, c->in.len, false};
	uint32_t mark = get_u32(&x), len = mark & 0x7fffffff;
	uint8_t *record;
	size_t size;

	if (x.bad)
		return false;
	if (len > MAX_RECORD || c->record.len + len > MAX_RECORD) {
		call_note("oversized record conn=%u", c->id);
		conn_finish(c);
		c->in.len = 0;
		return false;
	}
	if (x.left < len)
		return false;
	buf_add(&c->record, x.p, len);
	buf_drop(&c->in, 4 + len);
	c->asked = false;
	c->first = false;
	if (!(mark & 0x80000000))
		return true;
	c->first = true;
	record = c->record.v;
	size = c->record.len;
	c->record = (struct buf){0};
	call_arrived(c, record, size);
	return true;
}

/* How much may be read so that a rule can end the connection in the middle of
 * a request: the mark, a part of the record, the rest. Of a small record the
 * part is all but a word, since rules look for what its operations are. */
static size_t wanted(struct conn *c)
{
	struct xdr x = {c->in.v, c->in.len, false};
	size_t len, part;

	if (c->in.len < 4)
		return 4 - c->in.len;
	len = get_u32(&x) & 0x7fffffff;
	part = len < 16384 ? len : 4 + len / 2;
	if (c->in.len < part)
		return part - c->in.len;
	if (!c->asked && c->first) {
		c->asked = true;
		if (call_partial(c->in.v + 4, c->in.len - 4)) {
			call_note("cut conn=%u in the middle of a request",
				c->id);
			return 0;
		}
	}
	return c->in.len < 4 + len ? 4 + len - c->in.len : 1;
}

static void on_ready(void *arg, short revents)
{
	struct conn *c = arg;
	static uint8_t chunk[1 << 18];
	size_t want = sizeof(chunk);
	ssize_t n;

	if (revents & POLLOUT)
		flush(c);
	if (!(revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	if (rules_want_partial()) {
		want = wanted(c);
		if (want > sizeof(chunk))
			want = sizeof(chunk);
	}
	n = want ? recv(c->fd, chunk, want, MSG_DONTWAIT) : 0;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0 && !c->finish) {
		buf_add(&c->in, chunk, n);
		while (!c->dead && take_record(c))
			;
	}
	if (n <= 0)
		conn_close(c);
	if (c->dead)
		free(c);
}

struct listener {
	int fd;
};

static void on_accept(void *arg, short revents)
{
	struct listener *l = arg;
	struct conn *c;
	int one = 1, fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);

	(void)revents;
	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c = calloc(1, sizeof(*c));
	if (!c)
		err(1, "connection");
	c->id = ++last_id;
	c->fd = fd;
	c->first = true;
	c->watch = watch_add(fd, POLLIN, on_ready, c);
	c->next = conns;
	conns = c;
	call_note("accept conn=%u", c->id);
}

int conn_listen(const char *host, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t len = sizeof(a);
	static struct listener l;
	int one = 1;

	if (inet_pton(AF_INET, host, &a.sin_addr) != 1)
		errx(1, "%s: not an IPv4 address", host);
	l.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l.fd < 0 ||
		setsockopt(l.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
		bind(l.fd, (struct sockaddr *)&a, sizeof(a)) ||
		listen(l.fd, 128) ||
		getsockname(l.fd, (struct sockaddr *)&a, &len))
		err(1, "port %d of %s", port, host);
	watch_add(l.fd, POLLIN, on_accept, &l);
	return ntohs(a.sin_port);
}
