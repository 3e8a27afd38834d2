/*
 * delay US PORT TO-PORT [PORT TO-PORT]...: a TCP relay on 127.0.0.1 that
 * hands every byte on US microseconds after it came, either way: a round trip
 * of 2 * US longer, where the kernel has no netem. Says "ready".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (256 << 10)

struct chunk {
	struct chunk *next;
	int64_t due;
	size_t sent, len;
	char data[];
};

/* One direction of a connection. */
struct flow {
	struct flow *next; /* of all that have chunks waiting */
	int from, to;
	int waiting;
	struct chunk *first, **last;
};

struct listener {
	int fd, to_port;
};

static int64_t delay;
static int epoll;
static struct flow *flows;
static struct flow *by_fd[65536];
static struct listener listeners[8];
static int nlisteners;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void watch(int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0)
		die("epoll_ctl");
}

static void listen_on(int port, int to_port)
{
	struct sockaddr_in at = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
		listen(fd, 128) != 0)
		die("listen");
	watch(fd);
	listeners[nlisteners++] = (struct listener){fd, to_port};
}

static void add_flow(int from, int to)
{
	struct flow *f = calloc(1, sizeof *f);
	int one = 1;

	f->from = from;
	f->to = to;
	f->last = &f->first;
	by_fd[from] = f;
	setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	watch(from);
}

static void accept_one(struct listener *l)
{
	struct sockaddr_in to = loopback(l->to_port);
	int a = accept(l->fd, NULL, NULL);
	int b = socket(AF_INET, SOCK_STREAM, 0);

	if (a < 0 || b < 0)
		die("accept");
	if (connect(b, (struct sockaddr *)&to, sizeof to) != 0) {
		close(a);
		close(b);
		return;
	}
	add_flow(a, b);
	add_flow(b, a);
}

/* Both sides end when one does: nobody here half-closes. The numbers stay
 * taken until then, so a flow never meets a stranger's. */
static void end(struct flow *f)
{
	struct flow *other = by_fd[f->to];

	for (struct flow **at = &flows; *at != NULL;)
		if (*at == f || *at == other)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	by_fd[f->from] = by_fd[f->to] = NULL;
	close(f->from);
	close(f->to);
	for (struct chunk *c = f->first, *n; c != NULL; c = n) {
		n = c->next;
		free(c);
	}
	for (struct chunk *c = other->first, *n; c != NULL; c = n) {
		n = c->next;
		free(c);
	}
	free(other);
	free(f);
}

static void take(struct flow *f)
{
	static char data[CHUNK];
	ssize_t n = recv(f->from, data, sizeof data, MSG_DONTWAIT);
	struct chunk *c;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		end(f);
		return;
	}
	c = malloc(sizeof *c + (size_t)n);
	*c = (struct chunk){.due = now() + delay, .len = (size_t)n};
	memcpy(c->data, data, c->len);
	*f->last = c;
	f->last = &c->next;
	if (!f->waiting) {
		f->waiting = 1;
		f->next = flows;
		flows = f;
	}
}

/* Hands on what is due; false when the flow is no more. */
static int give(struct flow *f, int64_t t)
{
	while (f->first != NULL && f->first->due <= t) {
		struct chunk *c = f->first;
		ssize_t n = send(f->to, c->data + c->sent, c->len - c->sent,
			MSG_NOSIGNAL);

		if (n < 0) {
			end(f);
			return 0;
		}
		c->sent += (size_t)n;
		if (c->sent < c->len)
			break;
		f->first = c->next;
		if (f->first == NULL)
			f->last = &f->first;
		free(c);
	}
	return 1;
}

static void give_all(void)
{
	int64_t t = now();

again:
	for (struct flow *f = flows; f != NULL; f = f->next)
		if (!give(f, t))
			goto again;
	for (struct flow **at = &flows; *at != NULL;)
		if ((*at)->first == NULL) {
			(*at)->waiting = 0;
			*at = (*at)->next;
		} else {
			at = &(*at)->next;
		}
}

/* ns until the next chunk is due, -1: none. */
static int64_t pause_ns(void)
{
	int64_t first = INT64_MAX, t = now();

	for (struct flow *f = flows; f != NULL; f = f->next)
		if (f->first->due < first)
			first = f->first->due;
	return first == INT64_MAX ? -1 : first > t ? first - t : 0;
}

static void event(int fd)
{
	for (int i = 0; i < nlisteners; i++) {
		if (listeners[i].fd == fd) {
			accept_one(&listeners[i]);
			return;
		}
	}
	if (by_fd[fd] != NULL)
		take(by_fd[fd]);
}

int main(int argc, char **argv)
{
	if (argc < 4 || argc % 2 != 0 || argc > 4 + 2 * 7)
		return 2;
	prctl(PR_SET_PDEATHSIG, 9);
	prctl(PR_SET_TIMERSLACK, 1);
	delay = atoll(argv[1]) * 1000;
	epoll = epoll_create1(0);
	for (int i = 2; i < argc; i += 2)
		listen_on(atoi(argv[i]), atoi(argv[i + 1]));
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct pollfd p = {.fd = epoll, .events = POLLIN};
		int64_t ns = pause_ns();
		struct timespec t = {ns / 1000000000, ns % 1000000000};
		struct epoll_event events[64];
		int n = 0;

		if (ppoll(&p, 1, ns < 0 ? NULL : &t, NULL) > 0)
			n = epoll_wait(epoll, events, 64, 0);
		for (int i = 0; i < n; i++)
			event(events[i].data.fd);
		give_all();
	}
}
