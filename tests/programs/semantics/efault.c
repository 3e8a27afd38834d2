/* Buffers that are not there: nothing is written, nobody crashes. */
#include "semantics.h"
#include <sys/mman.h>
#include <sys/uio.h>

static int log_fd;
/* The compiler may not know where they point. */
static void *volatile no_buffer, *volatile unmapped = (void *)8;

/*
 * Where a good part comes first, a kernel may write it or refuse all: both are
 * right if what it says is what the file holds.  The file is then cut back.
 */
static void consistent(const char *what, long before, ssize_t ret, long good)
{
	struct stat st;
	long grown;

	if (fstat(log_fd, &st))
		die("fstat");
	grown = st.st_size - before;
	note("%s: %d", what,
		(ret == -1 && errno == EFAULT && grown == 0) ||
			(ret > 0 && ret <= good && grown == ret));
	if (ftruncate(log_fd, before))
		die("ftruncate");
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	char *map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *hole = map + 8192;
	struct iovec iov[3] = {{"good\n", 5}, {hole, 5}, {"good\n", 5}};
	long size;

	if (map == MAP_FAILED)
		die("mmap");
	memset(map, 'm', 3 * 4096);
	if (mprotect(hole, 4096, PROT_NONE))
		die("mprotect");
	log_fd = open_log(dir, "log", 0);
	append(log_fd, "before\n");
	size = position(log_fd);
	note_call("NULL", write(log_fd, no_buffer, 5));
	note_call("NULL, no bytes", write(log_fd, no_buffer, 0));
	note_call("unmapped", write(log_fd, unmapped, 100));
	note_call("no access", write(log_fd, hole, 10));
	note_call("kernel's address", write(log_fd, (void *)-4096L, 10));
	note_call("pwrite", pwrite(log_fd, hole, 10, 0));
	note_call("bad vector", writev(log_fd, unmapped, 2));
	consistent("good, then bad", size, write(log_fd, hole - 100, 200), 100);
	consistent("pages, then bad", size, write(log_fd, map, 10000), 8192);
	consistent("good vector, then bad", size, writev(log_fd, iov, 3), 5);
	append(log_fd, "after\n");
	note_call("end", lseek(log_fd, 0, SEEK_END));
	return 0;
}
