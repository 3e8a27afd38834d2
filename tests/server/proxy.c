/*
 * A TCP proxy that breaks ONC RPC connections on purpose, for tests against
 * real servers. It knows records (RFC 5531 section 11), so that it can drop
 * one reply or cut a connection in the middle of one.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "proxyrules.h"
#include "xdr.h"

#define REMEMBERED 256

enum { CLIENT, SERVER };

struct side {
	int fd;
	struct watch *watch;
	struct buf in, out; /* bytes from it, bytes for it */
	int64_t due;	    /* nothing for it may overtake this */
	bool eof;
};

struct pair {
	struct pair *next;
	struct side side[2];
	struct about calls[REMEMBERED]; /* by xid modulo size */
	int timers;			/* that still point here */
	bool dead;
};

struct parcel { /* bytes on their way */
	struct pair *pair;
	int to;
	bool close;
	struct buf data;
};

static struct pair *pairs;
static struct sockaddr_in target;
static struct sockaddr_in local = {.sin_family = AF_INET};
static struct watch *listening;
static int listen_fd = -1;
static bool stalled;
static struct counts {
	uint64_t connections, refused, records[2], dropped, cut, duplicated,
		delayed;
} counts;

static void free_pair(struct pair *p)
{
	if (!p->timers)
		free(p);
}

static void pair_close(struct pair *p, bool reset)
{
	struct pair **at = &pairs;
	struct linger none = {1, 0};
	int i;

	if (p->dead)
		return;
	p->dead = true;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	for (i = 0; i < 2; i++) {
		if (reset)
			setsockopt(p->side[i].fd, SOL_SOCKET, SO_LINGER, &none,
				sizeof(none));
		watch_del(p->side[i].watch);
		close(p->side[i].fd);
		buf_free(&p->side[i].in);
		buf_free(&p->side[i].out);
	}
}

static void set_events(struct side *s)
{
	watch_set(s->watch, (stalled || s->eof ? 0 : POLLIN) |
				    (s->out.len && !stalled ? POLLOUT : 0));
}

