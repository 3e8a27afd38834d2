/* prog_write FILE: appends by each of write, writev, pwrite, a write of zero
   bytes and one from a bad address, and says what each returned and where the
   offset and the size stand after it. */
#include "prog.h"
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

static void state(int fd, const char *call, long result)
{
	struct stat st;

	report(call, result);
	if (fstat(fd, &st) < 0)
		fail("fstat");
	printf("  offset %ld size %ld\n", (long)lseek(fd, 0, SEEK_CUR),
		(long)st.st_size);
}

int main(int argc, char **argv)
{
	struct iovec iov[3] = {{"write", 5}, {"", 0}, {"v\n", 2}};
	char *volatile nowhere = (char *)(uintptr_t)1;
	int fd;

	if (argc < 2)
		return 2;
	fd = open_append(argv[1]);
	state(fd, "open", 0);
	state(fd, "write", write(fd, "write\n", 6));
	state(fd, "writev", writev(fd, iov, 3));
	state(fd, "pwrite", pwrite(fd, "pwrite\n", 7, 0));
	state(fd, "write of nothing", write(fd, "", 0));
	state(fd, "write from nowhere", write(fd, nowhere, 10));
	report("lseek to the end", lseek(fd, 0, SEEK_END));
	report("lseek to 2", lseek(fd, 2, SEEK_SET));
	state(fd, "write again", write(fd, "again\n", 6));
	report("close", close(fd));
	report("close again", close(fd));
	report("write to closed", write(fd, "x", 1));
	return 0;
}
