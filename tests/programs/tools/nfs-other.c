/*
 * nfs-other URL rename OLD NEW | truncate NAME SIZE | unlink NAME: changes a
 * file in the folder of URL as another NFS client would. What is done behind
 * the server's back shows only when its caches expire.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <nfsc/libnfs.h>

static void fail(struct nfs_context *nfs, const char *what)
{
	fprintf(stderr, "nfs-other: %s: %s\n", what, nfs_get_error(nfs));
	exit(1);
}

int main(int argc, char **argv)
{
	struct nfs_context *nfs = nfs_init_context();
	struct nfs_url *url;
	char name[4096], to[4096];
	int r;

	if (argc < 4 || !nfs) {
		fprintf(stderr, "usage: nfs-other URL COMMAND NAME [ARG]\n");
		return 2;
	}
	url = nfs_parse_url_dir(nfs, argv[1]);
	if (!url)
		fail(nfs, "URL");
	if (nfs_mount(nfs, url->server, url->path))
		fail(nfs, "mount");
	snprintf(name, sizeof(name), "/%s", argv[3]);
	snprintf(to, sizeof(to), "/%s", argc > 4 ? argv[4] : "");
	if (!strcmp(argv[2], "rename"))
		r = nfs_rename(nfs, name, to);
	else if (!strcmp(argv[2], "truncate"))
		r = nfs_truncate(nfs, name, argc > 4 ? atoll(argv[4]) : 0);
	else
		r = nfs_unlink(nfs, name);
	if (r)
		fail(nfs, argv[2]);
	return 0;
}
