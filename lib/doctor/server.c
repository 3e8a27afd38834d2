/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is the server there, does it speak what we speak, does it let us in? */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "doctor/nfs.h"

enum { PROGRAM_PORTMAP = 100000, PROGRAM_NFS = 100003, PROGRAM_MOUNT = 100005 };
enum { PORTMAP_PORT = 111, NFS_PORT = 2049, PORTMAP_GETPORT = 3 };
enum { TCP = 6 };

static void map_v4(const struct in_addr *v4, struct sockaddr_in6 *out)
{
	memset(out, 0, sizeof *out);
	out->sin6_family = AF_INET6;
	out->sin6_addr.s6_addr[10] = out->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&out->sin6_addr.s6_addr[12], v4, 4);
}

/* As the module does it: the first address counts. */
static bool resolve(struct doctor_place *p)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
	struct sockaddr_in6 *out = &p->contact.address;
	char text[INET6_ADDRSTRLEN] = "";
	struct in_addr v4;
	int r;

	if (inet_pton(AF_INET, p->target.host, &v4) == 1) {
		map_v4(&v4, out);
		return true;
	}
	memset(out, 0, sizeof *out);
	out->sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, p->target.host, &out->sin6_addr) == 1)
		return true;
	doctor_step("resolving the name %s", p->target.host);
	r = getaddrinfo(p->target.host, NULL, &hints, &list);
	if (r != 0) {
		doctor_found(p->bad, "the name %s does not resolve: %s",
			p->target.host, gai_strerror(r));
		doctor_cure("correct the name, or enter it in DNS or "
			    "/etc/hosts");
		return false;
	}
	if (list->ai_family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)list->ai_addr;

		map_v4(&in->sin_addr, out);
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
	} else {
		memcpy(out, list->ai_addr, sizeof *out);
		inet_ntop(AF_INET6, &out->sin6_addr, text, sizeof text);
	}
	freeaddrinfo(list);
	doctor_found(DOCTOR_OK, "%s is %s", p->target.host, text);
	return true;
}

static void explain_ping(struct doctor_place *p, enum doctor_ping how,
	unsigned port, const char *what, const struct doctor_call *call)
{
	const char *host = p->target.host;

	switch (how) {
	case DOCTOR_ANSWERED:
		doctor_found(DOCTOR_OK, "%s answers on port %u (%lld us)", what,
			port, (long long)call->took / 1000);
		break;
	case DOCTOR_REFUSED:
		doctor_found(p->bad,
			"port %u of %s (%s) refuses connections: nothing "
			"listens there",
			port, host, what);
		doctor_cure("start the NFS server there (systemctl start "
			    "nfs-server), or correct the port (nfsport= and "
			    "mountport= in the URL)");
		break;
	case DOCTOR_UNREACHABLE:
		doctor_found(p->bad, "%s cannot be reached from here: %s", host,
			strerror(call->error));
		doctor_cure("look at the route to it and at the network "
			    "namespace of this process");
		break;
	case DOCTOR_NO_HOST:
		doctor_found(p->bad,
			"%s does not answer at all on port %u (%s): it is "
			"down, or a firewall drops what we send",
			host, port, what);
		doctor_cure(
			"start it, or open TCP port %u in the firewall", port);
		break;
	case DOCTOR_SILENT:
		doctor_found(p->bad,
			"port %u of %s (%s) accepts connections, but nothing "
			"answers: the server's process is stopped, hangs or is "
			"overloaded",
			port, host, what);
		doctor_cure("look at the NFS server on %s and restart it; "
			    "programs under nfsappend wait for it meanwhile "
			    "(NFSAPPEND_TIMEOUT), and no record that was "
			    "acknowledged is lost",
			host);
		break;
	case DOCTOR_CLOSED:
		doctor_found(p->bad,
			"port %u of %s (%s) closes the connection at once",
			port, host, what);
		doctor_cure("look whether an NFS server listens there, and "
			    "whether it admits this client (hosts.deny, TLS "
			    "only)");
		break;
	case DOCTOR_NO_PROGRAM:
		doctor_found(p->bad, "what listens on port %u of %s is no %s",
			port, host, what);
		doctor_cure("correct the port");
		break;
	case DOCTOR_NO_VERSION:
		doctor_found(p->bad,
			"%s on port %u speaks versions %u to %u, and not %u",
			what, port, call->low, call->high, call->version);
		if (call->version == 4)
			doctor_cure("allow NFSv4 in the server (vers4=y), or "
				    "leave version=4 out of the URL");
		else
			doctor_cure("allow NFSv3 in the server (vers3=y), or "
				    "use version=4 in the URL");
		break;
	}
}

