#include "store.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "names.h"

static int root_fd = -1;
static struct node *nodes;
static const char magic[4] = "nfsa";
static const struct cred *caller; /* whose rights we have now, or NULL */

static bool stat_path(const char *path, struct statx *st)
{
	return !statx(root_fd, path, AT_SYMLINK_NOFOLLOW,
		STATX_BASIC_STATS | STATX_BTIME, st);
}

static bool same(const struct node *n, const struct statx *st)
{
	return n->ino == st->stx_ino &&
	       n->birth == (uint64_t)st->stx_btime.tv_sec &&
	       n->birth_nsec == st->stx_btime.tv_nsec;
}

static struct node *node_for(const char *path, const struct statx *st)
{
	struct node *n;

	for (n = nodes; n && !same(n, st); n = n->next)
		;
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			err(1, "node");
		n->ino = st->stx_ino;
		n->birth = st->stx_btime.tv_sec;
		n->birth_nsec = st->stx_btime.tv_nsec;
		n->next = nodes;
		nodes = n;
	} else if (!strcmp(n->path, path)) {
		return n;
	}
	free(n->path);
	n->path = strdup(path);
	if (!n->path)
		err(1, "node");
	return n;
}

void store_open(const char *folder)
{
	root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		err(1, "%s", folder);
}

int store_dirfd(void)
{
	return root_fd;
}

struct node *store_root(void)
{
	struct statx st;

	if (!stat_path(".", &st))
		err(1, "the export");
	return node_for(".", &st);
}

const char *store_name(const struct node *n)
{
	const char *slash = strrchr(n->path, '/');

	return slash ? slash + 1 : n->path;
}

static char *join(const char *dir, const char *name)
{
	char *path;

	if (!strcmp(dir, "."))
		path = strdup(name);
	else if (asprintf(&path, "%s/%s", dir, name) < 0)
		path = NULL;
	if (!path)
		err(1, "path");
	return path;
}

/* Somebody renamed the file, or the handle is from before a restart. */
static struct node *search(
	const char *dir, uint64_t ino, uint64_t birth, uint32_t nsec)
{
	int fd = openat(root_fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct node *found = NULL;
	struct dirent *e;
	struct statx st;

	while (d && !found && (e = readdir(d))) {
		char *path;

		if (!strcmp(e->d_name, ".."))
			continue;
		path = !strcmp(e->d_name, ".") ? strdup(dir)
					       : join(dir, e->d_name);
		if (stat_path(path, &st)) {
			if (st.stx_ino == ino &&
				(uint64_t)st.stx_btime.tv_sec == birth &&
				st.stx_btime.tv_nsec == nsec)
				found = node_for(path, &st);
			else if (S_ISDIR(st.stx_mode) && strcmp(e->d_name, "."))
				found = search(path, ino, birth, nsec);
		}
		free(path);
	}
	if (d)
		closedir(d);
	return found;
}

void store_handle(const struct node *n, uint8_t out[HANDLE_SIZE])
{
	memcpy(out, magic, 4);
	memcpy(out + 4, &n->ino, 8);
	memcpy(out + 12, &n->birth, 8);
	memcpy(out + 20, &n->birth_nsec, 4);
}

uint32_t store_by_handle(const void *fh, uint32_t len, struct node **out)
{
	const uint8_t *p = fh;
	uint64_t ino, birth;
	struct statx st;
	uint32_t nsec;
	struct node *n;

	*out = NULL;
	if (len != HANDLE_SIZE || memcmp(p, magic, 4))
		return ST_BADHANDLE;
	memcpy(&ino, p + 4, 8);
	memcpy(&birth, p + 12, 8);
	memcpy(&nsec, p + 20, 4);
	for (n = nodes; n; n = n->next)
		if (n->ino == ino && n->birth == birth && n->birth_nsec == nsec)
			break;
	if (!n || !stat_path(n->path, &st) || !same(n, &st)) {
		const struct cred *saved = caller;

		store_become_self();
		n = search(".", ino, birth, nsec);
		if (saved)
			store_become(saved);
	}
	*out = n;
	return n ? ST_OK : ST_STALE;
}

uint32_t store_check_name(const char *name)
{
	if (!*name)
		return ST_INVAL;
	if (strchr(name, '/'))
		return ST_ACCES;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return ST_EXIST;
	return strlen(name) > NAME_MAX ? ST_NAMETOOLONG : ST_OK;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, slash - path) : strdup(".");
}

uint32_t store_lookup(struct node *dir, const char *name, struct node **out)
{
	uint32_t status = store_check_name(name);
	struct statx st;
	char *path;

	*out = NULL;
	if (status && status != ST_EXIST)
		return status;
	if (!stat_path(dir->path, &st))
		return ST_STALE;
	if (!S_ISDIR(st.stx_mode))
		return S_ISLNK(st.stx_mode) ? ST_SYMLINK : ST_NOTDIR;
	if (!strcmp(name, "."))
		path = strdup(dir->path);
	else if (!strcmp(name, ".."))
		path = parent_of(dir->path);
	else
		path = join(dir->path, name);
	if (stat_path(path, &st))
		*out = node_for(path, &st);
	else
		status = status_of_errno(errno);
	free(path);
	return *out ? ST_OK : status;
}

uint32_t store_mount(const char *path, struct node **out)
{
	char *copy = strdup(path), *rest = copy, *name;
	struct node *n = store_root();
	uint32_t status = ST_OK;

	while (!status && (name = strsep(&rest, "/")))
		if (*name)
			status = store_lookup(n, name, &n);
	free(copy);
	*out = n;
	return status;
}

uint32_t store_stat(const struct node *n, struct statx *st)
{
	return stat_path(n->path, st) && same(n, st) ? ST_OK : ST_STALE;
}

uint64_t store_change(const struct node *n, const struct statx *st)
{
	return st->stx_ctime.tv_sec * 1000000000ULL + st->stx_ctime.tv_nsec +
	       n->changes;
}

/* glibc's setgroups is fine here: there is one thread. */
void store_become(const struct cred *cred)
{
	gid_t groups[16];
	uint32_t i;

	caller = cred;
	if (geteuid())
		return;
	for (i = 0; i < cred->n_groups; i++)
		groups[i] = cred->groups[i];
	setgroups(cred->n_groups, groups);
	setfsgid(cred->gid);
	setfsuid(cred->uid);
}

void store_become_self(void)
{
	caller = NULL;
	if (geteuid())
		return;
	setfsuid(0);
	setfsgid(getegid());
}

int store_open_node(const struct node *n, int flags)
{
	return openat(
		root_fd, n->path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}
