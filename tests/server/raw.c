/*
 * raw PORT COMMAND...: a client on libnfs's raw API that does what it is told,
 * call by call, and prints one line for each. For the tests of the scripted
 * server; "raw" alone lists the commands.
 */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "raw.h"

struct rpc_context *rpc;
static int port;
static int limit_ms = 2000;
static char why[128];

static void connected(struct rpc_context *r, int status, void *data, void *arg)
{
	(void)r;
	(void)data;
	((struct reply *)arg)->done = true;
	((struct reply *)arg)->rpc_status = status;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* NULL, or what became of the call instead of a reply. */
const char *raw_wait(struct reply *r)
{
	long end = now_ms() + limit_ms;

	while (!r->done) {
		struct pollfd p = {rpc_get_fd(rpc), rpc_which_events(rpc), 0};
		long left = end - now_ms();

		if (left <= 0)
			return "no reply";
		if (poll(&p, 1, left) < 0)
			return "poll failed";
		if (p.revents && rpc_service(rpc, p.revents) < 0 &&
			(!r->done || r->rpc_status))
			return "connection lost";
	}
	if (r->rpc_status == RPC_STATUS_SUCCESS)
		return NULL;
	snprintf(why, sizeof(why), "rpc error %d", r->rpc_status);
	return why;
}

void raw_connect(void)
{
	struct reply r = {0};
	const char *bad;

	if (rpc)
		rpc_destroy_context(rpc);
	rpc = rpc_init_context();
	if (rpc_connect_async(rpc, "127.0.0.1", port, connected, &r))
		errx(1, "connect: %s", rpc_get_error(rpc));
	bad = raw_wait(&r);
	if (bad)
		errx(1, "connect: %s: %s", bad, rpc_get_error(rpc));
}

char *raw_bytes(size_t len)
{
	static char data[2 << 20];
	size_t i;

	if (len > sizeof(data))
		errx(2, "%zu bytes are too many", len);
	for (i = 0; i < len; i++)
		data[i] = i + 1 == len ? '\n' : 'a' + i % 26;
	return data;
}

unsigned long raw_number(const char *text)
{
	char *end;
	unsigned long v = text ? strtoul(text, &end, 0) : 0;

	if (!text || *end)
		errx(2, "%s: not a number", text ? text : "missing");
	return v;
}

int main(int argc, char **argv)
{
	char **at = argv + 2;

	if (argc < 3) {
		fputs("raw PORT COMMAND...\n"
		      "timeout MS; sleep MS; reconnect\n" RAW3_HELP RAW4_HELP,
			stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	port = raw_number(argv[1]);
	raw_connect();
	while (*at) {
		char *name = *at++;

		if (!strcmp(name, "timeout")) {
			limit_ms = raw_number(*at++);
		} else if (!strcmp(name, "sleep")) {
			poll(NULL, 0, raw_number(*at++));
		} else if (!strcmp(name, "reconnect")) {
			raw_connect();
		} else if (!raw3_command(name, &at) &&
			   !raw4_command(name, &at)) {
			errx(2, "%s: no such command", name);
		}
	}
	rpc_destroy_context(rpc);
	return 0;
}
