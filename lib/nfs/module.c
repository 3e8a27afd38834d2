/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the module shows to core: one table. */
#include "config.h"

#include "core/backend.h"
#include "nfs/connection.h"
#include "nfs/contact.h"
#include "nfs/dirent.h"
#include "nfs/memory.h"
#include "nfs/nfs3.h"
#include "nfs/nfs3_names.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_names.h"
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

static int contact(const struct nfsappend_target *target,
	const struct nfsappend_cred *cred, struct nfsappend_wait *wait,
	struct nfsappend_contact *out, char *why, size_t whylen)
{
	return (target->version == 4 ? nfsappend_contact4 : nfsappend_contact3)(
		target, cred, wait, out, why, whylen);
}

/* The same operation in both versions, as the session has it. */
#define EITHER(name, parameters, ...)                                          \
	static int either_##name parameters                                    \
	{                                                                      \
		return s->version == 4 ? nfsappend_nfs4_##name(__VA_ARGS__)    \
				       : nfsappend_nfs3_##name(__VA_ARGS__);   \
	}

EITHER(lookup,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *dir, const char *name,
		struct nfsappend_fh *fh, struct nfsappend_attr *attr),
	s, w, dir, name, fh, attr)
EITHER(getattr,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, struct nfsappend_attr *attr),
	s, w, fh, attr)
EITHER(setattr,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, unsigned set,
		const struct nfsappend_attr *attr),
	s, w, fh, set, attr)
EITHER(access,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, uint32_t asked,
		uint32_t *granted),
	s, w, fh, asked, granted)
EITHER(readlink,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, char *buf, size_t len),
	s, w, fh, buf, len)
EITHER(read,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, uint64_t offset, void *buf,
		uint32_t *len, bool *eof),
	s, w, fh, offset, buf, len, eof)
EITHER(write,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, uint64_t offset, const void *buf,
		uint32_t len, struct nfsappend_written *written),
	s, w, fh, offset, buf, len, written)
EITHER(commit,
	(struct nfsappend_session * s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, uint64_t offset, uint32_t len,
		uint64_t *verifier),
	s, w, fh, offset, len, verifier)

EITHER(mkdir,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *dir, const char *name,
		uint32_t mode),
	s, w, dir, name, mode)
EITHER(symlink,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *dir, const char *name,
		const char *target),
	s, w, dir, name, target)
EITHER(link,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *file,
		const struct nfsappend_fh *dir, const char *name),
	s, w, file, dir, name)
EITHER(remove,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *dir, const char *name),
	s, w, dir, name)
EITHER(rmdir,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *dir, const char *name),
	s, w, dir, name)
EITHER(rename,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *from_dir, const char *from,
		const struct nfsappend_fh *to_dir, const char *to),
	s, w, from_dir, from, to_dir, to)
EITHER(readdir,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *dir, uint64_t cookie,
		uint64_t *verifier, void *buf, uint32_t *len, bool *eof),
	s, w, dir, cookie, verifier, buf, len, eof)
EITHER(statfs,
	(struct nfsappend_session *s, struct nfsappend_wait *w,
		const struct nfsappend_fh *fh, struct nfsappend_space *space),
	s, w, fh, space)

__attribute__((visibility("default")))
const struct nfsappend_backend nfsappend_backend_module = {
	.abi = NFSAPPEND_BACKEND_ABI,
	.init = init,
	.after_fork = after_fork,
	.contact = contact,
	.session = nfsappend_session_get,
	.lookup = either_lookup,
	.getattr = either_getattr,
	.setattr = either_setattr,
	.access = either_access,
	.readlink = either_readlink,
	.create = nfsappend_nfs3_create,
	.read = either_read,
	.write = either_write,
	.write_at_end = nfsappend_nfs4_write_at_end,
	.commit = either_commit,
	.client = nfsappend_nfs4_client,
	.open = nfsappend_nfs4_open,
	.close = nfsappend_nfs4_close,
	.append = nfsappend_nfs4_append,
	.mkdir = either_mkdir,
	.symlink = either_symlink,
	.link = either_link,
	.remove = either_remove,
	.rmdir = either_rmdir,
	.rename = either_rename,
	.readdir = either_readdir,
	.statfs = either_statfs,
	.lease = nfsappend_nfs4_lease,
	.lock_holder = nfsappend_nfs4_lock_holder,
};
