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

static uint8_t good[8192];
static size_t good_len;

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

	ssize_t n = fd < 0 ? -1 : pread(fd, good, sizeof good, 0);

	if (n <= 16 || nfsappend_placeholder_read(fd, &p) != 0)
		abort();
	good_len = (size_t)n;
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
	uint8_t bytes[sizeof good + 3];
	struct nfsappend_placeholder *p;
	size_t len;
	int fd;

	if (size < 3)
		return 0;
	if (good_len == 0)
		make_good();
	memcpy(bytes, good, sizeof good);
	len = good_len - 3 + data[0] % 7; /* 3: as it is */
	for (size_t i = 3; i + 4 <= size; i += 4) {
		/* 2 bytes of place, 2 of values */
		size_t at = ((size_t)data[i] << 8 | data[i + 1]) % good_len;

		memcpy(bytes + at, data + i + 2, 2);
	}
	p = malloc(sizeof *p);
	fd = memfd_create("fuzz", MFD_ALLOW_SEALING);
	if (fd < 0 ||
		write(fd, bytes, len) < 0)
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
