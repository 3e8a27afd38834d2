/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A directory on a server, as -m names it; or a file in one. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/config_env.h"
#include "core/server.h"
#include "doctor/nfs.h"

static int contact(struct doctor_place *p, char *why, size_t whylen)
{
	struct nfsappend_wait w;

	doctor_step("mounting %s", p->target.path);
	doctor_wait(&w, p->deadline, false);
	return doctor_backend(NULL, 0)->contact(
		&p->target, &p->cred, &w, &p->contact, why, whylen);
}

/* The last component of the target's path becomes the file's name. */
static bool ascend(struct doctor_place *p)
{
	char *slash = strrchr(p->target.path, '/');

	if (slash == NULL || slash[1] == '\0' ||
		strlen(slash + 1) > NFSAPPEND_NAME_MAX)
		return false;
	strcpy(p->file_name, slash + 1);
	slash[slash == p->target.path] = '\0';
	return true;
}

static void explain(struct doctor_place *p, int r, const char *why)
{
	char secure[160] = "";

	/* By NFSv4 nfs-ganesha hides what it does not show to such a port. */
	if ((r == -EACCES || r == -EPERM ||
		    (r == -ENOENT && p->target.version == 4)) &&
		!doctor_low_port())
		snprintf(secure, sizeof secure,
			"; if there is such an export, it is 'secure', and "
			"this user may not use a port below 1024");
	doctor_found(DOCTOR_FAIL, "%s cannot be reached: %s (%s)%s", p->name,
		why[0] != '\0' ? why : "the server refuses", doctor_outcome(r),
		secure);
	if (secure[0] != '\0') {
		doctor_cure("add 'insecure' to the export (/etc/exports, then "
			    "exportfs -ra), or give the program the capability "
			    "CAP_NET_BIND_SERVICE; or correct the path "
			    "(showmount -e %s)",
			p->target.host);
		return;
	}
	switch (r) {
	case -ENOENT:
		doctor_cure("correct the path in the URL, or create it on the "
			    "server (showmount -e %s lists the exports%s)",
			p->target.host,
			p->target.version == 4 ? "; NFSv4 counts from the "
						 "pseudo root, fsid=0"
					       : "");
		break;
	case -EACCES:
	case -EPERM:
		doctor_cure("correct the path in the URL if there is "
			    "no such export (showmount -e %s), else "
			    "admit this host in the export list",
			p->target.host);
		break;
	case -EPROTONOSUPPORT:
		doctor_cure("allow it (vers4.0=y in the [nfsd] section of "
			    "/etc/nfs.conf, then restart the server), or leave "
			    "version=4 out of the URL");
		break;
	case -ENOTDIR:
		doctor_cure("name a directory in the URL");
		break;
	case -EIO:
		doctor_cure("look at the server; -t SECONDS waits longer");
		break;
	default:
		doctor_cure("see the log of the server");
	}
}

/* Over a file that was named: -m needs its directory. */
static void look_up_file(struct doctor_place *p)
{
	struct nfsappend_attr attr = {.type = 0};
	struct nfsappend_wait w;
	uint32_t granted = 0;
	int r;

	doctor_wait(&w, p->deadline, false);
	DOCTOR_CALL(w, r, lookup, p->session, &w, &p->dir, p->file_name,
		&p->file, &attr);
	if (r != 0) {
		p->file.len = 0;
		doctor_found(
			DOCTOR_NOTE, "%s: %s", p->file_name, doctor_outcome(r));
		return;
	}
	if (attr.type != NFSAPPEND_REG) {
		p->file.len = 0;
		return;
	}
	DOCTOR_CALL(w, r, access, p->session, &w, &p->file,
		NFSAPPEND_ACCESS_MODIFY | NFSAPPEND_ACCESS_EXTEND, &granted);
	if (r == 0 && !(granted & NFSAPPEND_ACCESS_EXTEND)) {
		doctor_found(DOCTOR_FAIL,
			"the server does not let user %u append to %s: its "
			"mode is %04o, its owner user %u, group %u",
			p->cred.uid, p->file_name, attr.mode, attr.uid,
			attr.gid);
		doctor_cure("chown or chmod it on the server, or run the "
			    "program as another user");
	} else {
		doctor_found(DOCTOR_OK,
			"%s is there (%llu bytes), and may be "
			"appended to",
			p->file_name, (unsigned long long)attr.size);
	}
	doctor_holders(p, NULL);
}

void doctor_url(const char *url)
{
	static struct doctor_place p;
	char why[256] = "";
	int r;

	memset(&p, 0, sizeof p);
	p.deadline = nfsappend_now() + doctor_seconds * DOCTOR_SECOND;
	p.bad = DOCTOR_FAIL;
	snprintf(p.name, sizeof p.name, "%s", url);
	if (nfsappend_url_parse(url, &p.target, why, sizeof why) != 0) {
		doctor_found(DOCTOR_FAIL, "no good URL: %s", why);
		doctor_cure("write nfs://SERVER/EXPORT[/SUB][?version=4&...]");
		return;
	}
	if (doctor_backend(NULL, 0) == NULL) /* told above */
		return;
	nfsappend_cred_now(&p.cred, &p.target);
	if (!doctor_reach(&p))
		return;
	r = contact(&p, why, sizeof why);
	if (r == -ENOTDIR && ascend(&p))
		r = contact(&p, why, sizeof why);
	if (doctor_interrupted)
		return;
	if (r != 0) {
		explain(&p, r, why);
		return;
	}
	p.dir = p.contact.root;
	p.session = doctor_backend(NULL, 0)->session(
		&p.target, &p.contact, &p.cred);
	if (p.session == NULL)
		return;
	doctor_found(DOCTOR_OK,
		"the server lets us in; a record of up to %u bytes (wtmax) is "
		"whole or not there, whatever dies",
		p.contact.wtmax);
	if (p.target.has_uid || p.target.has_gid)
		doctor_found(DOCTOR_NOTE,
			"the URL says who we are: user %u, "
			"group %u",
			p.cred.uid, p.cred.gid);
	if (!doctor_rights(&p, &p.dir))
		return;
	doctor_versions(&p);
	if (p.file_name[0] != '\0')
		look_up_file(&p);
	if (!doctor_interrupted)
		doctor_trial(&p);
}
