/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The NFSAPPEND_* variables, read once per process and immutable after.
 * A bad entry is dropped with one message, when it first matters; good ones
 * beside it stay.
 */
#ifndef NFSAPPEND_CORE_CONFIG_ENV_H
#define NFSAPPEND_CORE_CONFIG_ENV_H

#include <stdbool.h>

#include "core/backend.h"

#define NFSAPPEND_DIR_MAX 1024

/* One DIR=URL of NFSAPPEND_MAP. */
struct nfsappend_map {
	char dir[NFSAPPEND_DIR_MAX]; /* absolute, normal, no trailing '/' */
	unsigned len;
	const char *entry; /* DIR=URL as it was given */
	bool dropped;	   /* bad: what is below it fails with EIO */
	_Atomic bool told; /* and that has been said */
	char why[200];	   /* it is bad */
	bool local;   /* DIR exists on this host as well */
	struct nfsappend_target target;
};

/* An entry of NFSAPPEND_PATHS. */
struct nfsappend_paths {
	char dir[NFSAPPEND_DIR_MAX]; /* absolute, normal, no trailing '/' */
	unsigned len;
	/* "": dir is a file, or what is below it; else the files right in dir
	 * whose name the pattern matches. */
	char pattern[NFSAPPEND_NAME_MAX + 1];
};

enum nfsappend_sharing_setting {
	NFSAPPEND_SHARING_AUTO,
	NFSAPPEND_SHARING_SINGLE,
	NFSAPPEND_SHARING_GUARDED,
	NFSAPPEND_SHARING_LOCKED,
};

struct nfsappend_config {
	struct nfsappend_map *maps; /* longest DIR first */
	unsigned nmaps;
	bool any_local; /* some map's DIR exists on this host */
	struct nfsappend_paths *paths; /* on kernel NFS mounts */
	unsigned npaths;
	enum nfsappend_sharing_setting sharing;
	unsigned timeout_s; /* 0: for ever */
	bool timeout_given; /* else a kernel mount's own counts there */
	bool fallback_fails; /* NFSAPPEND_FALLBACK=fail; for kernel mounts */
	const char *runtime; /* NULL: the default places */
	const char *stats;   /* NULL: none; "stderr" or an absolute path */
};

extern struct nfsappend_config nfsappend_config;

/* From the environment block of the program. 0 or -errno. */
int nfsappend_config_read(char *const envp[]);

/* Why what is below a dropped map fails, once. */
void nfsappend_config_tell_dropped(const struct nfsappend_map *);

/* config_paths.c: NFSAPPEND_PATHS. 0 or -ENOMEM. */
int nfsappend_config_paths(const char *value);
/* Is the absolute, normal path one of them? */
bool nfsappend_paths_match(const char *path);

/* The effective sharing mode for a server of that NFS version. */
enum nfsappend_sharing nfsappend_config_sharing(unsigned version);

/* nfs://host[:port]/path[?args]; 0, or -EINVAL with the reason in why. */
int nfsappend_url_parse(const char *url, struct nfsappend_target *,
	char *why, size_t whylen);

#endif
