/* syscall(2) with write, dup and close calls. */
#include "semantics.h"
#include <sys/syscall.h>
#include <sys/uio.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct iovec iov[2] = {{"writev ", 7}, {"by syscall\n", 11}};
	int log = open_log(dir, "log", 0), copy, local;
	int both = open_log(dir, "both", O_RDWR);
	char text[32] = "";
	struct iovec in = {text, sizeof(text) - 1};
	struct stat st;

	note_call("write", syscall(SYS_write, log, "write\n", 6));
	note_call("offset", position(log));
	note_call("writev", syscall(SYS_writev, log, iov, 2));
	note_call("pwrite64", syscall(SYS_pwrite64, log, "pwrite64\n", 9, 0L));
	note_call("pwritev", syscall(SYS_pwritev, log, iov, 2, 0L, 0L));
	note_call("pwritev2", syscall(SYS_pwritev2, log, iov, 2, 0L, 0L, 0));
	note_call("lseek", syscall(SYS_lseek, log, 0L, SEEK_CUR));
	append(both, "0123456789\n");
	note_call("preadv", syscall(SYS_preadv, both, &in, 1, 3L, 0L));
	note_call("preadv2", syscall(SYS_preadv2, both, &in, 1, 4L, 0L, 0));
	note("%s", text);
	note_call("ftruncate", syscall(SYS_ftruncate, both, 5L));
	note_call("fstat", syscall(SYS_fstat, both, &st));
	note_call("size", st.st_size);
	note_call("fchmod", syscall(SYS_fchmod, both, 0640));
	note_call("sendfile to it", syscall(SYS_sendfile, log, both, NULL, 3L));
	note_call("copy_file_range to it",
		syscall(SYS_copy_file_range, both, NULL, log, NULL, 3L, 0));
	copy = syscall(SYS_dup, log);
	append(copy, "dup\n");
	note_call("dup3", syscall(SYS_dup3, log, 40, O_CLOEXEC));
	append(40, "dup3\n");
#ifdef SYS_dup2
	note_call("dup2", syscall(SYS_dup2, log, 41));
#else
	note_call("dup2", dup2(log, 41));
#endif
	append(41, "dup2\n");
	note_call("fcntl", syscall(SYS_fcntl, log, F_DUPFD, 42));
	append(42, "fcntl\n");
	note_call("close", syscall(SYS_close, copy));
	local = open_local();
	note("same number %d", local == copy);
	append(local, "a local file");
	note_local(local);
	local = open_local();
	note_call("dup3", syscall(SYS_dup3, local, 40, 0));
	append(40, "a local file over the log's number");
	note_local(40);
	note_call("dup3", syscall(SYS_dup3, log, local, 0) == local);
	append(local, "the log over a local file's number\n");
	append(log, "end\n");
	note_call("write", syscall(SYS_write, -1, "x", 1));
	note_call("bad buffer", syscall(SYS_write, log, 8L, 10));
	return 0;
}
