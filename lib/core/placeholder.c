/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/errname.h"
#include "core/log.h"
#include "core/placeholder.h"
#include "core/userns.h"

#define MAGIC UINT64_C(0x33646e65707061e7) /* changes with the layout */
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/*
 * The content without its zeros, most of what it is: RLIMIT_FSIZE counts for
 * a memfd too, and `ulimit -f 1` is 1024 bytes. After the text come pairs of
 * bytes to copy and zeros to put, each number 16 bits wide, in turn.
 */
#define TEXT sizeof((struct nfsappend_placeholder *)0)->text
#define ZEROS 8 /* fewer are copied */
#define PACKED_MAX (sizeof(struct nfsappend_placeholder) + 8)

static size_t put16(uint8_t *out, size_t at, size_t value)
{
	out[at] = (uint8_t)value;
	out[at + 1] = (uint8_t)(value >> 8);
	return at + 2;
}

static size_t run_of_zeros(const uint8_t *in, size_t n)
{
	size_t i = 0;

	while (i < n && in[i] == 0)
		i++;
	return i;
}

static size_t pack(const struct nfsappend_placeholder *p, uint8_t *out)
{
	const uint8_t *in = (const uint8_t *)p;
	size_t n = sizeof *p, i = TEXT, at = TEXT;

	memcpy(out, in, TEXT);
	while (i < n) {
		size_t from = i, zeros = 0;

		for (; i < n; i += zeros > 0 ? zeros : 1) {
			zeros = run_of_zeros(in + i, n - i);
			if (zeros >= ZEROS)
				break;
		}
		if (i >= n)
			zeros = 0;
		at = put16(out, at, i - from);
		memcpy(out + at, in + from, i - from);
		at = put16(out, at + (i - from), zeros);
		i += zeros;
	}
	return at;
}

/* Read piece by piece: the caller may be a handler on a small stack. */
struct reader {
	int fd;
	off_t at;
	size_t n, used;
	uint8_t piece[512];
};

static bool get(struct reader *in, uint8_t *out, size_t n)
{
	while (n > 0) {
		size_t part = in->n - in->used;

		if (part == 0) {
			long r = sys_pread(in->fd, in->piece, sizeof in->piece,
				in->at);

			if (r <= 0)
				return false;
			in->at += r;
			in->n = (size_t)r;
			in->used = 0;
			continue;
		}
		if (part > n)
			part = n;
		memcpy(out, in->piece + in->used, part);
		in->used += part;
		out += part;
		n -= part;
	}
	return true;
}

static bool get16(struct reader *in, size_t *value)
{
	uint8_t bytes[2];

	if (!get(in, bytes, 2))
		return false;
	*value = bytes[0] | (size_t)bytes[1] << 8;
	return true;
}

static bool unpack(int fd, struct nfsappend_placeholder *p)
{
	struct reader in = {.fd = fd};
	uint8_t *out = (uint8_t *)p, more;
	size_t at = TEXT, n;

	if (!get(&in, out, TEXT))
		return false;
	for (bool zeros = false; at < sizeof *p || zeros; zeros = !zeros) {
		if (!get16(&in, &n) || n > sizeof *p - at)
			return false;
		if (zeros)
			memset(out + at, 0, n);
		else if (!get(&in, out + at, n))
			return false;
		at += n;
	}
	return !get(&in, &more, 1);
}

/* Asked before, since beyond it the kernel sends SIGXFSZ. */
static bool within_limit(size_t n)
{
	struct rlimit limit;

	return sys_getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
		limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= n;
}

int nfsappend_placeholder_make(const struct nfsappend_placeholder *from,
	int status_flags)
{
	struct nfsappend_placeholder p = *from;
	uint8_t packed[PACKED_MAX];
	size_t n;
	static const char text[] =
		"This descriptor stands for a file on an NFS server. Only a "
		"program that runs under nfsappend(1) can use it.\n";
	long fd, r;

	_Static_assert(sizeof text <= sizeof p.text, "text fits");
	memset(p.text, 0, sizeof p.text);
	memcpy(p.text, text, sizeof text);
	p.magic = MAGIC;
	p.size = sizeof p;
	n = pack(&p, packed);
	if (!within_limit(n)) {
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_NO_ROOM,
			"%s: a file size limit (RLIMIT_FSIZE) of less than %zu "
			"bytes leaves no room for the descriptor of a mapped "
			"file; raise it (ulimit -f)",
			p.path, n);
		return -EFBIG;
	}
	fd = sys_memfd_create("nfsappend", MFD_ALLOW_SEALING |
			(status_flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
	if (fd < 0) {
		if (fd != -EMFILE && fd != -ENFILE)
			nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_NO_ROOM,
				"%s: the descriptor of a mapped file cannot be "
				"made: %s; memfd_create(2) has to be allowed",
				p.path, nfsappend_strerror((int)-fd));
		return (int)fd;
	}
	r = sys_pwrite(fd, packed, n, 0);
	if (r != (long)n)
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
	long again = -1, fl = sys_fcntl(fd, F_GETFL, 0);
	long seals = sys_fcntl(fd, F_GET_SEALS, 0);
	bool good;

	/* Nobody can have changed a memfd with these seals. With the sysctl
	 * vm.memfd_noexec there is one more on every memfd. */
	if (seals < 0 || (seals & SEALS) != SEALS)
		return -EINVAL;
	if ((fl & O_ACCMODE) == O_WRONLY) { /* by /proc/self/fd/N */
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		again = sys_openat(AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
		if (again < 0)
			return (int)again;
	}
	good = unpack(again < 0 ? fd : (int)again, p);
	if (again >= 0)
		sys_close((int)again);
	return good && plausible(p) && believable(fd, p) ? 0 : -EINVAL;
}
