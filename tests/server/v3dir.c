/* NFS version 3: procedures on directories. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "v3.h"

/* diropargs3 */
static uint32_t get_dirop(struct call *c, struct node **dir, char *name)
{
	uint32_t status = v3_get_node(c, dir);

	get_string(&c->args, name, NAME_SIZE);
	call_log(c, " name=%s", name);
	return c->args.bad ? V3_BAD_XDR : status;
}

uint32_t v3_lookup(struct call *c)
{
	char name[NAME_SIZE];
	uint32_t status = get_dirop(c, &c->node, name);
	struct node *n;

	if (!status)
		status = store_lookup(c->node, name, &n);
	if (!status) {
		v3_put_handle(c, n);
		v3_put_post(c, n);
		v3_put_post(c, c->node);
	}
	return status;
}

/* post_op_fh3, post_op_attr, wcc_data: the result of what makes an object */
static void put_made(struct call *c, struct node *n)
{
	put_u32(&c->out, 1);
	v3_put_handle(c, n);
	v3_put_post(c, n);
	v3_put_wcc(c, c->node);
}

uint32_t v3_create(struct call *c)
{
	char name[NAME_SIZE];
	uint32_t status = get_dirop(c, &c->node, name), bad = 0;
	uint32_t how = get_u32(&c->args);
	struct wish w = NO_WISH;
	uint64_t verifier = 0;
	struct node *n;
	bool created;

	if (how == HOW_EXCLUSIVE)
		verifier = get_u64(&c->args);
	else
		bad = v3_get_wish(c, &w);
	if (bad || c->args.bad || how > HOW_EXCLUSIVE)
		return V3_BAD_XDR;
	if (!status)
		status = store_create(
			c->node, name, how, &w, verifier, &n, &created);
	if (!status)
		put_made(c, n);
	return status;
}

uint32_t v3_mkdir(struct call *c)
{
	char name[NAME_SIZE];
	uint32_t status = get_dirop(c, &c->node, name);
	struct node *n;
	struct wish w;

	if (v3_get_wish(c, &w))
		return V3_BAD_XDR;
	if (!status)
		status = store_mkdir(c->node, name, &w, &n);
	if (!status)
		put_made(c, n);
	return status;
}

uint32_t v3_symlink(struct call *c)
{
	char name[NAME_SIZE], target[PATH_MAX];
	uint32_t status = get_dirop(c, &c->node, name);
	struct node *n;
	struct wish w;

	v3_get_wish(c, &w);
	get_string(&c->args, target, sizeof(target));
	if (c->args.bad)
		return V3_BAD_XDR;
	if (!status)
		status = store_symlink(c->node, name, target, &n);
	if (!status)
		put_made(c, n);
	return status;
}

static uint32_t remove_name(struct call *c, bool directory)
{
	char name[NAME_SIZE];
	uint32_t status = get_dirop(c, &c->node, name);

	if (!status)
		status = store_remove(c->node, name, directory);
	if (!status)
		v3_put_wcc(c, c->node);
	return status;
}

uint32_t v3_remove(struct call *c)
{
	return remove_name(c, false);
}

uint32_t v3_rmdir(struct call *c)
{
	return remove_name(c, true);
}

uint32_t v3_rename(struct call *c)
{
	char name[NAME_SIZE], new_name[NAME_MAX + 2];
	uint32_t status = get_dirop(c, &c->node, name), second;

	second = get_dirop(c, &c->node2, new_name);
	if (c->args.bad)
		return V3_BAD_XDR;
	if (!status)
		status = second;
	if (!status)
		status = store_rename(c->node, name, c->node2, new_name);
	if (!status) {
		v3_put_wcc(c, c->node);
		v3_put_wcc(c, c->node2);
	}
	return status;
}

uint32_t v3_link(struct call *c)
{
	char name[NAME_SIZE];
	uint32_t status = v3_get_node(c, &c->node), second;

	second = get_dirop(c, &c->node2, name);
	if (c->args.bad)
		return V3_BAD_XDR;
	if (!status)
		status = second;
	if (!status)
		status = store_link(c->node, c->node2, name);
	if (!status) {
		v3_put_post(c, c->node);
		v3_put_wcc(c, c->node2);
	}
	return status;
}

static void put_entry(
	struct call *c, const char *name, uint64_t cookie, bool plus)
{
	struct node *n = NULL;
	struct statx st;

	if (store_lookup(c->node, name, &n) || store_stat(n, &st))
		return; /* removed meanwhile */
	put_u32(&c->out, 1);
	put_u64(&c->out, st.stx_ino);
	put_string(&c->out, name);
	put_u64(&c->out, cookie);
	if (!plus)
		return;
	v3_put_post(c, n);
	put_u32(&c->out, 1);
	v3_put_handle(c, n);
}

/* The cookie is the place in the sorted list of names: good enough while
 * nobody changes the directory between two calls. */
static uint32_t list(struct call *c, bool plus)
{
	uint32_t status = v3_get_node(c, &c->node), most;
	uint64_t cookie = get_u64(&c->args);
	struct dirent **e;
	int i, n, fd;
	bool room = true;

	get_u64(&c->args); /* verifier: ours is always zero */
	most = get_u32(&c->args);
	if (plus)
		most = get_u32(&c->args); /* maxcount, behind dircount */
	if (c->args.bad)
		return V3_BAD_XDR;
	if (status)
		return status;
	fd = store_open_node(c->node, O_RDONLY | O_DIRECTORY);
	n = fd < 0 ? -1 : scandirat(fd, ".", &e, NULL, alphasort);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return ST_NOTDIR;
	v3_put_post(c, c->node);
	put_u64(&c->out, 0);
	for (i = 0; i < n; i++) {
		/* 512: more than an entry with a name of 255 bytes takes,
		 * and what is already there counts too. */
		if (c->out.len - c->body + 512 > most && most > 1024)
			room = false;
		if ((uint64_t)i >= cookie && room) {
			put_entry(c, e[i]->d_name, i + 1, plus);
			cookie = i + 1;
		}
		free(e[i]);
	}
	free(e);
	put_u32(&c->out, 0);
	put_u32(&c->out, cookie >= (uint64_t)n);
	return ST_OK;
}

uint32_t v3_readdir(struct call *c)
{
	return list(c, false);
}

uint32_t v3_readdirplus(struct call *c)
{
	return list(c, true);
}
