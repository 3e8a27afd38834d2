/*
 * nfs-rename URL OLD NEW: renames a file in the folder of URL as another NFS
 * client would.  A rename behind the server's back shows only when its caches
 * expire.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <nfsc/libnfs.h>

static void fail(struct nfs_context *nfs, const char *what)
{
	fprintf(stderr, "nfs-rename: %s: %s\n", what, nfs_get_error(nfs));
	exit(1);
}

int main(int argc, char **argv)
{
	struct nfs_context *nfs = nfs_init_context();
	struct nfs_url *url;
	char from[4096], to[4096];

	if (argc != 4 || !nfs) {
		fprintf(stderr, "usage: nfs-rename URL OLD NEW\n");
		return 2;
	}
	url = nfs_parse_url_dir(nfs, argv[1]);
	if (!url)
		fail(nfs, "URL");
	if (nfs_mount(nfs, url->server, url->path))
		fail(nfs, "mount");
	snprintf(from, sizeof(from), "/%s", argv[2]);
	snprintf(to, sizeof(to), "/%s", argv[3]);
	if (nfs_rename(nfs, from, to))
		fail(nfs, "rename");
	return 0;
}
