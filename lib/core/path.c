/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/cwd.h"
#include "core/path.h"
#include "core/sys.h"

int nfsappend_path_normalise(const char *path, char *out, size_t room)
{
	size_t n = 0;

	if (path[0] != '/')
		return -EINVAL;
	for (const char *s = path; *s != '\0';) {
		size_t len;

		s += strspn(s, "/");
		len = strcspn(s, "/");
		if (len == 2 && s[0] == '.' && s[1] == '.') {
			while (n > 0 && out[--n] != '/')
				;
		} else if (len > 0 && !(len == 1 && s[0] == '.')) {
			if (n + len + 2 > room)
				return -ENAMETOOLONG;
			out[n++] = '/';
			memcpy(out + n, s, len);
			n += len;
		}
		s += len;
	}
	if (n == 0)
		out[n++] = '/';
	out[n] = '\0';
	return (int)n;
}

/* The last component and its length, without slashes behind it. */
static const char *last_component(const char *path, size_t *len)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	*len = end - start;
	return path + start;
}

bool nfsappend_path_ends_like_map(const char *path)
{
	size_t len, n;
	const char *last = last_component(path, &len);

	for (unsigned i = 0; i < nfsappend_config.nmaps; i++)
		for (const char *t = nfsappend_config.maps[i].dir; *t == '/';
			t += n) {
			n = strcspn(++t, "/");
			if (n == len && memcmp(t, last, len) == 0)
				return true;
		}
	return false;
}

bool nfsappend_path_above_map(const char *path)
{
	struct statx stx;
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++) {
		const char *dir = nfsappend_config.maps[i].dir;

		if (strncmp(dir, path, n) == 0 && dir[n] == '/')
			return sys_statx(AT_FDCWD, path,
				       AT_SYMLINK_NOFOLLOW |
					       AT_STATX_DONT_SYNC,
				       STATX_TYPE, &stx) == -ENOENT;
	}
	return false;
}

bool nfsappend_path_missing(int dirfd, const char *path)
{
	char parent[512], target[1]; /* longer ones are walked */
	struct statx stx;
	size_t len;
	const char *last = last_component(path, &len);
	size_t before = (size_t)(last - path);

	if (path[0] != '/' && dirfd == AT_FDCWD && nfsappend_cwd_mapped())
		return false;
	if (len == 0 || before + len >= sizeof parent ||
		(len <= 2 && memcmp(last, "..", len) == 0) ||
		nfsappend_path_ends_like_map(path))
		return false;
	memcpy(parent, path, before + len);
	parent[before + len] = '\0';
	if (sys_readlinkat(dirfd, parent, target, sizeof target) != -ENOENT)
		return false;
	if (before == 0)
		parent[before++] = '.';
	parent[before] = '\0';
	return sys_statx(dirfd, parent, AT_STATX_DONT_SYNC, STATX_TYPE, &stx) ==
		0;
}

/* Puts the absolute path of dirfd into out, without a trailing '/'. */
static int base(int dirfd, char *out, size_t room)
{
	char link[40];
	long n;

	if (dirfd == AT_FDCWD) {
		n = sys_getcwd(out, room); /* counts the NUL */
		if (n == -ENOENT)
			return nfsappend_cwd_path(out, room);
		if (n < 0)
			return (int)n;
		n--;
	} else {
		snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
		n = sys_readlinkat(AT_FDCWD, link, out, room - 1);
		if (n < 0)
			return n == -ENOENT ? -EBADF : (int)n;
	}
	/* A file of ours, not a directory; the kernel says so, too. */
	if (dirfd != AT_FDCWD && n >= 7 && memcmp(out, "/memfd:", 7) == 0)
		return -ENOTDIR;
	/* "(unreachable)/x", "pipe:[1]": no place that a map could be at. */
	if (n == 0 || out[0] != '/')
		return -ENOENT;
	while (n > 0 && out[n - 1] == '/')
		n--;
	out[n] = '\0';
	return (int)n;
}

