/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nfs:// URLs with libnfs's arguments. RFC 2224 for the scheme; RFC 3986 for
 * percent encoding, which paths with spaces need inside NFSAPPEND_MAP.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_env.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes [s, end) into out. 0, or -EINVAL: bad escape, NUL, no room. */
static int percent_decode(const char *s, const char *end, char *out,
	size_t room)
{
	while (s < end) {
		char c = *s++;

		if (c == '%') {
			if (end - s < 2 || hex(s[0]) < 0 || hex(s[1]) < 0)
				return -EINVAL;
			c = (char)(hex(s[0]) << 4 | hex(s[1]));
			s += 2;
		}
		if (c == '\0' || room < 2)
			return -EINVAL;
		*out++ = c;
		room--;
	}
	*out = '\0';
	return 0;
}

static int number(const char *s, const char *end, unsigned long max,
	unsigned long *value)
{
	unsigned long v = 0;

	if (s == end)
		return -EINVAL;
	for (; s < end; s++) {
		if (*s < '0' || *s > '9' || v > max)
			return -EINVAL;
		v = v * 10 + (unsigned long)(*s - '0');
	}
	*value = v;
	return v <= max ? 0 : -EINVAL;
}

/* Arguments of libnfs URLs that say nothing to us but are no mistake. */
static bool harmless(const char *name, size_t len)
{
	static const char *const names[] = {"tcp-syncnt", "dircache", "autoreconnect",
		"auto-traverse-mounts", "readahead", "pagecache", "debug",
		"retrans", "sec", "if"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == len && !strncmp(names[i], name, len))
			return true;
	return false;
}

static int argument(const char *arg, const char *end,
	struct nfsappend_target *t, char *why, size_t whylen)
{
	const char *eq = memchr(arg, '=', end - arg);
	size_t len = (eq ? eq : end) - arg;
	const char *value = eq ? eq + 1 : end;
	unsigned long v;
	static const struct {
		const char *name;
		unsigned long max;
		const char *is;
	} known[] = {{"version", 4, "3 or 4"},
		{"nfsport", 65535, "a port from 1 to 65535"},
		{"mountport", 65535, "a port from 1 to 65535"},
		{"timeo", 36000, "1 to 36000 tenths of a second"},
		{"uid", UINT32_MAX, "a number of 32 bits"},
		{"gid", UINT32_MAX, "a number of 32 bits"}};

	for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
		if (strlen(known[i].name) != len ||
			strncmp(known[i].name, arg, len) != 0)
			continue;
		if (number(value, end, known[i].max, &v) != 0 ||
			(i == 0 && v < 3) || (i < 4 && v == 0)) {
			snprintf(why, whylen, "the value of %s is not %s",
				known[i].name, known[i].is);
			return -EINVAL;
		}
		switch (i) {
		case 0:
			t->version = (uint16_t)v;
			break;
		case 1:
			t->nfsport = (uint16_t)v;
			break;
		case 2:
			t->mountport = (uint16_t)v;
			break;
		case 3:
			t->timeo = (uint32_t)v;
			break;
		case 4:
			t->has_uid = 1;
			t->uid = (uint32_t)v;
			break;
		default:
			t->has_gid = 1;
			t->gid = (uint32_t)v;
			break;
		}
		return 0;
	}
	if (len == 3 && !strncmp(arg, "sec", 3) &&
		(end - value != 3 || strncmp(value, "sys", 3) != 0)) {
		snprintf(why, whylen, "only sec=sys is supported");
		return -EINVAL;
	}
	if (harmless(arg, len))
		return 0;
	snprintf(why, whylen,
		"unknown argument '%.*s' (known: version, nfsport, mountport, "
		"timeo, uid, gid)",
		(int)len, arg);
	return -EINVAL;
}

static int host_and_port(const char *s, const char *end,
	struct nfsappend_target *t, char *why, size_t whylen)
{
	const char *host = s, *host_end, *port = NULL;
	unsigned long v;

	if (s == end) {
		snprintf(why, whylen, "no server name after nfs://");
		return -EINVAL;
	}
	if (*s == '[') { /* RFC 3986 section 3.2.2: an IPv6 address */
		host = s + 1;
		host_end = memchr(host, ']', (size_t)(end - host));
		if (host_end == NULL ||
			(host_end + 1 < end && host_end[1] != ':')) {
			snprintf(why, whylen, "the '[' of the host has no ']'");
			return -EINVAL;
		}
		if (host_end + 1 < end)
			port = host_end + 2;
	} else {
		host_end = memchr(s, ':', (size_t)(end - s));
		if (host_end != NULL)
			port = host_end + 1;
		else
			host_end = end;
	}
	if (host == host_end) {
		snprintf(why, whylen, "no server name after nfs://");
		return -EINVAL;
	}
	if (percent_decode(host, host_end, t->host, sizeof t->host) != 0) {
		snprintf(why, whylen, "the server name is too long or not "
				      "valid");
		return -EINVAL;
	}
	if (port != NULL) {
		if (number(port, end, 65535, &v) != 0 || v == 0) {
			snprintf(why, whylen,
				"the port is not a number from 1 to 65535");
			return -EINVAL;
		}
		t->nfsport = (uint16_t)v;
	}
	return 0;
}

int nfsappend_url_parse(const char *url, struct nfsappend_target *t,
	char *why, size_t whylen)
{
	const char *end = url + strlen(url), *query, *path;
	size_t n;

	memset(t, 0, sizeof *t);
	t->version = 3;
	if (strncmp(url, "nfs://", 6) != 0) {
		snprintf(why, whylen,
			"it does not begin with nfs:// (write "
			"DIR=nfs://server/export)");
		return -EINVAL;
	}
	url += 6;
	query = strchr(url, '?');
	path = memchr(url, '/', (query ? query : end) - url);
	if (path == NULL) {
		snprintf(why, whylen, "no /export after the server name");
		return -EINVAL;
	}
	if (host_and_port(url, path, t, why, whylen) != 0)
		return -EINVAL;
	if (percent_decode(path, query ? query : end, t->path,
		    sizeof t->path) != 0) {
		snprintf(why, whylen,
			"the path is longer than %zu bytes or has a bad "
			"%%-escape",
			sizeof t->path - 1);
		return -EINVAL;
	}
	n = strlen(t->path);
	while (n > 1 && t->path[n - 1] == '/')
		t->path[--n] = '\0';
	while (query != NULL && *query != '\0') {
		const char *arg = query + 1;
		const char *next = strchr(arg, '&');

		if (arg != (next ? next : end) &&
			argument(arg, next ? next : end, t, why, whylen) != 0)
			return -EINVAL;
		query = next;
	}
	return 0;
}
