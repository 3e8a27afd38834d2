/* append-libc: what an unmodified program does, on a path. O_SYNC, so that it
 * asks the kernel for no less than nfsappend gives. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

struct way {
	const char *path;
	int fd;
};

struct way *way_begin(const char *target, struct shared *shared)
{
	struct way *way = calloc(1, sizeof *way);

	(void)shared;
	way->path = target;
	return way;
}

void way_open(struct way *way)
{
	way->fd = open(way->path,
		O_WRONLY | O_APPEND | O_CREAT | O_SYNC | O_CLOEXEC, 0644);
	if (way->fd < 0)
		die("open %s: %s", way->path, strerror(errno));
}

void way_append(struct way *way, const void *record, size_t size)
{
	ssize_t n = write(way->fd, record, size);

	if (n != (ssize_t)size)
		die("write: %s", n < 0 ? strerror(errno) : "short");
}

void way_close(struct way *way)
{
	if (close(way->fd) != 0)
		die("close: %s", strerror(errno));
}
