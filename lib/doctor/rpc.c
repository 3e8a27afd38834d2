/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One ONC RPC call over TCP (RFC 5531), from any port, without credentials. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "doctor/nfs.h"

#define LAST_FRAGMENT UINT32_C(0x80000000)
#define XID UINT32_C(0x6e666461)

/* Until fd is ready: false at the deadline or a signal. */
static bool ready(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};

	while (!doctor_interrupted) {
		int64_t left = deadline - nfsappend_now();

		if (left <= 0)
			return false;
		if (left > 200 * DOCTOR_MS)
			left = 200 * DOCTOR_MS;
		if (poll(&p, 1, (int)((left + DOCTOR_MS - 1) / DOCTOR_MS)) > 0)
			return true;
	}
	return false;
}

static enum doctor_ping open_connection(const struct sockaddr_in6 *to,
	unsigned port, int64_t deadline, int *error, int *out)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&to->sin6_addr);
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct sockaddr_in6 in6 = *to;
	socklen_t n = sizeof *error;
	int fd, r;

	memcpy(&in.sin_addr, &to->sin6_addr.s6_addr[12], 4);
	in6.sin6_port = htons((uint16_t)port);
	fd = socket(v4 ? AF_INET : AF_INET6,
		SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	*error = errno;
	if (fd < 0)
		return DOCTOR_UNREACHABLE;
	r = v4 ? connect(fd, (struct sockaddr *)&in, sizeof in)
	       : connect(fd, (struct sockaddr *)&in6, sizeof in6);
	*error = r == 0 ? 0 : errno;
	if (*error == EINPROGRESS) {
		if (!ready(fd, POLLOUT, deadline)) {
			close(fd);
			return DOCTOR_NO_HOST;
		}
		getsockopt(fd, SOL_SOCKET, SO_ERROR, error, &n);
	}
	if (*error == 0) {
		*out = fd;
		return DOCTOR_ANSWERED;
	}
	close(fd);
	return *error == ECONNREFUSED ? DOCTOR_REFUSED
	       : *error == ETIMEDOUT  ? DOCTOR_NO_HOST
				      : DOCTOR_UNREACHABLE;
}

/* RFC 5531 section 9: an accepted reply with an empty verifier. */
static enum doctor_ping read_reply(
	const uint32_t *word, size_t n, struct doctor_call *call)
{
	size_t verifier = n > 5 ? (ntohl(word[5]) + 3) / 4 : 0,
	       at = 6 + verifier;

	if (n < 7 || ntohl(word[1]) != XID || ntohl(word[2]) != 1 ||
		verifier > 100 || at >= n)
		return DOCTOR_NO_PROGRAM;
	if (ntohl(word[3]) != 0) /* denied: but it is RPC, and alive */
		return DOCTOR_ANSWERED;
	switch (ntohl(word[at])) {
	case 0:
		call->result = at + 1 < n ? ntohl(word[at + 1]) : 0;
		return DOCTOR_ANSWERED;
	case 2:
		call->low = at + 1 < n ? ntohl(word[at + 1]) : 0;
		call->high = at + 2 < n ? ntohl(word[at + 2]) : 0;
		return DOCTOR_NO_VERSION;
	default:
		return DOCTOR_NO_PROGRAM;
	}
}

static enum doctor_ping talk(int fd, struct doctor_call *call, int64_t deadline)
{
	uint32_t out[15] = {
		0, XID, 0, 2, call->program, call->version, call->procedure};
	uint32_t in[128];
	size_t n = 11 + call->nargs, have = 0;
	char *buf = (char *)in;

	for (unsigned i = 0; i < call->nargs; i++)
		out[11 + i] = call->args[i];
	out[0] = LAST_FRAGMENT | (uint32_t)(n - 1) * 4;
	for (size_t i = 0; i < n; i++)
		out[i] = htonl(out[i]);
	if (send(fd, out, n * 4, MSG_NOSIGNAL) != (ssize_t)(n * 4))
		return DOCTOR_CLOSED;
	while (have < sizeof in) {
		ssize_t r;

		if (have >= 4 && have - 4 >= (ntohl(in[0]) & ~LAST_FRAGMENT))
			break;
		if (!ready(fd, POLLIN, deadline))
			return DOCTOR_SILENT;
		r = recv(fd, buf + have, sizeof in - have, MSG_DONTWAIT);
		if (r < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (r <= 0)
			return DOCTOR_CLOSED;
		have += (size_t)r;
	}
	return read_reply(in, have / 4, call);
}

enum doctor_ping doctor_ping(const struct sockaddr_in6 *to, unsigned port,
	struct doctor_call *call, int64_t deadline)
{
	int64_t start = nfsappend_now();
	enum doctor_ping r;
	int fd;

	r = open_connection(to, port, deadline, &call->error, &fd);
	if (r != DOCTOR_ANSWERED)
		return r;
	r = talk(fd, call, deadline);
	close(fd);
	call->took = nfsappend_now() - start;
	return r;
}
