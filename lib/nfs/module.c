/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the module shows to core: one table. */
#include "config.h"

#include "core/backend.h"
#include "nfs/connection.h"
#include "nfs/contact.h"
#include "nfs/memory.h"
#include "nfs/nfs3.h"
#include "nfs/nfs3_names.h"
#include "nfs/session.h"

extern const struct nfsappend_backend nfsappend_backend_module;

static void init(const struct nfsappend_services *services)
{
	nfsappend_services = services;
}

static void after_fork(void)
{
	nfsappend_memory_after_fork();
	nfsappend_sessions_after_fork();
}

__attribute__((visibility("default")))
const struct nfsappend_backend nfsappend_backend_module = {
	.abi = NFSAPPEND_BACKEND_ABI,
	.init = init,
	.after_fork = after_fork,
	.contact = nfsappend_contact3,
	.session = nfsappend_session_get,
	.lookup = nfsappend_nfs3_lookup,
	.getattr = nfsappend_nfs3_getattr,
	.setattr = nfsappend_nfs3_setattr,
	.access = nfsappend_nfs3_access,
	.readlink = nfsappend_nfs3_readlink,
	.create = nfsappend_nfs3_create,
	.read = nfsappend_nfs3_read,
	.write = nfsappend_nfs3_write,
	.commit = nfsappend_nfs3_commit,
	.mkdir = nfsappend_nfs3_mkdir,
	.symlink = nfsappend_nfs3_symlink,
	.link = nfsappend_nfs3_link,
	.remove = nfsappend_nfs3_remove,
	.rmdir = nfsappend_nfs3_rmdir,
	.rename = nfsappend_nfs3_rename,
};
