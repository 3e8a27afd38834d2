/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Before a process stops being root, and before a descriptor is sent to another
 * process: files on kernel mounts must be of use afterwards.
 */
#include "config.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/handover.h"
#include "core/usercopy.h"
#include "preload/hook.h"
#include "preload/identity.h"

extern int capset(cap_user_header_t, cap_user_data_t);

#define SAME ((uid_t)-1)

static void hand_over_to(uid_t uid)
{
	struct nfsappend_guard guard;

	if (!nfsappend_start())
		return;
	nfsappend_guard_enter(&guard);
	nfsappend_hand_over_to_user(uid);
	nfsappend_guard_leave(&guard);
}

/* Root can do all of it anyway, and who is not root has nothing to lose. */
void nfsappend_becomes(uid_t uid)
{
	if (nfsappend_active && nfsappend_depth == 0 && uid != 0 &&
		uid != SAME && geteuid() == 0)
		hand_over_to(uid);
}

static bool fetch(const void *from, void *to, size_t n)
{
	struct iovec iov = {(void *)from, n};

	return nfsappend_copy_in(&iov, 1, 0, to, n) == (ssize_t)n;
}

/* The ports below 1024, of what a process can give up by this. */
void nfsappend_gives_up(const void *data)
{
	struct __user_cap_header_struct own = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps, now[2];
	const uint32_t port = 1U << CAP_NET_BIND_SERVICE;

	if (!nfsappend_active || nfsappend_depth != 0 ||
		!fetch(data, &caps, sizeof caps) || caps.effective & port ||
		nfsappend_sys(SYS_capget, (long)&own, (long)now, 0, 0, 0, 0) !=
			0 ||
		!(now[0].effective & port))
		return;
	hand_over_to(geteuid());
}

NFSAPPEND_HOOK int capset(cap_user_header_t header, cap_user_data_t data)
{
	nfsappend_gives_up(data);
	return NFSAPPEND_REAL(capset)(header, data);
}

NFSAPPEND_HOOK int setuid(uid_t uid)
{
	nfsappend_becomes(uid);
	return NFSAPPEND_REAL(setuid)(uid);
}

NFSAPPEND_HOOK int seteuid(uid_t uid)
{
	nfsappend_becomes(uid);
	return NFSAPPEND_REAL(seteuid)(uid);
}

NFSAPPEND_HOOK int setreuid(uid_t ruid, uid_t euid)
{
	nfsappend_becomes(euid);
	return NFSAPPEND_REAL(setreuid)(ruid, euid);
}

NFSAPPEND_HOOK int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	nfsappend_becomes(euid);
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
