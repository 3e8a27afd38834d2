/* prog_raw DIR: calls on paths in DIR and on descriptors of what is there, by
 * syscall(2), as programs make them whose libc lacks a name. */
#include "prog.h"
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <utime.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define RAW(name, ...)                                                         \
	do {                                                                   \
		errno = 0;                                                     \
		result = syscall(SYS_##name, __VA_ARGS__);                     \
		report(#name, result < 0 ? -1 : 0);                            \
	} while (0)

int main(int argc, char **argv)
{
	struct open_how how = {.flags = O_WRONLY | O_CREAT, .mode = 0640};
	struct timespec t[2] = {{1000000001, 2}, {1000000003, 4}};
	struct timeval v[2] = {{1000000005, 6}, {1000000007, 8}};
	struct utimbuf u = {1000000009, 1000000010};
	struct statfs space;
	struct stat st;
	char buf[4096];
	long result;
	int fd, out;

	if (argc < 2 || chdir(argv[1]) != 0)
		fail("chdir");
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(buf, sizeof buf, "%s/how", argv[1]);
	RAW(openat2, AT_FDCWD, buf, &how, sizeof how);
	fd = (int)result;
	how.flags = how.mode = 0;
	RAW(openat2, AT_FDCWD, "none", &how, sizeof how);
	RAW(ftruncate, fd, 7L);
	RAW(fchmod, fd, 0604);
	RAW(fchown, fd, 1, 2);
	RAW(fstat, fd, &st);
	printf("mode %o size %ld\n", st.st_mode, (long)st.st_size);
	RAW(fstatfs, fd, &space);
	RAW(faccessat2, AT_FDCWD, "how", R_OK, AT_EACCESS);
	RAW(utimensat, AT_FDCWD, "how", t, 0);
	RAW(utimensat, fd, NULL, t, 0);
	RAW(mknodat, AT_FDCWD, "node", S_IFREG | 0620, 0);
	RAW(truncate, "node", 3L);
	RAW(statfs, "node", &space);
	RAW(chroot, "none");
	RAW(getxattr, "none", "user.x", buf, 10L);
	RAW(execve, "node", argv, NULL);
	result = syscall(SYS_getcwd, buf, sizeof buf);
	printf("getcwd %s %d\n", buf, result == (long)strlen(buf) + 1);
#ifdef SYS_creat
	RAW(creat, "creat", 0644);
	RAW(link, "creat", "link");
	RAW(symlink, "creat", "symlink");
	RAW(chmod, "creat", 0611);
	RAW(chown, "creat", 3, 4);
	RAW(lchown, "symlink", 5, 6);
	RAW(utime, "creat", &u);
	RAW(utimes, "creat", v);
	RAW(futimesat, AT_FDCWD, "creat", v);
	RAW(mknod, "node", S_IFREG | 0600, 0);
#endif
	/* Whatever copies: the file's bytes, or nothing. */
	fd = open("from", O_RDWR | O_CREAT | O_TRUNC, 0644);
	out = open("to", O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (write(fd, "12345", 5) != 5 || lseek(fd, 0, SEEK_SET) != 0)
		fail("write");
	if (syscall(SYS_copy_file_range, fd, NULL, out, NULL, 5L, 0) < 0 &&
		syscall(SYS_sendfile, out, fd, NULL, 5L) < 0 &&
		write(out, buf, (size_t)syscall(SYS_pread64, fd, buf, 5L, 0L)) < 0)
		fail("copy");
	if (fstat(out, &st) != 0)
		fail("fstat");
	printf("copied %ld\n", (long)st.st_size);
	return 0;
}