/* The port that rpcbind tells; 0: none is registered, or it does not say. */
static unsigned ask_portmapper(
	struct doctor_place *p, unsigned program, enum doctor_ping *how)
{
	struct doctor_call call = {.program = PROGRAM_PORTMAP,
		.version = 2,
		.procedure = PORTMAP_GETPORT,
		.args = {program, 3, TCP, 0},
		.nargs = 4};

	doctor_step("asking rpcbind of %s", p->target.host);
	*how = doctor_ping(
		&p->contact.address, PORTMAP_PORT, &call, p->deadline);
	return *how == DOCTOR_ANSWERED && call.result < 65536 ? call.result : 0;
}

static bool ping(struct doctor_place *p, unsigned program, unsigned version,
	unsigned port, const char *what)
{
	struct doctor_call call = {.program = program, .version = version};
	enum doctor_ping how;

	doctor_step(
		"waiting for %s on port %u of %s", what, port, p->target.host);
	how = doctor_ping(&p->contact.address, port, &call, p->deadline);
	if (!doctor_interrupted)
		explain_ping(p, how, port, what, &call);
	return how == DOCTOR_ANSWERED;
}

static bool reach_mountd(struct doctor_place *p)
{
	unsigned port = p->target.mountport;
	enum doctor_ping how;

	if (port == 0)
		port = ask_portmapper(p, PROGRAM_MOUNT, &how);
	if (port != 0)
		return ping(p, PROGRAM_MOUNT, 3, port, "MOUNT");
	if (how == DOCTOR_ANSWERED) {
		doctor_found(p->bad,
			"rpcbind of %s knows no MOUNT service, "
			"which NFSv3 needs",
			p->target.host);
		doctor_cure("allow NFSv3 in the server (vers3=y; "
			    "rpc.mountd), use version=4 in the URL, or name "
			    "the port (mountport=)");
	} else {
		struct doctor_call none = {.version = 2};

		explain_ping(p, how, PORTMAP_PORT, "rpcbind", &none);
		doctor_found(DOCTOR_NOTE, "NFSv3 finds its ports by rpcbind; "
					  "version=4 needs none, nor do "
					  "nfsport= and mountport=");
	}
	return false;
}

bool doctor_reach(struct doctor_place *p)
{
	unsigned port = p->target.nfsport;
	enum doctor_ping how;

	if (!p->mounted && !resolve(p))
		return false;
	if (port == 0 && p->target.version == 3)
		port = ask_portmapper(p, PROGRAM_NFS, &how);
	if (port == 0)
		port = NFS_PORT;
	p->contact.address.sin6_port = htons((uint16_t)port);
	if (!ping(p, PROGRAM_NFS, p->target.version, port, "NFS"))
		return false;
	return p->mounted || p->target.version == 4 || reach_mountd(p);
}

static void explain_refusal(struct doctor_place *p, int r)
{
	const char *kernel = p->mounted ? "; the kernel serves its files, each "
					  "write with O_SYNC, "
					  "slower"
					: "";

	if (r != -EPERM && r != -EACCES) {
		doctor_found(p->bad, "the server does not let us in: %s%s",
			doctor_outcome(r), kernel);
		doctor_cure(r == -ESTALE ? "mount it again: the server does "
					   "not know its file handle any more"
					 : "see the log of the server");
		return;
	}
	if (!doctor_low_port()) {
		doctor_found(p->bad,
			"the server refuses us (%s): its export is 'secure', "
			"and this user may not use a port below 1024%s",
			strerror(-r), kernel);
		doctor_cure("add 'insecure' to the export (/etc/exports, then "
			    "exportfs -ra), or give the program the capability "
			    "CAP_NET_BIND_SERVICE (systemd: "
			    "AmbientCapabilities=CAP_NET_BIND_SERVICE)");
		return;
	}
	doctor_found(p->bad,
		"the server refuses us (%s): the export does not admit this "
		"client or user%s",
		strerror(-r), kernel);
	doctor_cure("add this host to the export list (showmount -e %s), "
		    "rw and sec=sys",
		p->target.host);
}

