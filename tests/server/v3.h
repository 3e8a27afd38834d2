/* NFS version 3 (RFC 1813): what its files share. */
#ifndef SERVER_V3_H
#define SERVER_V3_H

#include "server.h"

/* The arguments are malformed; nothing was done. */
#define V3_BAD_XDR UINT32_MAX

/* Each decodes its arguments, executes, and puts the body of a success. On
 * failure the body is v3.c's, out of c->node and c->node2. */
typedef uint32_t v3_fn(struct call *c);

v3_fn v3_getattr, v3_setattr, v3_access, v3_readlink, v3_read, v3_write,
	v3_commit, v3_fsstat, v3_fsinfo, v3_pathconf;
v3_fn v3_lookup, v3_create, v3_mkdir, v3_symlink, v3_remove, v3_rmdir,
	v3_rename, v3_link, v3_readdir, v3_readdirplus;

/* The next argument, a file handle. */
uint32_t v3_get_node(struct call *c, struct node **out);
uint32_t v3_get_wish(struct call *c, struct wish *w); /* sattr3 */

void v3_put_handle(struct call *c, struct node *n);
void v3_put_fattr(struct call *c, const struct statx *st);
void v3_put_post(struct call *c, struct node *n); /* post_op_attr */
void v3_put_wcc(struct call *c, struct node *n);  /* wcc_data */

#endif
