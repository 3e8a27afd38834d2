/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NFSAPPEND_PATHS: which files on kernel NFS mounts are ours. Entries are
 * compared as text, with the path that a program uses and with the one that
 * the kernel tells; nothing is looked at, since a mount may not answer.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/config_env.h"
#include "core/log.h"
#include "core/path.h"
#include "core/process.h"

#define PATHS_MAX 64
#define SHOWN 200

static void bad(const char *entry, size_t n, const char *cause)
{
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_BAD_PATHS,
		"NFSAPPEND_PATHS entry '%.*s%s': %s; the entry is ignored",
		(int)(n < SHOWN ? n : SHOWN), entry, n > SHOWN ? "..." : "",
		cause);
}

static bool is_pattern(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

/* The last component of what normalise() left in p->dir, if it is a pattern,
 * goes apart. */
static const char *split(struct nfsappend_paths *p)
{
	char *name = strrchr(p->dir, '/') + 1;

	if (is_pattern(name)) {
		if (strlen(name) >= sizeof p->pattern)
			return "its last component is too long";
		strcpy(p->pattern, name);
		name[name - p->dir > 1 ? -1 : 0] = '\0';
	}
	if (is_pattern(p->dir))
		return "only the last component may be a pattern";
	p->len = p->dir[1] == '\0' ? 0 : (unsigned)strlen(p->dir);
	return NULL;
}

static void read_entry(const char *entry, size_t n)
{
	struct nfsappend_paths *p =
		&nfsappend_config.paths[nfsappend_config.npaths];
	char text[NFSAPPEND_DIR_MAX];
	const char *why = NULL;

	memset(p, 0, sizeof *p);
	if (n >= sizeof text)
		why = "it is too long";
	else if (entry[0] != '/')
		why = "not an absolute path";
	if (why == NULL) {
		memcpy(text, entry, n);
		text[n] = '\0';
		if (nfsappend_path_normalise(text, p->dir, sizeof p->dir) < 0)
			why = "it is too long";
		else
			why = split(p);
	}
	if (why == NULL && p->len == 0 && p->pattern[0] == '\0')
		why = "'/' is all that there is; name the mounted directory";
	if (why != NULL)
		bad(entry, n, why);
	else
		nfsappend_config.npaths++;
}

int nfsappend_config_paths(const char *value)
{
	nfsappend_config.paths = nfsappend_pages(
		PATHS_MAX * sizeof *nfsappend_config.paths);
	if (nfsappend_config.paths == NULL)
		return -ENOMEM;
	while (*value != '\0') {
		size_t n = strcspn(value, ":");

		if (n > 0 && nfsappend_config.npaths == PATHS_MAX) {
			bad(value, strlen(value), "more than 64 entries");
			break;
		}
		if (n > 0)
			read_entry(value, n);
		value += n + (value[n] == ':');
	}
	return 0;
}

/* A bracket expression at p: does it hold c? *end: behind it, or NULL when it
 * is none. As fnmatch(3) in the C locale, which may allocate. */
static bool in_bracket(const char *p, unsigned char c, const char **end)
{
	bool not = p[1] == '!' || p[1] == '^', found = false;
	const char *s = p + 1 + not;

	*end = NULL;
	for (const char *first = s; *s != '\0' && (*s != ']' || s == first);
		s++) {
		unsigned char from = (unsigned char)*s, to = from;

		if (s[1] == '-' && s[2] != ']' && s[2] != '\0') {
			to = (unsigned char)s[2];
			s += 2;
		}
		found |= from <= c && c <= to;
	}
	if (*s == ']')
		*end = s + 1;
	return found != not;
}

/* name: one component. A leading '.' is matched like any other. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *again = NULL, *end;

	for (;;) {
		bool fits = false;

		if (*pattern == '*') {
			star = ++pattern;
			again = name;
			continue;
		}
		end = pattern + 1;
		if (*name == '\0') {
			if (*pattern == '\0')
				return true;
		} else if (*pattern == '[') {
			fits = in_bracket(pattern, (unsigned char)*name, &end);
			if (end == NULL) {
				end = pattern + 1;
				fits = *name == '[';
			}
		} else {
			fits = *pattern == '?' || *pattern == *name;
		}
		if (fits) {
			pattern = end;
			name++;
		} else if (star != NULL && *again != '\0') {
			pattern = star;
			name = ++again;
		} else {
			return false;
		}
	}
}

bool nfsappend_paths_match(const char *path)
{
	for (unsigned i = 0; i < nfsappend_config.npaths; i++) {
		const struct nfsappend_paths *p = &nfsappend_config.paths[i];
		const char *rest = path + p->len;

		if (strncmp(path, p->dir, p->len) != 0)
			continue;
		if (p->pattern[0] == '\0') {
			if (*rest == '\0' || *rest == '/')
				return true;
		} else if (*rest == '/' && strchr(rest + 1, '/') == NULL &&
			   matches(p->pattern, rest + 1)) {
			return true;
		}
	}
	return false;
}