static int getattr(struct doctor_place *p, struct nfsappend_session *s,
	const struct nfsappend_fh *fh, struct nfsappend_attr *attr)
{
	struct nfsappend_wait w;
	int r;

	doctor_wait(&w, p->deadline, false);
	DOCTOR_CALL(w, r, getattr, s, &w, fh, attr);
	return r;
}

static void other_ports(struct doctor_place *p, const struct nfsappend_fh *fh)
{
	struct nfsappend_target target = p->target;
	struct nfsappend_session *s;
	struct nfsappend_attr attr;
	int r;

	if (!doctor_low_port()) {
		doctor_found(DOCTOR_OK, "the server accepts requests from "
					"ports above 1023 ('insecure')");
		return;
	}
	doctor_step("asking from a port above 1023");
	target.unprivileged = 1;
	s = doctor_backend(NULL, 0)->session(&target, &p->contact, &p->cred);
	r = s != NULL ? getattr(p, s, fh, &attr) : -ENOMEM;
	if (r == 0)
		doctor_found(DOCTOR_OK, "the server accepts requests from "
					"ports above 1023, too ('insecure')");
	else if (r == -EPERM || r == -EACCES)
		doctor_found(DOCTOR_NOTE,
			"the server accepts requests from ports below 1024 "
			"only ('secure'): a program that may not use those is "
			"not served; 'insecure' in the export, or "
			"CAP_NET_BIND_SERVICE, cures that");
}

bool doctor_rights(struct doctor_place *p, const struct nfsappend_fh *fh)
{
	struct nfsappend_attr attr;
	int r;

	doctor_step(
		"asking %s for the attributes of %s", p->target.host, p->name);
	r = getattr(p, p->session, fh, &attr);
	if (doctor_interrupted)
		return false;
	if (r == -EPROTONOSUPPORT) {
		doctor_found(p->bad, "the server does not speak NFSv4.0, which "
				     "we need beside an NFSv4 mount");
		doctor_cure("allow it (vers4.0=y in the [nfsd] section of "
			    "/etc/nfs.conf, then restart the server), or mount "
			    "with vers=3");
		return false;
	}
	if (r != 0) {
		explain_refusal(p, r);
		return false;
	}
	if (p->mounted && attr.fileid != p->dir_ino) {
		doctor_found(p->bad,
			"%s, as this process reaches it, has another file "
			"under the kernel's handle: this is another network "
			"namespace than the mount's",
			p->target.host);
		doctor_cure("mount it in this namespace, or use a URL (-m)");
		return false;
	}
	other_ports(p, fh);
	return true;
}

/* The pseudo root tells: NFSv4.0 needs no MOUNT. */
void doctor_versions(struct doctor_place *p)
{
	struct nfsappend_target target = p->target;
	struct nfsappend_contact contact = {.wtmax = 0};
	struct nfsappend_wait w;
	char why[256] = "";
	int r;

	if (p->target.version == 4) {
		doctor_found(DOCTOR_OK, "NFSv4.0 is spoken: appends of several "
					"hosts are kept apart by locks "
					"(sharing mode locked)");
		return;
	}
	doctor_step("asking whether NFSv4.0 is offered");
	target.version = 4;
	strcpy(target.path, "/");
	doctor_wait(&w, p->deadline, false);
	r = doctor_backend(NULL, 0)->contact(
		&target, &p->cred, &w, &contact, why, sizeof why);
	if (doctor_interrupted)
		return;
	if (r == 0)
		doctor_found(DOCTOR_NOTE,
			"NFSv3 is used: of two hosts that append to a file at "
			"once one may overwrite the other. NFSv4.0 is offered, "
			"too: %s keeps them apart",
			p->mounted ? "mounting with vers=4.2"
				   : "?version=4, with the path from the "
				     "pseudo root,");
	else
		doctor_found(DOCTOR_NOTE,
			"NFSv3 is used, and NFSv4.0 is not offered (%s): of "
			"two hosts that append to a file at once one may "
			"overwrite the other",
			why[0] != '\0' ? why : doctor_outcome(r));
}
