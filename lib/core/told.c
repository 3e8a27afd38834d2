/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a file is served, and why: N402. */
#include "config.h"

#include "core/config_env.h"
#include "core/file.h"
#include "core/log.h"

/* The rest of "sharing MODE". */
static const char *mode_and_why(const struct nfsappend_file *f)
{
	static const char *const modes[] = {"single", "guarded", "locked"};
	static const char *const as_asked[] = {"single, as asked for",
		"guarded, as asked for", "locked, as asked for"};
	unsigned version = f->key.server->target.version;

	/* The process that opened it had another configuration, or others
	 * that append to it have: N105 and N107 tell. */
	if (f->sharing != nfsappend_config_sharing(version))
		return modes[f->sharing];
	if (nfsappend_config.sharing == NFSAPPEND_SHARING_AUTO)
		return version == 4 ? "locked, the default with NFSv4"
				    : "guarded, the default with NFSv3";
	if (nfsappend_config.sharing == NFSAPPEND_SHARING_LOCKED &&
		version != 4)
		return "guarded, since NFSv3 has no locks";
	return as_asked[f->sharing];
}

void nfsappend_file_tell(struct nfsappend_file *f, int level, const char *why)
{
	const struct nfsappend_server *s = f->key.server;

	if (!nfsappend_log_wanted(level) || atomic_exchange(&f->told, true))
		return;
	if (nfsappend_file_by_kernel(f)) {
		nfsappend_log(level, NFSAPPEND_MSG_SERVED,
			"%s is served by the kernel, each write with O_SYNC, "
			"because %s: %s, NFSv%u",
			f->path,
			why != NULL && why[0] != '\0'
				? why
				: "a process of this host has to have it so "
				  "(its message N406 or N409 tells why)",
			s->name, s->target.version);
		return;
	}
	nfsappend_log(level, NFSAPPEND_MSG_SERVED,
		"%s is served by nfsappend, because %s: %s, NFSv%u, sharing %s",
		f->path,
		nfsappend_file_mounted(f)
			? "NFSAPPEND_PATHS names it and it is on an NFS mount"
			: "NFSAPPEND_MAP leads to it",
		s->name, s->target.version, mode_and_why(f));
}
