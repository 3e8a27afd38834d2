/* NFSv4.0 operations on file handles, names and directories. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "v4.h"

uint64_t change_of(const struct node *n)
{
	struct statx st;

	return store_stat(n, &st) ? 0 : store_change(n, &st);
}

/* change_info4: not atomic, since other hosts write to the same folder */
void put_change_info(struct call *c, const struct node *dir, uint64_t before)
{
	put_u32(&c->out, 0);
	put_u64(&c->out, before);
	put_u64(&c->out, change_of(dir));
}

static uint32_t get_name(struct call *c, char name[NAME_SIZE])
{
	get_string(&c->args, name, NAME_SIZE);
	call_log(c, " name=%s", name);
	if (c->args.bad)
		return ST_BADXDR;
	switch (store_check_name(name)) {
	case ST_OK:
		return ST_OK;
	case ST_NAMETOOLONG:
		return ST_NAMETOOLONG;
	case ST_INVAL:
		return ST_INVAL;
	default: /* RFC 7530 section 12.7: no slash, no dots */
		return ST_BADNAME;
	}
}

uint32_t v4_putrootfh(struct call *c)
{
	c->cfh = store_root();
	return ST_OK;
}

uint32_t v4_putfh(struct call *c)
{
	uint32_t len;
	const uint8_t *fh = get_opaque(&c->args, &len, 128);

	return fh ? store_by_handle(fh, len, &c->cfh) : ST_BADXDR;
}

uint32_t v4_getfh(struct call *c)
{
	uint8_t fh[HANDLE_SIZE];

	store_handle(c->cfh, fh);
	put_opaque(&c->out, fh, sizeof(fh));
	return ST_OK;
}

uint32_t v4_savefh(struct call *c)
{
	c->sfh = c->cfh;
	return ST_OK;
}

uint32_t v4_restorefh(struct call *c)
{
	if (!c->sfh)
		return ST_RESTOREFH;
	c->cfh = c->sfh;
	return ST_OK;
}

uint32_t v4_lookup(struct call *c)
{
	char name[NAME_SIZE];
	uint32_t status = get_name(c, name);
	struct node *n;

	if (!status)
		status = store_lookup(c->cfh, name, &n);
	if (!status)
		c->cfh = n;
	return status;
}

uint32_t v4_lookupp(struct call *c)
{
	struct node *n;
	uint32_t status;

	if (c->cfh == store_root())
		return ST_NOENT;
	status = store_lookup(c->cfh, "..", &n);
	if (!status)
		c->cfh = n;
	return status;
}

uint32_t v4_access(struct call *c)
{
	uint32_t asked = get_u32(&c->args), status;
	struct statx st;

	if (c->args.bad)
		return ST_BADXDR;
	status = store_stat(c->cfh, &st);
	if (!status) {
		put_u32(&c->out, asked & 0x3f);
		put_u32(&c->out, asked & access_of(c, &st));
	}
	return status;
}

uint32_t v4_readlink(struct call *c)
{
	char target[PATH_MAX];
	uint32_t status = store_readlink(c->cfh, target, sizeof(target));

	if (!status)
		put_string(&c->out, target);
	return status;
}

uint32_t v4_remove(struct call *c)
{
	char name[NAME_SIZE];
	uint32_t status = get_name(c, name);
	uint64_t before = change_of(c->cfh);
	struct statx st;
	struct node *n;

	if (!status)
		status = store_lookup(c->cfh, name, &n);
	if (!status)
		status = store_stat(n, &st);
	if (!status)
		status = store_remove(c->cfh, name, S_ISDIR(st.stx_mode));
	if (!status)
		put_change_info(c, c->cfh, before);
	return status;
}

uint32_t v4_rename(struct call *c)
{
	char name[NAME_SIZE], new_name[NAME_SIZE];
	uint32_t status = get_name(c, name), second = get_name(c, new_name);
	uint64_t from, to;

	if (!status)
		status = second;
	if (!status && !c->sfh)
		status = ST_NOFILEHANDLE;
	if (status)
		return status;
	from = change_of(c->sfh);
	to = change_of(c->cfh);
	status = store_rename(c->sfh, name, c->cfh, new_name);
	if (!status) {
		put_change_info(c, c->sfh, from);
		put_change_info(c, c->cfh, to);
	}
	return status;
}

/* Directories and symbolic links; files are OPEN's. */
uint32_t v4_create(struct call *c)
{
	uint32_t type = get_u32(&c->args), status, bad;
	char name[NAME_SIZE], target[PATH_MAX];
	uint64_t before = change_of(c->cfh);
	struct node *n;
	struct wish w;
	struct mask m;

	if (type == 5)
		get_string(&c->args, target, sizeof(target));
	else if (type != 2)
		return ST_BADTYPE;
	status = get_name(c, name);
	bad = get_wish4(&c->args, &w, &m);
	if (!status)
		status = bad;
	if (status)
		return status;
	status = type == 5 ? store_symlink(c->cfh, name, target, &n)
			   : store_mkdir(c->cfh, name, &w, &n);
	if (status)
		return status;
	put_change_info(c, c->cfh, before);
	put_mask(&c->out, &m);
	c->cfh = n;
	return ST_OK;
}

/* The cookie is the place in the sorted list, from 3 on (16.24.4). */
uint32_t v4_readdir(struct call *c)
{
	uint64_t cookie = get_u64(&c->args);
	struct dirent **e;
	struct node *n;
	struct mask m;
	uint32_t most;
	int i, count, fd;
	bool room = true;

	get_u64(&c->args); /* verifier: always zero */
	get_u32(&c->args); /* dircount: a hint */
	most = get_u32(&c->args);
	get_mask(&c->args, &m);
	if (c->args.bad)
		return ST_BADXDR;
	fd = store_open_node(c->cfh, O_RDONLY | O_DIRECTORY);
	count = fd < 0 ? -1 : scandirat(fd, ".", &e, NULL, alphasort);
	if (fd >= 0)
		close(fd);
	if (count < 0)
		return ST_NOTDIR;
	put_u64(&c->out, 0);
	for (i = 0; i < count; i++) {
		const char *name = e[i]->d_name;
		size_t at = c->out.len;

		room = room && (at - c->body + 1024 < most || most < 2048);
		if (room && (uint64_t)i + 3 > cookie && strcmp(name, ".") &&
			strcmp(name, "..") && !store_lookup(c->cfh, name, &n)) {
			put_u32(&c->out, 1);
			put_u64(&c->out, i + 3);
			put_string(&c->out, name);
			if (put_attrs(c, &c->out, n, &m))
				c->out.len = at; /* removed meanwhile */
		}
		free(e[i]);
	}
	free(e);
	put_u32(&c->out, 0);
	put_u32(&c->out, room);
	return ST_OK;
}