static void flush(struct side *s)
{
	while (s->out.len && !stalled) {
		ssize_t n = send(s->fd, s->out.v, s->out.len,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			s->out.len = 0; /* its end will be read */
		if (n < 0)
			break;
		buf_drop(&s->out, n);
	}
	set_events(s);
}

static void deliver(void *arg)
{
	struct parcel *d = arg;
	struct pair *p = d->pair;

	p->timers--;
	if (!p->dead) {
		buf_add(&p->side[d->to].out, d->data.v, d->data.len);
		flush(&p->side[d->to]);
		if (d->close)
			pair_close(p, false);
	}
	if (p->dead)
		free_pair(p);
	buf_free(&d->data);
	free(d);
}

/* In order for each direction, whatever the delays. */
static void send_later(struct pair *p, int to, const void *data, size_t len,
	uint64_t ms, bool then_close)
{
	struct parcel *d = calloc(1, sizeof(*d));
	struct side *s = &p->side[to];
	int64_t due = now_us() + ms * 1000;

	if (!d)
		err(1, "parcel");
	if (due < s->due)
		due = s->due;
	s->due = due;
	*d = (struct parcel){.pair = p, .to = to, .close = then_close};
	buf_add(&d->data, data, len);
	p->timers++;
	timer_add((due - now_us() + 999) / 1000, deliver, d);
}

static void forward(
	struct pair *p, int to, const void *data, size_t len, uint64_t ms)
{
	struct side *s = &p->side[to];

	if (!ms && s->due <= now_us()) {
		buf_add(&s->out, data, len);
		flush(s);
		return;
	}
	counts.delayed++;
	send_later(p, to, data, len, ms, false);
}

/* What a record is about: a reply is about what its call was. */
static struct about *about(
	struct pair *p, int from, const uint8_t *record, size_t len)
{
	struct xdr x = {record + 4, len - 4, false};
	uint32_t xid = get_u32(&x);
	struct about *a = &p->calls[xid % REMEMBERED];

	if (from == CLIENT) {
		get_u64(&x); /* CALL, RPC version */
		a->prog = get_u32(&x);
		a->vers = get_u32(&x);
		a->proc = get_u32(&x);
		a->length = len;
	}
	a->reply = from == SERVER;
	return a;
}

static void handle_record(
	struct pair *p, int from, const uint8_t *record, size_t len)
{
	struct deed deed = {0};
	int to = !from;

	counts.records[from]++;
	proxy_match(about(p, from, record, len), &deed);
	if (deed.cut) {
		size_t some = deed.cut == CUT_BEFORE   ? 0
			      : deed.cut == CUT_MIDDLE ? len / 2
						       : len;

		counts.cut++;
		if (some)
			forward(p, to, record, some, 0);
		/* What waits for its time goes first, then the end. */
		if (p->side[to].due > now_us() && !deed.reset)
			send_later(p, to, NULL, 0, 0, true);
		else
			pair_close(p, deed.reset);
		return;
	}
	if (deed.drop) {
		counts.dropped++;
		return;
	}
	forward(p, to, record, len, deed.delay);
	if (deed.duplicate) {
		counts.duplicated++;
		forward(p, to, record, len, deed.delay);
	}
}

/* The length of the first record of all fragments, 0 if it is not complete. */
static size_t record_length(const struct buf *b)
{
	struct xdr x = {b->v, b->len, false};
	uint32_t mark;

	do {
		mark = get_u32(&x);
		if (x.bad || x.left < (mark & 0x7fffffff))
			return 0;
		x.p += mark & 0x7fffffff;
		x.left -= mark & 0x7fffffff;
	} while (!(mark & 0x80000000));
	return b->len - x.left;
}

static void on_ready(struct pair *p, int from, short revents)
{
	struct side *s = &p->side[from];
	static uint8_t chunk[1 << 18];
	ssize_t n;
	size_t len;

	if (revents & POLLOUT)
		flush(s);
	if (!(revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	n = recv(s->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		/* What is on its way still arrives, then the end. */
		if (p->side[!from].due > now_us()) {
			s->eof = true;
			set_events(s);
			send_later(p, !from, NULL, 0, 0, true);
		} else {
			pair_close(p, n < 0);
		}
	} else {
		buf_add(&s->in, chunk, n);
		while (!p->dead && (len = record_length(&s->in))) {
			handle_record(p, from, s->in.v, len);
			if (!p->dead)
				buf_drop(&s->in, len);
		}
	}
	if (p->dead)
		free_pair(p);
}

static void on_client(void *arg, short revents)
{
	on_ready(arg, CLIENT, revents);
}

static void on_server(void *arg, short revents)
{
	on_ready(arg, SERVER, revents);
}

static void on_accept(void *arg, short revents)
{
	int one = 1, i, fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pair *p;

	(void)arg;
	(void)revents;
	if (fd < 0 || out < 0 ||
		connect(out, (struct sockaddr *)&target, sizeof(target))) {
		counts.refused++;
		if (fd >= 0)
			close(fd);
		if (out >= 0)
			close(out);
		return;
	}
	counts.connections++;
	p = calloc(1, sizeof(*p));
	if (!p)
		err(1, "connection");
	p->side[CLIENT].fd = fd;
	p->side[SERVER].fd = out;
	p->side[CLIENT].watch = watch_add(fd, POLLIN, on_client, p);
	p->side[SERVER].watch = watch_add(out, POLLIN, on_server, p);
	for (i = 0; i < 2; i++) {
		setsockopt(p->side[i].fd, IPPROTO_TCP, TCP_NODELAY, &one,
			sizeof(one));
		set_events(&p->side[i]);
	}
	p->next = pairs;
	pairs = p;
}

static void stop_listening(void)
{
	if (listen_fd < 0)
		return;
	watch_del(listening);
	close(listen_fd);
	listen_fd = -1;
}

/* The port stays the same after the first time. */
static bool start_listening(void)
{
	socklen_t len = sizeof(local);
	int one = 1;

	if (listen_fd >= 0)
		return true;
	listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listen_fd < 0 ||
		setsockopt(listen_fd, SOL_SOCKET, SO_REUSEADDR, &one,
			sizeof(one)) ||
		bind(listen_fd, (struct sockaddr *)&local, sizeof(local)) ||
		listen(listen_fd, 128) ||
		getsockname(listen_fd, (struct sockaddr *)&local, &len))
		return false;
	listening = watch_add(listen_fd, POLLIN, on_accept, NULL);
	return true;
}

const char *proxy_refuse(bool on)
{
	if (on)
		stop_listening();
	else if (!start_listening())
		return "cannot listen";
	return NULL;
}

void proxy_stall(bool on)
{
	struct pair *p;

	stalled = on;
	for (p = pairs; p; p = p->next) {
		flush(&p->side[CLIENT]);
		flush(&p->side[SERVER]);
	}
}

void proxy_cut_all(bool reset)
{
	while (pairs) {
		struct pair *p = pairs;

		counts.cut++;
		pair_close(p, reset);
		free_pair(p);
	}
}

void proxy_print(FILE *out)
{
	fprintf(out,
		"connections %lu refused %lu requests %lu replies %lu "
		"dropped %lu cut %lu duplicated %lu delayed %lu\n",
		counts.connections, counts.refused, counts.records[CLIENT],
		counts.records[SERVER], counts.dropped, counts.cut,
		counts.duplicated, counts.delayed);
}

int proxy_start(int port, const char *host, int to)
{
	local.sin_port = htons(port);
	local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	target = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(to)};
	if (inet_pton(AF_INET, host, &target.sin_addr) != 1)
		errx(1, "%s: not an IPv4 address", host);
	if (!start_listening())
		err(1, "port %d", port);
	return ntohs(local.sin_port);
}
