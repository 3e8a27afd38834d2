/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-portmap.h>

#include "nfs/connection.h"
#include "nfs/contact.h"
#include "nfs/exchange.h"
#include "nfs/nfs3.h"
#include "nfs/nfs3_reply.h"
#include "nfs/session.h"

#define MS INT64_C(1000000)
#define NFS_PORT 2049
#define PORTMAP_PORT 111
/* libnfs 4.0.0 takes replies of up to 1 MiB and 4 KiB (NFS_MAX_XFER_SIZE);
 * a WRITE is staged in the host segment, which holds as much. */
#define XFER_MAX (1 << 20)

/* IPv4 as an IPv4-mapped address (RFC 4291 section 2.5.5.2). */
static void map_v4(const struct in_addr *v4, struct sockaddr_in6 *out)
{
	memset(out, 0, sizeof *out);
	out->sin6_family = AF_INET6;
	out->sin6_addr.s6_addr[10] = out->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&out->sin6_addr.s6_addr[12], v4, 4);
}

int nfsappend_contact_resolve(struct nfsappend_contacting *c)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
	struct in_addr v4;
	int r;

	if (inet_pton(AF_INET, c->target->host, &v4) == 1) {
		map_v4(&v4, &c->host);
		return 0;
	}
	memset(&c->host, 0, sizeof c->host);
	c->host.sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, c->target->host, &c->host.sin6_addr) == 1)
		return 0;
	r = getaddrinfo(c->target->host, NULL, &hints, &list);
	if (r != 0) {
		snprintf(c->why, c->whylen,
			"the name '%s' does not resolve (%s)", c->target->host,
			gai_strerror(r));
		return -EHOSTUNREACH;
	}
	if (list->ai_family == AF_INET)
		map_v4(&((struct sockaddr_in *)list->ai_addr)->sin_addr,
			&c->host);
	else
		memcpy(&c->host, list->ai_addr, sizeof c->host);
	freeaddrinfo(list);
	return 0;
}

int nfsappend_contact_reach(struct nfsappend_contacting *c, unsigned port,
	const char *what, struct nfsappend_connection **out)
{
	struct timespec t;
	int r;

	c->host.sin6_port = htons((uint16_t)port);
	for (;;) {
		r = nfsappend_connect(&c->host, c->cred, false, c->wait, out);
		if (r == 0)
			return 0;
		if (r == -ETIMEDOUT) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			if (c->wait->poll(c->wait, NULL, 0,
				    t.tv_sec * 1000 * MS + t.tv_nsec +
					    100 * MS) == 0)
				continue;
			r = NFSAPPEND_TIMED_OUT;
		}
		break;
	}
	if (r == NFSAPPEND_TIMED_OUT) {
		snprintf(c->why, c->whylen,
			"no answer in time from port %u (%s)", port, what);
		return -EIO;
	}
	snprintf(c->why, c->whylen, "port %u (%s): %s", port, what,
		r == -ECONNREFUSED   ? "connection refused"
		: r == -EHOSTUNREACH ? "no route to host"
		: r == -ENETUNREACH  ? "network unreachable"
		: r == -EMFILE || r == -ENFILE
			? "no free descriptor in this process"
			: "connection failed");
	return r;
}

bool nfsappend_contact_again(
	struct nfsappend_contacting *c, int *r, unsigned *tries)
{
	struct timespec t;

