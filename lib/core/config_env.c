/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_env.h"
#include "core/log.h"
#include "core/path.h"
#include "core/process.h"

struct nfsappend_config nfsappend_config;

static const char *lookup(char *const envp[], const char *name)
{
	size_t n = strlen(name);

	for (; *envp != NULL; envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return (*envp)[n + 1] != '\0' ? *envp + n + 1 : NULL;
	return NULL;
}

/* A copy that outlives the environment (nginx overwrites its own). */
static const char *keep(const char *s)
{
	size_t n;
	char *copy;

	if (s == NULL)
		return NULL;
	n = strlen(s) + 1;
	copy = nfsappend_pages(n);
	if (copy != NULL)
		memcpy(copy, s, n);
	return copy;
}

/* Values in messages are cut, so that the cause behind them is seen. */
#define SHOWN 200
#define VALUE "'%.200s%s'"

static const char *dots(const char *value)
{
	return strlen(value) > SHOWN ? "..." : "";
}

static void bad(const char *variable, const char *value, const char *cause)
{
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_BAD_CONFIG,
		"%s=" VALUE ": %s; the default is used", variable, value,
		dots(value), cause);
}

static void read_log(const char *value)
{
	static const char *const names[] = {
		"off", "error", "warn", "info", "debug"};
	size_t n = strcspn(value, ":");
	const char *file = value[n] == ':' ? value + n + 1 : NULL;

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (strlen(names[i]) != n || strncmp(value, names[i], n) != 0)
			continue;
		if (file != NULL && file[0] != '/') {
			bad("NFSAPPEND_LOG", value,
				"the file after ':' must be an absolute path");
			file = NULL;
		}
		nfsappend_log_configure(i, keep(file));
		return;
	}
	bad("NFSAPPEND_LOG", value,
		"not off, error, warn, info or debug, each optionally with "
		":FILE");
}

static void read_sharing(const char *value)
{
	static const char *const names[] = {
		"auto", "single", "guarded", "locked"};

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strcmp(value, names[i])) {
			nfsappend_config.sharing = i;
			return;
		}
	}
	bad("NFSAPPEND_SHARING", value, "not auto, single, guarded or locked");
}

static void read_timeout(const char *value)
{
	char *end;
	unsigned long v = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end != '\0' || v > 86400) {
		bad("NFSAPPEND_TIMEOUT", value,
			"not a number of seconds from 0 (for ever) to 86400");
		return;
	}
	nfsappend_config.timeout_s = (unsigned)v;
	nfsappend_config.timeout_given = true;
}

static void read_fallback(const char *value)
{
	if (!strcmp(value, "fail"))
		nfsappend_config.fallback_fails = true;
	else if (strcmp(value, "kernel") != 0)
		bad("NFSAPPEND_FALLBACK", value, "not kernel or fail");
}

static void read_stats(const char *value)
{
	if (strcmp(value, "stderr") != 0 && value[0] != '/') {
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_BAD_CONFIG,
			"NFSAPPEND_STATS=" VALUE ": neither 'stderr' nor an "
			"absolute path; no statistics are written",
			value, dots(value));
		return;
	}
	nfsappend_config.stats = keep(value);
}

/* The DIR of an entry that begins with quotes or NFSAPPEND_MAP= (which a
 * shell would have taken off, and docker --env-file does not); NULL when it
 * cannot be told. */
static const char *directory(const char *entry)
{
	const char *slash = strchr(entry, '/');

	if (slash == NULL || slash == entry)
		return slash;
	return strchr("\"'=", slash[-1]) != NULL ? slash : NULL;
}

/* Is DIR there already? Then the first entry is used. */
static bool repeated(const struct nfsappend_map *map)
{
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++) {
		const struct nfsappend_map *other = &nfsappend_config.maps[i];

		if (strcmp(other->dir, map->dir) != 0)
			continue;
		if (strcmp(other->entry, map->entry) != 0)
			nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_BAD_MAP,
				"NFSAPPEND_MAP: %s is there twice, with "
				"different URLs; the first entry is used",
				map->dir);
		return true;
	}
	return false;
}

