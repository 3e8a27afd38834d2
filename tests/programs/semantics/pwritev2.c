/* The flags of pwritev2; RWF_NOAPPEND alone honours the offset. */
#include "semantics.h"
#include <sys/uio.h>

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif

static int log_fd;

static void try(const char *what, const char *text, off_t offset, int flags)
{
	struct iovec iov[2] = {{(void *)text, strlen(text)}, {"\n", 1}};

	note_call(what, pwritev2(log_fd, iov, 2, offset, flags));
	note_call("offset", position(log_fd));
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);

	seed(dir, "log", "0123456789012345678901234567890\n");
	log_fd = open_log(dir, "log", 0);
	try("none", "none", -1, 0);
	try("none, at 0", "none, at 0", 0, 0);
	try("RWF_DSYNC", "dsync", -1, RWF_DSYNC);
	try("RWF_SYNC", "sync", -1, RWF_SYNC);
	try("RWF_SYNC, at 2", "sync, at 2", 2, RWF_SYNC);
	try("RWF_APPEND", "append", -1, RWF_APPEND);
	try("RWF_APPEND, at 1", "append, at 1", 1, RWF_APPEND);
	try("RWF_NOAPPEND, at 0", "NO", 0, RWF_NOAPPEND);
	try("RWF_NOAPPEND, at 8", "APPEND", 8, RWF_NOAPPEND | RWF_DSYNC);
	try("unknown flag", "unknown", 0, 0x40000000);
	try("negative", "negative", -2, 0);
	try("none", "the end", -1, 0);
	return 0;
}
