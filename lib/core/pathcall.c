/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/pathcall.h"

/* umask(2) can only be read by changing it, under the feet of other
 * threads; /proc tells it without. */
mode_t nfsappend_umask(void)
{
	char buf[512];
	char *at;
	long mask;

	if (sys_read_text(AT_FDCWD, "/proc/self/status", buf, sizeof buf) > 0) {
		at = strstr(buf, "\nUmask:");
		if (at != NULL)
			return (mode_t)strtoul(at + 7, NULL, 8) & 0777;
	}
	mask = nfsappend_sys(SYS_umask, 077, 0, 0, 0, 0, 0);
	nfsappend_sys(SYS_umask, mask, 0, 0, 0, 0, 0);
	return (mode_t)mask & 0777;
}

int nfsappend_pathcall_begin(struct nfsappend_pathcall *c, int dirfd,
	const char *path, unsigned how)
{
	int r;

	nfsappend_guard_enter(&c->guard);
	nfsappend_wait_start(&c->w, NULL, nfsappend_config.timeout_s);
	c->above = false;
	c->place = nfsappend_place_new();
	if (c->place == NULL)
		return -ENOMEM;
	c->place->real_ids = how & NFSAPPEND_REAL_IDS;
	c->place->itself = how & NFSAPPEND_ITSELF;
	r = nfsappend_resolve(dirfd, path, how & NFSAPPEND_FOLLOW, &c->w,
		c->place);
	if (c->place->map == NULL) {
		c->above = r == 0 &&
			nfsappend_path_above_map(c->place->walk.rest);
		return NFSAPPEND_NOT_OURS;
	}
	if (r == 0 && !c->place->found && !(how & NFSAPPEND_MAY_LACK))
		r = -ENOENT;
	return r;
}

void nfsappend_pathcall_end(struct nfsappend_pathcall *c)
{
	if (c->place != NULL)
		nfsappend_place_free(c->place);
	nfsappend_guard_leave(&c->guard);
}
