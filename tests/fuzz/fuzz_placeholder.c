/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an inherited descriptor says that it stands for. The first bytes are
 * laid over a good placeholder at the place that they name. */
#include "config.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/placeholder.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static struct nfsappend_placeholder good;

static void make_good(void)
{
	struct nfsappend_placeholder p = {.accmode = O_WRONLY,
		.target = {.host = "host", .path = "/export", .version = 3},
		.contact = {.wtmax = 65536, .rtmax = 65536},
		.fh = {.len = 32},
		.dir = {.len = 32},
		.name = "log",
		.path = "/logs/log"};
	int fd = nfsappend_placeholder_make(&p, O_APPEND);

	if (fd < 0 || pread(fd, &good, sizeof good, 0) != sizeof good ||
		nfsappend_placeholder_read(fd, &p) != 0)
		abort();
	nfsappend_placeholder_mark(fd);
	if (!nfsappend_placeholder_marked(fd))
		abort();
	close(fd);
}

static void check(const struct nfsappend_placeholder *p)
{
	if (p->fh.len > NFSAPPEND_FH_MAX || p->dir.len > NFSAPPEND_FH_MAX ||
		p->contact.root.len > NFSAPPEND_FH_MAX ||
		p->cred.ngroups > NFSAPPEND_GROUPS_MAX ||
		memchr(p->name, 0, sizeof p->name) == NULL ||
		memchr(p->path, 0, sizeof p->path) == NULL ||
		memchr(p->target.host, 0, sizeof p->target.host) == NULL ||
		memchr(p->target.path, 0, sizeof p->target.path) == NULL ||
		p->contact.wtmax == 0 || p->contact.rtmax == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfsappend_placeholder *p, bytes;
	int fd;

	if (size < 3)
		return 0;
	if (good.size == 0)
		make_good();
	bytes = good;
	for (size_t i = 3; i + 4 <= size; i += 4) {
		/* 2 bytes of place, 2 of values */
		size_t at = ((size_t)data[i] << 8 | data[i + 1]) % sizeof bytes;

		memcpy((char *)&bytes + at, data + i + 2,
			at + 2 <= sizeof bytes ? 2 : 1);
	}
	p = malloc(sizeof *p);
	fd = memfd_create("fuzz", MFD_ALLOW_SEALING);
	if (fd < 0 ||
		write(fd, &bytes, sizeof bytes - data[0] % 3) < 0)
		abort();
	fcntl(fd, F_ADD_SEALS, data[1] % 8 == 0 ? 0 : SEALS);
	if (data[1] & 8) { /* as a shell's redirection opens it again */
		char link[40];
		int again;

		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		again = open(link, O_WRONLY);
		if (again >= 0 && nfsappend_placeholder_read(again, p) == 0)
			check(p);
		close(again);
	}
	if (nfsappend_placeholder_read(fd, p) == 0)
		check(p);
	close(fd);
	free(p);
	return 0;
}
