/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdlib.h>

#include "core/sys.h"
#include "core/userns.h"

#define OVERFLOW_ID 65534 /* /proc/sys/kernel/overflowuid */

/* Lines of /proc/self/[ug]id_map: first inside, first outside, how many. Read
 * at each open of a mapped file, since a process may enter a namespace. */
static uint32_t outside(const char *map, uint32_t id)
{
	char text[4096];
	long n = sys_read_text(AT_FDCWD, map, text, sizeof text);
	char *at = text;

	if (n < 0)
		return id; /* no /proc: nothing says that there are two */
	if (n == 0)
		return OVERFLOW_ID;
	while (*at != '\0') {
		uint64_t value[3];
		char *end = at;

		for (int i = 0; i < 3; i++) {
			value[i] = strtoul(at, &end, 10);
			if (end == at)
				return OVERFLOW_ID;
			at = end;
		}
		if (id >= value[0] && id - value[0] < value[2])
			return (uint32_t)(value[1] + (id - value[0]));
		while (*at == '\n' || *at == ' ')
			at++;
	}
	return OVERFLOW_ID;
}

uint32_t nfsappend_outside_uid(uint32_t uid)
{
	return outside("/proc/self/uid_map", uid);
}

uint32_t nfsappend_outside_gid(uint32_t gid)
{
	return outside("/proc/self/gid_map", gid);
}