/* One word of NFSAPPEND_MAP, NUL-terminated by the caller. */
static void read_map(char *entry)
{
	struct nfsappend_map *map =
		&nfsappend_config.maps[nfsappend_config.nmaps];
	char *eq = strstr(entry, "=nfs:");
	char *end, was;
	const char *dir;
	int r = -EINVAL;

	if (eq == NULL)
		eq = entry[0] == '/' ? strchr(entry, '=') : strrchr(entry, '=');
	end = eq != NULL ? eq : entry + strlen(entry);
	was = *end;
	*end = '\0';
	/* Where the directory can be told, what is below it must not land on
	 * the local disk, however bad the rest is. */
	dir = directory(entry);
	*end = was;
	if (dir != NULL && dir != entry && strchr("\"'", end[-1]) != NULL)
		end--; /* its quotes */
	was = *end;
	*end = '\0';
	if (dir != NULL)
		r = nfsappend_path_normalise(dir, map->dir, sizeof map->dir);
	*end = was;
	if (r < 0 || map->dir[1] == '\0') {
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_BAD_MAP,
			"NFSAPPEND_MAP entry " VALUE ": the directory must be "
			"an absolute path of at most %d bytes and not '/'; "
			"the entry is ignored",
			entry, dots(entry), NFSAPPEND_DIR_MAX - 1);
		return;
	}
	map->len = (unsigned)strlen(map->dir);
	map->entry = entry;
	if (repeated(map))
		return;
	if (dir != entry) {
		map->dropped = true;
		snprintf(map->why, sizeof map->why,
			"it does not begin with '/' (are the quotes part of "
			"the value?)");
	} else if (eq == NULL) {
		map->dropped = true;
		snprintf(map->why, sizeof map->why,
			"no '=' between directory and URL (write "
			"DIR=nfs://server/export)");
	} else {
		map->dropped = nfsappend_url_parse(eq + 1, &map->target,
				       map->why, sizeof map->why) != 0;
	}
	nfsappend_config.nmaps++;
}

void nfsappend_config_tell_dropped(const struct nfsappend_map *dropped)
{
	struct nfsappend_map *map =
		&nfsappend_config.maps[dropped - nfsappend_config.maps];

	if (!atomic_exchange(&map->told, true))
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_BAD_MAP,
			"NFSAPPEND_MAP entry " VALUE ": %s; until it is "
			"corrected paths under %s fail with EIO",
			map->entry, dots(map->entry), map->why, map->dir);
}

/* Longest DIR first, so that the first match is the nearest. By hand, since
 * qsort() of large elements allocates. */
static void sort_maps(void)
{
	struct nfsappend_map *maps = nfsappend_config.maps;

	for (unsigned i = 1; i < nfsappend_config.nmaps; i++) {
		for (unsigned k = i; k > 0 && maps[k].len > maps[k - 1].len;
			k--) {
			struct nfsappend_map m = maps[k];

			maps[k] = maps[k - 1];
			maps[k - 1] = m;
		}
	}
}

static int read_maps(const char *value)
{
	static const char blank[] = " \t\r\n";
	char *copy = (char *)keep(value);
	size_t words = 0;

	for (const char *word = value + strspn(value, blank); *word != '\0';
		word += strspn(word, blank)) {
		words++;
		word += strcspn(word, blank);
	}
	if (words == 0)
		return 0;
	nfsappend_config.maps =
		nfsappend_pages(words * sizeof *nfsappend_config.maps);
	if (copy == NULL || nfsappend_config.maps == NULL)
		return -ENOMEM;
	for (char *word = copy + strspn(copy, blank); *word != '\0';) {
		char *next = word + strcspn(word, blank);

		if (*next != '\0')
			*next++ = '\0';
		read_map(word);
		word = next + strspn(next, blank);
	}
	sort_maps();
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++) {
		struct nfsappend_map *map = &nfsappend_config.maps[i];
		struct statx stx;

		map->local = sys_statx(AT_FDCWD, map->dir, AT_STATX_DONT_SYNC,
				     STATX_TYPE, &stx) == 0;
		nfsappend_config.any_local |= map->local;
	}
	return 0;
}

int nfsappend_config_read(char *const envp[])
{
	static const struct {
		const char *name;
		void (*read)(const char *value);
	} settings[] = {
		{"NFSAPPEND_LOG", read_log},
		{"NFSAPPEND_SHARING", read_sharing},
		{"NFSAPPEND_TIMEOUT", read_timeout},
		{"NFSAPPEND_FALLBACK", read_fallback},
		{"NFSAPPEND_STATS", read_stats},
	};
	const char *value;

	for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++) {
		value = lookup(envp, settings[i].name);
		if (value != NULL)
			settings[i].read(value);
	}
	value = lookup(envp, "NFSAPPEND_RUNTIME");
	if (value != NULL && value[0] != '/')
		bad("NFSAPPEND_RUNTIME", value, "not an absolute path");
	else
		nfsappend_config.runtime = keep(value);
	value = lookup(envp, "NFSAPPEND_PATHS");
	if (value != NULL && nfsappend_config_paths(value) != 0)
		return -ENOMEM;
	value = lookup(envp, "NFSAPPEND_MAP");
	return value != NULL ? read_maps(value) : 0;
}

enum nfsappend_sharing nfsappend_config_sharing(unsigned version)
{
	switch (nfsappend_config.sharing) {
	case NFSAPPEND_SHARING_SINGLE:
		return NFSAPPEND_SINGLE;
	case NFSAPPEND_SHARING_GUARDED:
		return NFSAPPEND_GUARDED;
	default: /* locks need NFSv4 */
		return version == 4 ? NFSAPPEND_LOCKED : NFSAPPEND_GUARDED;
	}
}
