/*
 * The export: a folder of the local file system, so that a test can look at
 * the files by other means. A file handle holds inode number and birth time:
 * it stays good over renames and restarts of the server, and goes stale with
 * the file.
 */
#ifndef SERVER_STORE_H
#define SERVER_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "xdr.h"

#define HANDLE_SIZE 24
#define NAME_SIZE 1025 /* longer names are malformed */

struct node {
	struct node *next;
	uint64_t ino, birth;
	uint32_t birth_nsec;
	uint64_t changes; /* by us: two in one tick of ctime must differ */
	char *path;	  /* owned; below the export, "." for its root */
};

struct cred { /* AUTH_SYS, RFC 5531 appendix A */
	uint32_t uid, gid, n_groups, groups[16];
};

void store_open(const char *folder);
struct node *store_root(void);
const char *store_name(const struct node *n); /* last component */

/* ST_OK, or ST_BADHANDLE, ST_STALE. Nodes live as long as the program. */
uint32_t store_by_handle(const void *fh, uint32_t len, struct node **out);
void store_handle(const struct node *n, uint8_t out[HANDLE_SIZE]);
/* The name in the directory; "." and ".." too, but never above the root. */
uint32_t store_lookup(struct node *dir, const char *name, struct node **out);
uint32_t store_mount(const char *path, struct node **out);

uint32_t store_stat(const struct node *n, struct statx *st);
uint64_t store_change(const struct node *n, const struct statx *st);

/* The local permission checks are those of the caller, as on a real server:
 * fsuid, fsgid and groups, where we may set them. */
void store_become(const struct cred *cred);
void store_become_self(void);

/* ST_INVAL, ST_ACCES, ST_NAMETOOLONG, ST_EXIST for what is no plain name. */
uint32_t store_check_name(const char *name);

/* What a client wants to set (sattr3, fattr4). */
struct wish {
	bool set_mode, set_uid, set_gid, set_size;
	uint32_t mode, uid, gid;
	uint64_t size;
	struct timespec atime, mtime; /* UTIME_OMIT, UTIME_NOW or a time */
};

#define NO_WISH                                                                \
	((struct wish){                                                        \
		.atime.tv_nsec = UTIME_OMIT, .mtime.tv_nsec = UTIME_OMIT})

enum how { HOW_UNCHECKED, HOW_GUARDED, HOW_EXCLUSIVE };

uint32_t store_create(struct node *dir, const char *name, enum how how,
	const struct wish *wish, uint64_t verifier, struct node **out,
	bool *created);
uint32_t store_mkdir(struct node *dir, const char *name,
	const struct wish *wish, struct node **out);
uint32_t store_symlink(struct node *dir, const char *name, const char *target,
	struct node **out);
uint32_t store_link(struct node *n, struct node *dir, const char *name);
uint32_t store_remove(struct node *dir, const char *name, bool directory);
uint32_t store_rename(struct node *from, const char *name, struct node *to,
	const char *new_name);
uint32_t store_set(struct node *n, const struct wish *wish);
uint32_t store_readlink(struct node *n, char *out, size_t size);

/* Both set *count to what was done. */
uint32_t store_read(
	struct node *n, uint64_t offset, void *out, uint32_t *count, bool *eof);
uint32_t store_write(struct node *n, uint64_t offset, const void *data,
	uint32_t *count, bool sync);

/* What another host does to the file; never fails loudly. */
void store_append_other(struct node *n, uint64_t bytes);
void store_truncate_other(struct node *n, uint64_t size);
void store_remove_other(struct node *n);

int store_dirfd(void); /* of the export's root, for statvfs and scans */
int store_open_node(const struct node *n, int flags); /* -1 and errno */

#endif
