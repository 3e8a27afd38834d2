/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"

#define INVALID UINT32_MAX

/* The next character (RFC 3629 section 4) and the bytes that it takes;
 * INVALID takes one. */
static uint32_t next(const char *text, unsigned *len)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c = s[0], least;

	*len = 1;
	if (c < 0x80)
		return c;
	if (c >= 0xc2 && c <= 0xdf) {
		c &= 0x1f;
		least = 0x80;
		*len = 2;
	} else if (c >= 0xe0 && c <= 0xef) {
		c &= 0x0f;
		least = 0x800;
		*len = 3;
	} else if (c >= 0xf0 && c <= 0xf4) {
		c &= 0x07;
		least = 0x10000;
		*len = 4;
	} else {
		return INVALID;
	}
	for (unsigned i = 1; i < *len; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*len = 1;
			return INVALID;
		}
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		*len = 1;
		return INVALID;
	}
	return c;
}

/* Of ASCII and of Latin 1, which terminals may obey. */
static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

size_t nfsappend_json_quote(char *out, size_t room, const char *s)
{
	size_t n = 0;
	unsigned len;

	out[n++] = '"';
	for (; *s != '\0'; s += len) {
		char text[8];
		uint32_t c = next(s, &len);
		size_t m;

		if (c == INVALID)
			m = (size_t)snprintf(text, sizeof text, "\\ufffd");
		else if (is_control(c))
			m = (size_t)snprintf(
				text, sizeof text, "\\u%04x", (unsigned)c);
		else if (c == '"' || c == '\\')
			m = (size_t)snprintf(text, sizeof text, "\\%c", (int)c);
		else
			memcpy(text, s, m = len);
		if (n + m + 2 > room)
			break;
		memcpy(out + n, text, m);
		n += m;
	}
	out[n++] = '"';
	out[n] = '\0';
	return n;
}

char *nfsappend_plain_text(char *out, size_t room, const char *s)
{
	size_t n = 0;
	unsigned len;

	for (; *s != '\0'; s += len) {
		uint32_t c = next(s, &len);
		const char *text = s;
		size_t m = len;

		if (c == INVALID || is_control(c)) {
			text = "?";
			m = 1;
		}
		if (n + m + 1 > room)
			break;
		memcpy(out + n, text, m);
		n += m;
	}
	out[n] = '\0';
	return out;
}
