/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Before a process stops being root, and before a descriptor is sent to another
 * process: files on kernel mounts must be of use afterwards.
 */
#include "config.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/handover.h"
#include "preload/hook.h"

#define SAME ((uid_t)-1)

/* uid: the effective one that is to come. Root can do all of it anyway, and
 * who is not root has nothing to lose. */
static void becomes(uid_t uid)
{
	struct nfsappend_guard guard;

	if (!nfsappend_active || nfsappend_depth != 0 || uid == 0 ||
		uid == SAME || geteuid() != 0 || !nfsappend_start())
		return;
	nfsappend_guard_enter(&guard);
	nfsappend_hand_over_to_user(uid);
	nfsappend_guard_leave(&guard);
}

NFSAPPEND_HOOK int setuid(uid_t uid)
{
	becomes(uid);
	return NFSAPPEND_REAL(setuid)(uid);
}

NFSAPPEND_HOOK int seteuid(uid_t uid)
{
	becomes(uid);
	return NFSAPPEND_REAL(seteuid)(uid);
}

NFSAPPEND_HOOK int setreuid(uid_t ruid, uid_t euid)
{
	becomes(euid);
	return NFSAPPEND_REAL(setreuid)(ruid, euid);
}

NFSAPPEND_HOOK int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	becomes(euid);
	return NFSAPPEND_REAL(setresuid)(ruid, euid, suid);
}

/* The descriptors that go along (unix(7), SCM_RIGHTS): whoever gets them may
 * not have us. */
static void sends(const struct msghdr *msg)
{
	struct nfsappend_guard guard;

	if (msg == NULL || msg->msg_controllen == 0 || !nfsappend_start())
		return;
	nfsappend_guard_enter(&guard);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
		c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
		const int *fds = (const int *)CMSG_DATA(c);
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++)
			nfsappend_hand_over(fds[i],
				"a descriptor of it goes to another process");
	}
	nfsappend_guard_leave(&guard);
}

NFSAPPEND_HOOK ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (nfsappend_active && nfsappend_depth == 0)
		sends(msg);
	return NFSAPPEND_REAL(sendmsg)(fd, msg, flags);
}

NFSAPPEND_HOOK int sendmmsg(int fd, struct mmsghdr *vec, unsigned n, int flags)
{
	for (unsigned i = 0;
		i < n && nfsappend_active && nfsappend_depth == 0; i++)
		sends(&vec[i].msg_hdr);
	return NFSAPPEND_REAL(sendmmsg)(fd, vec, n, flags);
}
