/* append-libnfs: libnfs's own way to append durably, on an URL: nfs_write()
 * on a file opened O_APPEND|O_SYNC, which is a GETATTR and a WRITE. */
#include <fcntl.h>
#include <stdlib.h>

#include <nfsc/libnfs.h>

#include "loop.h"

struct way {
	struct nfs_context *nfs;
	struct nfsfh *fh;
	const char *file;
};

struct way *way_begin(const char *target, struct shared *shared)
{
	struct way *way = calloc(1, sizeof *way);
	struct nfs_url *url;

	(void)shared;
	way->nfs = nfs_init_context();
	url = nfs_parse_url_full(way->nfs, target);
	if (url == NULL)
		die("%s: %s", target, nfs_get_error(way->nfs));
	if (nfs_mount(way->nfs, url->server, url->path) != 0)
		die("mount: %s", nfs_get_error(way->nfs));
	way->file = url->file;
	return way;
}

void way_open(struct way *way)
{
	if (nfs_open2(way->nfs, way->file,
		    O_WRONLY | O_APPEND | O_CREAT | O_SYNC, 0644, &way->fh))
		die("open: %s", nfs_get_error(way->nfs));
}

void way_append(struct way *way, const void *record, size_t size)
{
	const char *at = record;
	int n;

	/* A record longer than wsize comes back short. */
	for (; size > 0; at += n, size -= (size_t)n) {
		n = nfs_write(way->nfs, way->fh, size, (void *)at);
		if (n <= 0)
			die("write: %s", nfs_get_error(way->nfs));
	}
}

void way_close(struct way *way)
{
	if (nfs_close(way->nfs, way->fh) != 0)
		die("close: %s", nfs_get_error(way->nfs));
}