/* Puts walk->target before what is left of todo. */
static int splice_target(struct nfsappend_walk *walk, const char **left)
{
	int n = snprintf(walk->rest, sizeof walk->rest, "%s%s", walk->target,
		*left);

	if (n >= (int)sizeof walk->rest)
		return -ENAMETOOLONG;
	memcpy(walk->todo, walk->rest, n + 1);
	*left = walk->todo;
	return 0;
}

/* Does the path go on into a map within the map? */
static bool enter_nested(struct nfsappend_walk *walk, int *n, const char **s)
{
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++) {
		const struct nfsappend_map *map = &nfsappend_config.maps[i];
		size_t more = map->len - (size_t)*n;

		if (map->len <= (unsigned)*n ||
			strncmp(map->dir, walk->done, (size_t)*n) != 0 ||
			strncmp(map->dir + *n, *s, more) != 0 ||
			((*s)[more] != '/' && (*s)[more] != '\0'))
			continue;
		memcpy(walk->done, map->dir, map->len + 1);
		*n = (int)map->len;
		*s += more;
		return true;
	}
	return false;
}

/* The dots that a relative path begins with: its base has no links in it, so
 * they need no look. */
static int climb(char *done, int n, const char **s)
{
	for (;;) {
		const char *t = *s + strspn(*s, "/");
		size_t len = strcspn(t, "/");

		if (len == 2 && t[0] == '.' && t[1] == '.')
			while (n > 0 && done[--n] != '/')
				;
		else if (len != 1 || t[0] != '.')
			return n;
		*s = t + len;
	}
}

int nfsappend_path_walk(int dirfd, const char *path,
	bool follow, struct nfsappend_walk *walk)
{
	char *done = walk->done, *target = walk->target;
	const char *s = walk->todo;
	size_t relative = path[0] != '/';
	int n = 0;

	if (path[0] == '\0')
		return -ENOENT;
	if (relative && (n = base(dirfd, done, PATH_MAX)) < 0)
		return n;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	walk->todo[0] = '/'; /* between the base and the path */
	memmove(walk->todo + relative, path, strlen(path) + 1);
	if (relative)
		n = climb(done, n, &s);
	walk->map = NULL;
	for (;;) {
		done[n] = '\0';
		walk->map = n > 0 ? nfsappend_path_match(done) : NULL;
		if (walk->map != NULL && enter_nested(walk, &n, &s))
			continue;
		if (walk->map != NULL) {
			/* done may be deeper than DIR, where the working
			 * directory is. */
			if (snprintf(walk->rest, sizeof walk->rest, "%s%s",
				    done + walk->map->len +
					    (done[walk->map->len] == '/'),
				    s) >= (int)sizeof walk->rest)
				return -ENAMETOOLONG;
			return 0;
		}
		bool slash = *s == '/';

		s += strspn(s, "/");
		size_t len = strcspn(s, "/");

		if (len == 0) {
			if (snprintf(walk->rest, sizeof walk->rest, "%s%s",
				    n > 0 ? done : "/",
				    slash && n > 0 ? "/" : "") >=
				(int)sizeof walk->rest)
				return -ENAMETOOLONG;
			return 0;
		}
		if (len == 1 && s[0] == '.') {
			s += len;
			continue;
		}
		if (len == 2 && s[0] == '.' && s[1] == '.') {
			while (n > 0 && done[--n] != '/')
				;
			s += len;
			continue;
		}
		if (n + len + 2 > sizeof walk->done)
			return -ENAMETOOLONG;
		done[n] = '/';
		memcpy(done + n + 1, s, len);
		done[n + 1 + len] = '\0';
		s += len;
		/* A map's DIR wins over what lies there on this host; a last
		 * link that is not followed is the kernel's to refuse. */
		long t = nfsappend_path_match(done) || (!follow && *s == '\0')
			? -EINVAL
			: sys_readlinkat(AT_FDCWD, done, target,
				  sizeof walk->target - 1);

		if (t <= 0) { /* no link, or nothing there */
			n += 1 + (int)len;
			continue;
		}
		if (++walk->links > NFSAPPEND_LINKS_MAX)
			return -ELOOP;
		target[t] = '\0';
		if (target[0] == '/')
			n = 0;
		if (splice_target(walk, &s) != 0)
			return -ENAMETOOLONG;
	}
}
