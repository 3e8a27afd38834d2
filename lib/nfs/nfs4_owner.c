/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "core/sys.h"
#include "nfs/nfs4_owner.h"

#define NOBODY 65534
#define NAME_MAX_BYTES 64

static bool number(const char *s, uint32_t len, uint32_t *id)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*id = (uint32_t)v;
	return len > 0;
}

/* A line of passwd(5) or group(5): NAME:PASSWORD:ID:... */
static bool line_names(const char *line, uint32_t len, const char *name,
	uint32_t namelen, uint32_t *id)
{
	const char *end = line + len, *p = line + namelen;

	if (len <= namelen || memcmp(line, name, namelen) != 0 || *p != ':')
		return false;
	p = memchr(p + 1, ':', (size_t)(end - p - 1));
	if (p == NULL)
		return false;
	line = ++p;
	p = memchr(line, ':', (size_t)(end - line));
	return number(line, (uint32_t)((p != NULL ? p : end) - line), id);
}

static uint32_t look_up(const char *file, const char *name, uint32_t len)
{
	char buf[4096];
	uint32_t n = 0, id = NOBODY;
	long fd = sys_openat(AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0), got;
	bool found = false;

	if (fd < 0)
		return NOBODY;
	while (!found &&
		(got = sys_read((int)fd, buf + n, sizeof buf - n)) > 0) {
		uint32_t at = 0;
		char *end;

		n += (uint32_t)got;
		while (!found &&
			(end = memchr(buf + at, '\n', n - at)) != NULL) {
			uint32_t next = (uint32_t)(end - buf) + 1;

			found = line_names(
				buf + at, next - 1 - at, name, len, &id);
			at = next;
		}
		if (at == 0)
			at = n; /* longer than any sane line: skip it */
		memmove(buf, buf + at, n - at);
		n -= at;
	}
	sys_close((int)fd);
	return id;
}

/* The last answer: a file's owner rarely changes. Races are harmless as long
 * as name and id belong together, so it is taken by a flag. */
struct memory {
	int taken;
	uint32_t len, id;
	char name[NAME_MAX_BYTES];
};

static uint32_t translate(
	const char *file, struct memory *m, const char *s, uint32_t len)
{
	const char *at;
	uint32_t id;

	if (number(s, len, &id))
		return id;
	at = memchr(s, '@', len);
	if (at != NULL)
		len = (uint32_t)(at - s);
	if (len == 0 || len > NAME_MAX_BYTES)
		return NOBODY;
	if (__atomic_exchange_n(&m->taken, 1, __ATOMIC_ACQUIRE) != 0)
		return look_up(file, s, len);
	if (m->len != len || memcmp(m->name, s, len) != 0) {
		m->id = look_up(file, s, len);
		m->len = len;
		memcpy(m->name, s, len);
	}
	id = m->id;
	__atomic_store_n(&m->taken, 0, __ATOMIC_RELEASE);
	return id;
}

uint32_t nfsappend_owner_uid(const char *s, uint32_t len)
{
	static struct memory m;

	return translate("/etc/passwd", &m, s, len);
}

uint32_t nfsappend_owner_gid(const char *s, uint32_t len)
{
	static struct memory m;

	return translate("/etc/group", &m, s, len);
}