	if (*r <= 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	if (*r == NFSAPPEND_TIMED_OUT ||
		((*r == NFSAPPEND_LOST || *r == NFSAPPEND_UNSENT) &&
			++*tries == 10) ||
		c->wait->poll(c->wait, NULL, 0,
			t.tv_sec * 1000 * MS + t.tv_nsec + 100 * MS) != 0) {
		*r = -EIO;
		return false;
	}
	return true;
}

/* RFC 1833 section 3: port 0 is "not registered". */
static int decode_port(struct nfsappend_results *r, void *out)
{
	*(uint32_t *)out = nfsappend_get32(r);
	return 0;
}

static int ask_portmapper(
	struct nfsappend_contacting *c, int program, uint32_t *port)
{
	struct nfsappend_connection *conn;
	pmap2_mapping args = {.prog = (uint32_t)program,
		.vers = 3,
		.prot = IPPROTO_TCP};
	struct nfsappend_exchange x = {.program = PMAP_PROGRAM,
		.version = PMAP_V2,
		.procedure = PMAP2_GETPORT,
		.encode = (zdrproc_t)zdr_pmap2_mapping,
		.args = &args,
		.decode = decode_port,
		.out = port};
	int r = nfsappend_contact_reach(c, PORTMAP_PORT, "rpcbind", &conn);

	if (r != 0)
		return r;
	r = nfsappend_exchange_on(conn, c->wait, &x);
	nfsappend_disconnect(conn);
	if (r != 0 || *port > 65535)
		return r < 0 ? r : -EIO;
	return 0;
}

static int find_ports(
	struct nfsappend_contacting *c, uint32_t *nfs, uint32_t *mount)
{
	int r;

	*nfs = c->target->nfsport;
	*mount = c->target->mountport;
	if (*nfs == 0 &&
		(ask_portmapper(c, NFS_PROGRAM, nfs) != 0 || *nfs == 0))
		*nfs = NFS_PORT;
	if (*mount != 0)
		return 0;
	r = ask_portmapper(c, MOUNT_PROGRAM, mount);
	if (r == 0 && *mount == 0) {
		snprintf(c->why, c->whylen,
			"rpcbind knows no MOUNT service (NFSv3 is off on the "
			"server?)");
		r = -ECONNREFUSED;
	}
	return r;
}

static int mount_path(struct nfsappend_contacting *c, uint32_t port, char *path,
	struct nfsappend_fh *fh)
{
	struct nfsappend_connection *conn;
	struct nfsappend_exchange x = {.program = MOUNT_PROGRAM,
		.version = MOUNT_V3,
		.procedure = MOUNT3_MNT,
		.encode = (zdrproc_t)zdr_dirpath,
		.args = &path,
		.decode = nfsappend_mnt3,
		.out = fh};
	unsigned tries = 0;
	int r;

	do {
		r = nfsappend_contact_reach(c, port, "MOUNT", &conn);
		if (r != 0)
			return r;
		r = nfsappend_exchange_on(conn, c->wait, &x);
		nfsappend_disconnect(conn);
	} while (nfsappend_contact_again(c, &r, &tries));
	if (r == -EIO)
		snprintf(c->why, c->whylen, "no usable answer from MOUNT");
	else if (r != 0)
		snprintf(c->why, c->whylen,
			r == -EACCES || r == -EPERM
				? "the server does not export %.150s to this "
				  "client"
				: "the server has no export %.150s",
			c->target->path);
	return r;
}

/*
 * The URL does not tell where the export ends and the folder in it begins,
 * and not every server mounts a folder of an export. So the whole path
 * first, then its parents; *rest is what is left to look up.
 */
static int mount_longest(struct nfsappend_contacting *c, uint32_t port,
	struct nfsappend_fh *fh, const char **rest)
{
	char path[sizeof c->target->path], why[256] = "";
	int first = 0, r;

	strcpy(path, c->target->path);
	for (;;) {
		r = mount_path(c, port, path, fh);
		if (r == 0 || r == -ECONNREFUSED || r == -EIO ||
			r == -EHOSTUNREACH || r == -ENETUNREACH)
			break;
		if (first == 0) {
			first = r;
			snprintf(why, sizeof why, "%s", c->why);
		}
		char *slash = strrchr(path, '/');

		if (path[1] == '\0')
			break;
		slash[slash == path] = '\0';
	}
	*rest = c->target->path + strlen(path);
	if (r == 0 || first == 0)
		return r;
	snprintf(c->why, c->whylen, "%s", why);
	return first;
}

uint32_t nfsappend_contact_transfer(uint64_t max)
{
	return max < 512 ? 512 : max > XFER_MAX ? XFER_MAX : (uint32_t)max;
}

static int get_fsinfo(struct nfsappend_contacting *c,
	struct nfsappend_session *s, struct nfsappend_contact *out)
{
	uint32_t rtmax = 0, wtmax = 0;
	unsigned tries = 0;
	int r;

