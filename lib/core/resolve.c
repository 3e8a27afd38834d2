/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/resolve.h"

enum { DONE, RESTART = 1 }; /* RESTART: go on from place->path */

/* The last one used: fresh pages, a fault each, would be most of what it costs
 * to see that a path is not ours. */
static struct nfsappend_place *_Atomic spare;

struct nfsappend_place *nfsappend_place_new(void)
{
	struct nfsappend_place *p = atomic_exchange(&spare, NULL);

	if (p == NULL)
		return nfsappend_pages(sizeof *p);
	memset(p, 0, offsetof(struct nfsappend_place, walk));
	p->walk.map = NULL;
	p->walk.links = 0;
	p->walk.rest[0] = p->walk.todo[0] = p->walk.done[0] = '\0';
	p->path[0] = p->here[0] = '\0';
	p->depth = 0;
	return p;
}

void nfsappend_place_free(struct nfsappend_place *p)
{
	p = atomic_exchange(&spare, p);
	if (p != NULL)
		sys_munmap(p, sizeof *p);
}

static int enter_map(struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	struct nfsappend_cred cred;

	p->map = p->walk.map;
	if (p->map->dropped) {
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_DROPPED_MAP,
			"a path under %s was refused with EIO: its "
			"NFSAPPEND_MAP entry is not valid; correct it",
			p->map->dir);
		return -EIO;
	}
	nfsappend_cred_now(&cred, &p->map->target);
	p->server = nfsappend_server_get(&p->map->target, &cred, NULL);
	if (p->server == NULL)
		return -ENOMEM;
	w->server = p->server->name;
	return nfsappend_server_contact(p->server, w);
}

/* rest: what follows a link or leads out of the map. */
static int restart(struct nfsappend_place *p, const char *head, int headlen,
	const char *rest)
{
	/* rest may lie in walk.rest; path is another buffer. */
	if (snprintf(p->path, sizeof p->path, "%.*s/%s", headlen, head, rest) >=
		(int)sizeof p->path)
		return -ENAMETOOLONG;
	return RESTART;
}

static int follow_link(struct nfsappend_waiting *w, struct nfsappend_place *p,
	const char *rest)
{
	char *target = p->walk.target;
	int r;

	if (++p->walk.links > NFSAPPEND_LINKS_MAX)
		return -ELOOP;
	NFSAPPEND_CALL(p->server, w, r, readlink, &p->fh, target,
		sizeof p->walk.target);
	if (r != 0)
		return r;
	if (target[0] == '\0')
		return -ENOENT;
	if (target[0] == '/') /* of this host, as on a kernel mount */
		return restart(p, target, (int)strlen(target), rest);
	if (snprintf(p->path, sizeof p->path, "%s/%s", target, rest) >=
		(int)sizeof p->path)
		return -ENAMETOOLONG;
	strcpy(p->walk.rest, p->path);
	return DONE;
}

/* Is here/name the DIR of another map? It hides what the server has. */
static bool nested(struct nfsappend_place *p)
{
	const struct nfsappend_map *map;
	size_t n = strlen(p->here);

	if (n + strlen(p->name) + 2 > sizeof p->here)
		return false;
	p->here[n] = '/';
	strcpy(p->here + n + 1, p->name);
	map = nfsappend_path_match(p->here);
	if (map != NULL && map != p->map)
		return true;
	p->here[n] = '\0';
	return false;
}

static void descend(struct nfsappend_place *p)
{
	size_t n = strlen(p->here);

	p->stack[++p->depth] = p->fh;
	if (n + strlen(p->name) + 2 <= sizeof p->here) {
		p->here[n] = '/';
		strcpy(p->here + n + 1, p->name);
	}
}

static void ascend(struct nfsappend_place *p)
{
	p->depth--;
	*strrchr(p->here, '/') = '\0';
}

/* One look-up in the directory on top of the stack. */
static int look_up(struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	int r;

	NFSAPPEND_CALL(p->server, w, r, lookup, &p->stack[p->depth], p->name,
		&p->fh, &p->attr);
	p->found = r == 0;
	return r;
}

/* walk.rest, below the map's DIR. DONE, RESTART or -errno. */
static int walk_remote(bool follow, struct nfsappend_waiting *w,
	struct nfsappend_place *p)
{
	char *s = p->walk.rest;
	int r;

	p->depth = 0;
	p->stack[0] = p->server->contact.root;
	strcpy(p->here, p->map->dir);
	for (;;) {
		size_t len;
		char *rest;

		s += strspn(s, "/");
		len = strcspn(s, "/");
		rest = s + len + strspn(s + len, "/");
		if (len == 0 || (len == 1 && s[0] == '.')) {
			if (*rest != '\0' && len > 0) {
				s = rest;
				continue;
			}
			/* The directory itself. */
			p->fh = p->stack[p->depth];
			p->name[0] = '\0';
			NFSAPPEND_CALL(p->server, w, r, getattr, &p->fh,
				&p->attr);
			p->found = r == 0;
			return r;
		}
		if (len == 2 && s[0] == '.' && s[1] == '.') {
			if (p->depth > 0) {
				ascend(p);
				s = rest;
				continue;
			}
			const char *up = strrchr(p->map->dir, '/');

			return restart(p, p->map->dir,
				(int)(up - p->map->dir), rest);
		}
		if (len > NFSAPPEND_NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(p->name, s, len);
		p->name[len] = '\0';
		p->slash = s[len] == '/';
		if (nested(p))
			return restart(p, p->here, (int)strlen(p->here),
				rest);
		r = look_up(w, p);
		if (r == -ENOENT && *rest == '\0') {
			p->dir = p->stack[p->depth];
			return DONE;
		}
		if (r != 0)
			return r;
		if (p->attr.type == NFSAPPEND_LNK &&
			(follow || *rest != '\0' || p->slash)) {
			r = follow_link(w, p, rest);
			if (r != DONE)
				return r;
			s = p->walk.rest;
			continue;
		}
		if (*rest == '\0') {
			p->dir = p->stack[p->depth];
			return p->slash && p->attr.type != NFSAPPEND_DIR
				? -ENOTDIR
				: DONE;
		}
		if (p->attr.type != NFSAPPEND_DIR)
			return -ENOTDIR;
		if (p->depth + 1 == NFSAPPEND_DEPTH_MAX)
			return -ENAMETOOLONG;
		descend(p);
		s = rest;
	}
}

int nfsappend_resolve(int dirfd, const char *path, bool follow,
	struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	int r;

	p->walk.links = 0;
	for (;;) {
		p->map = NULL;
		r = nfsappend_path_walk(dirfd, path, &p->walk);
		if (r != 0 || p->walk.map == NULL)
			return r;
		r = enter_map(w, p);
		if (r != 0)
			return r;
		r = walk_remote(follow, w, p);
		if (r != RESTART)
			return r;
		path = p->path;
	}
}
