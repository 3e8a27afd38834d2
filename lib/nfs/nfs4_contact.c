/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * First contact by NFSv4.0: one port, and a path from the pseudo root (RFC
 * 7530 section 7.3) to the URL's folder; no MOUNT, no port mapper.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfs/contact.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_attr.h"
#include "nfs/nfs4_wire.h"

#define NFS_PORT 2049

struct root {
	struct nfsappend_fh *fh;
	struct nfsappend_attr attr;
};

static int decode_root(struct nfsappend_results *results, void *out)
{
	struct root *root = out;
	int e = nfsappend_expect(results, NFSAPPEND_OP_PUTROOTFH);

	if (e == 0)
		e = nfsappend_expect(results, NFSAPPEND_OP_GETFH);
	if (e == 0)
		nfsappend_get_fh(results, NFSAPPEND_FH_MAX, root->fh);
	if (e == 0)
		e = nfsappend_expect(results, NFSAPPEND_OP_GETATTR);
	if (e == 0)
		nfsappend_get_attr(results, &root->attr, NULL);
	return e;
}

static int get_root(struct nfsappend_contacting *c, struct nfsappend_session *s,
	struct root *root)
{
	struct nfsappend_ops o;
	unsigned tries = 0;
	int r;

	nfsappend_ops_begin(&o);
	nfsappend_op(&o, NFSAPPEND_OP_PUTROOTFH);
	nfsappend_op(&o, NFSAPPEND_OP_GETFH);
	nfsappend_op_getattr(&o);
	do
		r = nfsappend_compound(s, c->wait, &o, decode_root, root);
	while (nfsappend_contact_again(c, &r, &tries));
	if (r == -EPROTONOSUPPORT)
		snprintf(c->why, c->whylen,
			"the server does not speak NFSv4.0, which version=4 "
			"asks for; without version=4 NFSv3 is used, without "
			"locks among hosts");
	else if (r != 0)
		snprintf(c->why, c->whylen,
			"the NFSv4 service gives no "
			"usable answer");
	return r;
}

static int descend(struct nfsappend_contacting *c, struct nfsappend_session *s,
	struct root *root)
{
	const char *path = c->target->path;
	char name[NFSAPPEND_NAME_MAX + 1];
	struct nfsappend_fh fh;
	unsigned tries = 0;
	int r = 0;

	for (path += strspn(path, "/"); *path != '\0' && r == 0;
		path += strspn(path, "/")) {
		size_t n = strcspn(path, "/");

		if (n > NFSAPPEND_NAME_MAX) {
			r = -ENAMETOOLONG;
			break;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		do
			r = nfsappend_nfs4_lookup(s, c->wait, root->fh, name,
				&fh, &root->attr);
		while (nfsappend_contact_again(c, &r, &tries));
		if (r == 0)
			*root->fh = fh;
		path += n;
	}
	if (r == 0 && root->attr.type != NFSAPPEND_DIR)
		r = -ENOTDIR;
	if (r != 0)
		nfsappend_contact_no_folder(c, r);
	return r;
}

struct limits {
	struct nfsappend_attr attr;
	struct nfsappend_server_attr server;
};

static int decode_limits(struct nfsappend_results *results, void *out)
{
	struct limits *l = out;
	int e = nfsappend_expect(results, NFSAPPEND_OP_PUTFH);

	if (e == 0)
		e = nfsappend_expect(results, NFSAPPEND_OP_GETATTR);
	if (e == 0)
		nfsappend_get_attr(results, &l->attr, &l->server);
	return e;
}

/* Of the folder, since they belong to its file system. */
static int get_limits(struct nfsappend_contacting *c,
	struct nfsappend_session *s, struct nfsappend_contact *out)
{
	struct limits l = {.server = {.maxread = 65536, .maxwrite = 65536}};
	struct nfsappend_ops o;
	unsigned tries = 0;
	int r;

	nfsappend_ops_begin(&o);
	nfsappend_op_putfh(&o, &out->root);
	nfsappend_op_getattr_server(&o);
	do
		r = nfsappend_compound(s, c->wait, &o, decode_limits, &l);
	while (nfsappend_contact_again(c, &r, &tries));
	out->rtmax = nfsappend_contact_transfer(l.server.maxread);
	out->wtmax = nfsappend_contact_transfer(l.server.maxwrite);
	if (r != 0)
		nfsappend_contact_no_folder(c, r);
	return r;
}

int nfsappend_contact4(const struct nfsappend_target *target,
	const struct nfsappend_cred *cred, struct nfsappend_wait *wait,
	struct nfsappend_contact *out, char *why, size_t whylen)
{
	struct nfsappend_contacting c = {.target = target,
		.cred = cred,
		.wait = wait,
		.why = why,
		.whylen = whylen};
	struct root root = {.fh = &out->root};
	struct nfsappend_connection *conn;
	struct nfsappend_session *s;
	int r = nfsappend_contact_resolve(&c);

	if (r == 0)
		r = nfsappend_contact_reach(&c,
			target->nfsport != 0 ? target->nfsport : NFS_PORT,
			"NFS", &conn);
	if (r != 0)
		return r;
	s = nfsappend_contact_session(&c, conn, out);
	if (s == NULL)
		return -ENOMEM;
	r = get_root(&c, s, &root);
	if (r == 0)
		r = descend(&c, s, &root);
	if (r == 0)
		r = get_limits(&c, s, out);
	return r > 0 ? -EIO : r;
}
