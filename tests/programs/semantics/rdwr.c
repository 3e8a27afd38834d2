/* O_RDWR|O_APPEND reads its own appends. */
#include "semantics.h"
#include <sys/uio.h>

static int log_fd;
/* The compiler may not know where it points. */
static void *volatile unmapped = (void *)8;

static void show_read(size_t size)
{
	char text[256];
	ssize_t length = read(log_fd, text, size);

	note_call("read", length);
	if (length > 0)
		note("text %.*s", (int)length, text);
	note_call("offset", position(log_fd));
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	char a[5], b[64], text[128];
	struct iovec iov[2] = {{a, sizeof(a)}, {b, sizeof(b)}};
	ssize_t length;
	int copy;

	seed(dir, "log", "0123456789");
	log_fd = open_log(dir, "log", O_RDWR);
	note("access %d", fcntl(log_fd, F_GETFL) & O_ACCMODE);
	show_read(4);
	append(log_fd, "|one");
	note_call("offset", position(log_fd));
	show_read(10);
	note_call("seek", lseek(log_fd, 8, SEEK_SET));
	show_read(100);
	append(log_fd, "|two");
	length = pread(log_fd, text, sizeof(text), 9);
	note("pread %.*s", (int)length, text);
	note_call("offset", position(log_fd));
	note_call("seek", lseek(log_fd, 0, SEEK_SET));
	length = readv(log_fd, iov, 2);
	note("readv %zd: %.5s %.*s", length, a, (int)length - 5, b);
	length = preadv(log_fd, iov, 2, 10);
	note("preadv %zd: %.5s %.*s", length, a, (int)length - 5, b);
	length = preadv2(log_fd, iov, 2, 10, 0);
	note("preadv2 %zd: %.5s", length, a);
	copy = dup(log_fd);
	note_call("seek", lseek(copy, 2, SEEK_SET));
	show_read(3);
	append(copy, "|three");
	note_call("seek", lseek(log_fd, -9, SEEK_CUR));
	show_read(100);
	note_call("past the end", pread(log_fd, text, 10, 1000));
	note_call("negative", pread(log_fd, text, 10, -1));
	note_call("bad buffer", read(log_fd, unmapped, 10) < 0 ? -1 : 0);
	copy = open_log(dir, "log", 0);
	note_call("read from O_WRONLY", read(copy, text, 1));
	note_call("pread from O_WRONLY", pread(copy, text, 1, 0));
	return 0;
}
