/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client and its lease: SETCLIENTID (RFC 7530 section 16.33). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "nfs/nfs4.h"
#include "nfs/nfs4_wire.h"

struct setclientid {
	uint64_t clientid;
	uint8_t confirm[8];
};

static int decode_setclientid(struct nfsappend_results *results, void *out)
{
	struct setclientid *s = out;
	const uint8_t *confirm;
	int e = nfsappend_expect(results, NFSAPPEND_OP_SETCLIENTID);

	if (e != 0)
		return e;
	s->clientid = nfsappend_get64(results);
	confirm = nfsappend_get_fixed(results, sizeof s->confirm);
	if (confirm != NULL)
		memcpy(s->confirm, confirm, sizeof s->confirm);
	return 0;
}

static int decode_confirm(struct nfsappend_results *results, void *out)
{
	(void)out;
	return nfsappend_expect(results, NFSAPPEND_OP_SETCLIENTID_CONFIRM);
}

static void put_id(struct nfsappend_ops *o, const struct nfsappend_client *c)
{
	char text[64];
	int n = snprintf(text, sizeof text, "nfsappend ");

	for (unsigned i = 0; i < sizeof c->id; i++)
		n += snprintf(
			text + n, sizeof text - (size_t)n, "%02x", c->id[i]);
	nfsappend_put_opaque(o, text, (uint32_t)n);
}

int nfsappend_nfs4_client(struct nfsappend_session *s,
	struct nfsappend_wait *wait, struct nfsappend_client *c)
{
	struct nfsappend_client fresh = *c;
	struct setclientid answer;
	struct nfsappend_ops o;
	int r;

	/* Not GRND_NONBLOCK: a repeated id would end another host's locks. */
	if (!fresh.has_id && getrandom(fresh.id, sizeof fresh.id, 0) !=
				     (ssize_t)sizeof fresh.id)
		return -EIO;
	if (getrandom(fresh.verifier, sizeof fresh.verifier, 0) !=
		(ssize_t)sizeof fresh.verifier)
		return -EIO;
	fresh.has_id = 1;
	*c = fresh; /* the id stays, whatever becomes of this attempt */

	nfsappend_ops_begin(&o);
	nfsappend_op(&o, NFSAPPEND_OP_SETCLIENTID);
	nfsappend_put_fixed(&o, fresh.verifier, sizeof fresh.verifier);
	put_id(&o, &fresh);
	/* No callbacks, so no delegations (section 10.2). */
	nfsappend_put32(&o, 0);
	nfsappend_put_opaque(&o, "tcp", 3);
	nfsappend_put_opaque(&o, "0.0.0.0.0.0", 11);
	nfsappend_put32(&o, 0);
	r = nfsappend_compound(s, wait, &o, decode_setclientid, &answer);
	if (r != 0)
		return r;

	nfsappend_ops_begin(&o);
	nfsappend_op(&o, NFSAPPEND_OP_SETCLIENTID_CONFIRM);
	nfsappend_put64(&o, answer.clientid);
	nfsappend_put_fixed(&o, answer.confirm, sizeof answer.confirm);
	r = nfsappend_compound(s, wait, &o, decode_confirm, NULL);
	if (r == NFSAPPEND_STATE_LOST)
		r = NFSAPPEND_DELAY; /* restarted in between: once more */
	if (r != 0)
		return r;
	fresh.clientid = answer.clientid;
	fresh.generation++;
	*c = fresh;
	return 0;
}
