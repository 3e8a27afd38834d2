/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/directory.h"
#include "core/log.h"
#include "core/placeholder.h"
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
	memset(p, 0, offsetof(struct nfsappend_place, stack));
	return p;
}

void nfsappend_place_free(struct nfsappend_place *p)
{
	p = atomic_exchange(&spare, p);
	if (p != NULL)
		sys_munmap(p, sizeof *p);
}

int nfsappend_place_path(const struct nfsappend_place *p, char *out,
	size_t room)
{
	bool named = p->name[0] != '\0';
	int n = snprintf(out, room, "%s%s%s", p->here, named ? "/" : "",
		p->name);

	return p->cut || n >= (int)room ? -ENAMETOOLONG : 0;
}

static int enter_map(struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	struct nfsappend_cred cred;

	p->map = p->walk.map;
	if (p->map->dropped) {
		nfsappend_config_tell_dropped(p->map);
		return -EIO;
	}
	nfsappend_cred_now(&cred, &p->map->target);
	if (p->real_ids)
		nfsappend_cred_real(&cred, &p->map->target);
	p->server = nfsappend_server_get(&p->map->target, &cred, NULL);
	if (p->server == NULL)
		return -ENOMEM;
	w->server = p->server->name;
	return nfsappend_server_contact(p->server, w);
}

/* head and what is left of the path, into place->path. A slash that was not
 * there would ask for a directory. */
static int join(struct nfsappend_place *p, const char *head, int headlen,
	const char *rest)
{
	bool slash = headlen == 0 || *rest != '\0' || p->slash;

	/* rest may lie in walk.rest; path is another buffer. */
	if (snprintf(p->path, sizeof p->path, "%.*s%s%s", headlen, head,
		    slash ? "/" : "", rest) >= (int)sizeof p->path)
		return -ENAMETOOLONG;
	return 0;
}

/* rest: what follows a link or leads out of the map. */
static int restart(struct nfsappend_place *p, const char *head, int headlen,
	const char *rest)
{
	int r = join(p, head, headlen, rest);

	return r == 0 ? RESTART : r;
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
	r = join(p, target, (int)strlen(target), rest);
	if (r == 0)
		strcpy(p->walk.rest, p->path);
	return r;
}

/* Is here/name the DIR of another map? It hides what the server has. */
static bool nested(struct nfsappend_place *p)
{
	const struct nfsappend_map *map;
	size_t n = strlen(p->here);

	if (p->cut || n + strlen(p->name) + 2 > sizeof p->here)
		return false;
	p->here[n] = '/';
	strcpy(p->here + n + 1, p->name);
	map = nfsappend_path_match(p->here);
	if (map != NULL && map != p->map)
		return true;
	p->here[n] = '\0';
	return false;
}

static int descend(struct nfsappend_place *p)
{
	size_t n = strlen(p->here);

	if (p->depth + 1 == NFSAPPEND_DEPTH_MAX ||
		n + strlen(p->name) + 2 > sizeof p->here)
		return -ENAMETOOLONG;
	p->stack[++p->depth] = p->fh;
	p->here[n] = '/';
	strcpy(p->here + n + 1, p->name);
	return 0;
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

/* To the parent of the directory at the bottom of the stack. Its path is too
 * long to be known, but where it reaches the map's DIR. */
static int climb(struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	const struct nfsappend_fh *root = &p->server->contact.root;
	int r;

	NFSAPPEND_CALL(p->server, w, r, lookup, &p->stack[0], "..", &p->fh,
		&p->attr);
	if (r != 0)
		return r;
	p->stack[0] = p->fh;
	if (p->fh.len == root->len &&
		memcmp(p->fh.data, root->data, root->len) == 0) {
		strcpy(p->here, p->map->dir);
		p->cut = false;
	}
	return 0;
}

/* walk.rest, from the directory at the bottom of the stack, which is here.
 * DONE, RESTART or -errno. */
static int walk_remote(bool follow, struct nfsappend_waiting *w,
	struct nfsappend_place *p)
{
	char *s = p->walk.rest;
	int r;

	p->depth = 0;
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
		p->slash = s[len] == '/';
		if (len == 2 && s[0] == '.' && s[1] == '.') {
			if (p->depth > 0) {
				ascend(p);
				s = rest;
				continue;
			}
			if (p->cut) {
				r = climb(w, p);
				if (r != 0)
					return r;
				s = rest;
				continue;
			}
			return restart(p, p->here,
				(int)(strrchr(p->here, '/') - p->here), rest);
		}
		if (len > NFSAPPEND_NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(p->name, s, len);
		p->name[len] = '\0';
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
			(follow || *rest != '\0' ||
				(p->slash && !p->itself))) {
			r = follow_link(w, p, rest);
			if (r != DONE)
				return r;
			s = p->walk.rest;
			continue;
		}
		if (*rest == '\0') {
			p->dir = p->stack[p->depth];
			return p->slash && !p->itself &&
					p->attr.type != NFSAPPEND_DIR
				? -ENOTDIR
				: DONE;
		}
		if (p->attr.type != NFSAPPEND_DIR)
			return -ENOTDIR;
		r = descend(p);
		if (r != 0)
			return r;
		s = rest;
	}
}

/* From an open directory: by its handle, so that it may have been renamed,
 * and every use costs one look-up. false: dirfd is none of ours. */
static bool start_at(int dirfd, const char *path, struct nfsappend_waiting *w,
	struct nfsappend_place *p, int *result)
{
	struct nfsappend_directory d;

	if (path[0] == '/' || dirfd == AT_FDCWD)
		return false;
	if (!nfsappend_directory_behind(dirfd, &d)) {
		*result = path[0] == '\0' ? -ENOENT : -ENOTDIR;
		return nfsappend_placeholder_marked(dirfd);
	}
	*result = path[0] == '\0' ? -ENOENT : 0;
	p->walk.map = nfsappend_path_match(d.path);
	if (p->walk.map == NULL) /* of other maps: it has come from outside */
		*result = -EXDEV;
	p->map = p->walk.map;
	if (strlen(path) >= sizeof p->walk.rest)
		*result = -ENAMETOOLONG;
	if (*result != 0)
		return true;
	strcpy(p->walk.rest, path);
	*result = enter_map(w, p);
	p->stack[0] = d.fh;
	strcpy(p->here, d.path);
	p->cut = d.cut;
	return true;
}

static int start_at_map(struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	int r = enter_map(w, p);

	if (r != 0)
		return r;
	p->stack[0] = p->server->contact.root;
	strcpy(p->here, p->map->dir);
	p->cut = false;
	return 0;
}

int nfsappend_resolve(int dirfd, const char *path, bool follow,
	struct nfsappend_waiting *w, struct nfsappend_place *p)
{
	int r;

	p->walk.links = 0;
	p->here[0] = '\0';
	if (start_at(dirfd, path, w, p, &r)) {
		if (r == 0)
			r = walk_remote(follow, w, p);
		if (r != RESTART)
			return r;
		path = p->path;
	}
	for (;;) {
		p->map = NULL;
		r = nfsappend_path_walk(dirfd, path, follow, &p->walk);
		if (r != 0 || p->walk.map == NULL)
			return r;
		r = start_at_map(w, p);
		if (r == 0)
			r = walk_remote(follow, w, p);
		if (r != RESTART)
			return r;
		path = p->path;
	}
}
