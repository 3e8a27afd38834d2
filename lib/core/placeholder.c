/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/placeholder.h"
#include "core/userns.h"

#define MAGIC UINT64_C(0x32646e65707061e7) /* changes with the layout */
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int nfsappend_placeholder_make(const struct nfsappend_placeholder *from,
	int status_flags)
{
	struct nfsappend_placeholder p = *from;
	static const char text[] =
		"This descriptor stands for a file on an NFS server. Only a "
		"program that runs under nfsappend(1) can use it.\n";
	long fd, r;

	_Static_assert(sizeof text <= sizeof p.text, "text fits");
	memset(p.text, 0, sizeof p.text);
	memcpy(p.text, text, sizeof text);
	p.magic = MAGIC;
	p.size = sizeof p;
	fd = sys_memfd_create("nfsappend", MFD_ALLOW_SEALING |
			(status_flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
	if (fd < 0)
		return (int)fd;
	r = sys_pwrite(fd, &p, sizeof p, 0);
	if (r != sizeof p)
		goto fail;
	r = sys_fcntl(fd, F_ADD_SEALS, SEALS);
	if (r < 0)
		goto fail;
	r = sys_fcntl(fd, F_SETFL, status_flags & (O_APPEND | O_NONBLOCK));
	if (r < 0)
		goto fail;
	r = sys_fcntl(fd, F_SETSIG, NFSAPPEND_MARKER);
	if (r < 0)
		goto fail;
	return (int)fd;
fail:
	sys_close(fd);
	return r < 0 ? (int)r : -EIO;
}

void nfsappend_placeholder_mark(int fd)
{
	sys_fcntl(fd, F_SETSIG, NFSAPPEND_MARKER);
}

static bool plausible(const struct nfsappend_placeholder *p)
{
	return p->magic == MAGIC && p->size == sizeof *p &&
		p->directory <= 1 &&
		p->fh.len > 0 && p->fh.len <= NFSAPPEND_FH_MAX &&
		p->dir.len <= NFSAPPEND_FH_MAX &&
		memchr(p->name, 0, sizeof p->name) != NULL &&
		p->contact.root.len <= NFSAPPEND_FH_MAX &&
		p->contact.wtmax > 0 && p->contact.rtmax > 0 &&
		p->cred.ngroups <= NFSAPPEND_GROUPS_MAX &&
		(p->accmode == O_RDONLY || p->accmode == O_WRONLY ||
			p->accmode == O_RDWR) &&
		p->sharing <= NFSAPPEND_LOCKED &&
		memchr(p->path, 0, sizeof p->path) != NULL &&
		memchr(p->target.host, 0, sizeof p->target.host) != NULL &&
		memchr(p->target.path, 0, sizeof p->target.path) != NULL;
}

/* Who made it may say so: root, this user, or the one in whose name it would
 * be served. Else a stranger could send a placeholder with root's credential
 * over a socket. */
static bool believable(int fd, const struct nfsappend_placeholder *p)
{
	struct stat st;
	uint32_t euid = (uint32_t)nfsappend_sys(SYS_geteuid, 0, 0, 0, 0, 0, 0);

	return nfsappend_sys(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 &&
		(st.st_uid == 0 || st.st_uid == euid ||
			nfsappend_outside_uid(st.st_uid) == p->cred.uid);
}

int nfsappend_placeholder_read(int fd, struct nfsappend_placeholder *p)
{
	char link[40];
	long r, seals = sys_fcntl(fd, F_GET_SEALS, 0);

	/* Nobody can have changed a memfd with these seals. With the sysctl
	 * vm.memfd_noexec there is one more on every memfd. */
	if (seals < 0 || (seals & SEALS) != SEALS)
		return -EINVAL;
	r = sys_pread(fd, p, sizeof *p, 0);
	if (r == -EBADF) {
		/* Opened for writing only, by /proc/self/fd/N. */
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		long again = sys_openat(AT_FDCWD, link, O_RDONLY | O_CLOEXEC,
			0);

		if (again < 0)
			return (int)again;
		r = sys_pread((int)again, p, sizeof *p, 0);
		sys_close((int)again);
	}
	return r == sizeof *p && plausible(p) && believable(fd, p) ? 0
								   : -EINVAL;
}
