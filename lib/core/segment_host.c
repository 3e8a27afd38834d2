/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What keys begin with; also in nfsappend-status. */
#include "config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/segment_file.h"
#include "core/sys.h"

/* Boot id, pid namespace, word size: what else must be the same for two
 * processes to meet. Always the same text, so a race writes it twice. */
static char host[96];
static _Atomic bool host_known;

static void read_host(void)
{
	struct statx stx = {0};
	char boot[40] = "";
	long fd;

	if (atomic_load(&host_known))
		return;
	fd = sys_openat(AT_FDCWD, "/proc/sys/kernel/random/boot_id",
		O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		sys_read(fd, boot, sizeof boot - 1);
		sys_close(fd);
	}
	boot[36] = '\0';
	sys_statx(AT_FDCWD, "/proc/self/ns/pid", 0, STATX_INO, &stx);
	snprintf(host, sizeof host, "%s.%llu.%u", boot,
		(unsigned long long)stx.stx_ino, (unsigned)sizeof(void *));
	atomic_store(&host_known, true);
}

const char *nfsappend_segment_host(void)
{
	read_host();
	return host;
}