	do
		r = nfsappend_nfs3_fsinfo(
			s, c->wait, &out->root, &rtmax, &wtmax);
	while (nfsappend_contact_again(c, &r, &tries));
	out->rtmax = nfsappend_contact_transfer(rtmax);
	out->wtmax = nfsappend_contact_transfer(wtmax);
	return r;
}

void nfsappend_contact_no_folder(struct nfsappend_contacting *c, int error)
{
	snprintf(c->why, c->whylen, "%.150s is %s", c->target->path,
		error == -ENOENT    ? "not there on the server"
		: error == -ENOTDIR ? "not a directory"
				    : "not accessible");
}

struct nfsappend_session *nfsappend_contact_session(
	struct nfsappend_contacting *c, struct nfsappend_connection *conn,
	struct nfsappend_contact *out)
{
	struct nfsappend_session *s;

	out->address = c->host;
	s = nfsappend_session_get(c->target, out, c->cred);
	if (s == NULL)
		nfsappend_disconnect(conn);
	else
		nfsappend_session_adopt(s, conn);
	return s;
}

/* The folders of the URL's path below the export. */
static int descend(struct nfsappend_contacting *c, struct nfsappend_session *s,
	const char *rest, struct nfsappend_fh *root)
{
	char name[NFSAPPEND_NAME_MAX + 1];
	struct nfsappend_attr attr = {.type = NFSAPPEND_DIR};
	struct nfsappend_fh fh;
	unsigned tries = 0;
	int r = 0;

	for (rest += strspn(rest, "/"); *rest != '\0' && r == 0;
		rest += strspn(rest, "/")) {
		size_t n = strcspn(rest, "/");

		if (n > NFSAPPEND_NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, rest, n);
		name[n] = '\0';
		do
			r = nfsappend_nfs3_lookup(
				s, c->wait, root, name, &fh, &attr);
		while (nfsappend_contact_again(c, &r, &tries));
		if (r == 0)
			*root = fh;
		rest += n;
	}
	if (r == 0 && attr.type != NFSAPPEND_DIR)
		r = -ENOTDIR;
	if (r != 0)
		nfsappend_contact_no_folder(c, r);
	return r;
}

int nfsappend_contact3(const struct nfsappend_target *target,
	const struct nfsappend_cred *cred, struct nfsappend_wait *wait,
	struct nfsappend_contact *out, char *why, size_t whylen)
{
	struct nfsappend_contacting c = {.target = target,
		.cred = cred,
		.wait = wait,
		.why = why,
		.whylen = whylen};
	struct nfsappend_session *s;
	uint32_t nfs_port = 0, mount_port = 0;
	const char *rest;
	int r = nfsappend_contact_resolve(&c);

	if (r == 0)
		r = find_ports(&c, &nfs_port, &mount_port);
	if (r == 0)
		r = mount_longest(&c, mount_port, &out->root, &rest);
	if (r != 0)
		return r;
	/* Once by hand: a refusal here is an answer, in a session it would be
	 * waited out. */
	struct nfsappend_connection *conn;

	r = nfsappend_contact_reach(&c, nfs_port, "NFS", &conn);
	if (r != 0)
		return r;
	s = nfsappend_contact_session(&c, conn, out);
	if (s == NULL)
		return -ENOMEM;
	r = get_fsinfo(&c, s, out);
	if (r == 0)
		r = descend(&c, s, rest, &out->root);
	else
		snprintf(why, whylen,
			"the NFS service on port %u gives no "
			"usable answer",
			nfs_port);
	if (r > 0)
		r = -EIO;
	return r;
}
