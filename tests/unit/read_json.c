/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <string.h>

#include "read_json.h"

static const char *json_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u') {
			for (int i = 0; i < 4; i++)
				if (!isxdigit((unsigned char)*++s))
					return NULL;
		} else if (*s == '\0' || strchr("\"\\/bfnrt", *s) == NULL) {
			return NULL;
		}
	}
	return s + 1;
}

static const char *json_word(const char *s)
{
	static const char *const words[] = {"true", "false", "null"};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(s, words[i], strlen(words[i])) == 0)
			return s + strlen(words[i]);
	return NULL;
}

static const char *json_list(const char *s, char end)
{
	if (*++s == end)
		return s + 1;
	for (;; s++) {
		if (end == '}') {
			s = json_string(s);
			if (s == NULL || *s++ != ':')
				return NULL;
		}
		s = read_json(s);
		if (s == NULL)
			return NULL;
		if (*s == end)
			return s + 1;
		if (*s != ',')
			return NULL;
	}
}

const char *read_json(const char *s)
{
	if (*s == '"')
		return json_string(s);
	if (*s == '{')
		return json_list(s, '}');
	if (*s == '[')
		return json_list(s, ']');
	if (isalpha((unsigned char)*s))
		return json_word(s);
	if (!isdigit((unsigned char)*s) ||
		(*s == '0' && isdigit((unsigned char)s[1])))
		return NULL;
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}
