/* prog_path CALL ARG... [+ CALL ARG...]...: calls on paths, each answered by
 * one line, whatever comes of it. */
#include "prog.h"
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

/* The names of programs built before glibc 2.33. */
extern int __xstat(int, const char *, struct stat *);
extern int __lxstat(int, const char *, struct stat *);
extern int __fxstatat(int, int, const char *, struct stat *, int);
extern int __xstat64(int, const char *, struct stat64 *);
extern int __lxstat64(int, const char *, struct stat64 *);
extern int __fxstatat64(int, int, const char *, struct stat64 *, int);

extern char **environ;
static int directory = AT_FDCWD; /* set by dir */
static int held = -1;			 /* set by hold */

static void show(const char *call, int result, const struct stat *st)
{
	if (result != 0) {
		report(call, -1);
		return;
	}
	printf("%s mode %o links %ld uid %d gid %d size %ld\n", call,
		st->st_mode, (long)st->st_nlink, (int)st->st_uid,
		(int)st->st_gid, S_ISDIR(st->st_mode) ? 0 : (long)st->st_size);
}

static void call_stat(char **a)
{
	struct stat st;

	show("stat", stat(a[0], &st), &st);
	show("stat64", stat64(a[0], (struct stat64 *)&st), &st);
	show("__xstat", __xstat(1, a[0], &st), &st);
	show("__xstat64", __xstat64(1, a[0], (struct stat64 *)&st), &st);
	show("fstatat", fstatat(directory, a[0], &st, 0), &st);
	show("fstatat64",
		fstatat64(directory, a[0], (struct stat64 *)&st, 0), &st);
	show("__fxstatat", __fxstatat(1, directory, a[0], &st, 0), &st);
	show("__fxstatat64",
		__fxstatat64(1, directory, a[0], (struct stat64 *)&st, 0),
		&st);
}

static void call_lstat(char **a)
{
	struct stat st;

	show("lstat", lstat(a[0], &st), &st);
	show("lstat64", lstat64(a[0], (struct stat64 *)&st), &st);
	show("__lxstat", __lxstat(1, a[0], &st), &st);
	show("__lxstat64", __lxstat64(1, a[0], (struct stat64 *)&st), &st);
	show("fstatat", fstatat(directory, a[0], &st, AT_SYMLINK_NOFOLLOW),
		&st);
}

static void call_statx(char **a)
{
	struct statx stx;

	if (statx(directory, a[0], 0, STATX_BASIC_STATS, &stx) != 0) {
		report("statx", -1);
		return;
	}
	printf("statx mode %o links %u uid %u size %llu\n", stx.stx_mode,
		stx.stx_nlink, stx.stx_uid,
		S_ISDIR(stx.stx_mode) ? 0 : (unsigned long long)stx.stx_size);
}

/* One file, whichever way one asks? */
static void call_identity(char **a)
{
	struct stat by_path, by_fd, by_link;
	struct statx stx;
	int fd = open(a[0], O_WRONLY | O_APPEND);

	if (fd < 0 || stat(a[0], &by_path) || fstat(fd, &by_fd) ||
		lstat(a[0], &by_link) ||
		statx(AT_FDCWD, a[0], 0, STATX_BASIC_STATS, &stx))
		fail("identity");
	printf("identity %d %d %d\n",
		by_path.st_dev == by_fd.st_dev &&
			by_path.st_ino == by_fd.st_ino,
		by_link.st_dev == by_fd.st_dev &&
			by_link.st_ino == by_fd.st_ino,
		makedev(stx.stx_dev_major, stx.stx_dev_minor) ==
				by_fd.st_dev &&
			stx.stx_ino == by_fd.st_ino);
	close(fd);
}

static void call_access(char **a)
{
	static const char letters[] = "xwr";
	int mode = 0;

	for (char *s = a[1]; *s != '\0'; s++)
		mode |= 1 << (strchr(letters, *s) - letters);
	report("access", access(a[0], mode));
	report("faccessat", faccessat(directory, a[0], mode, 0));
	report("faccessat AT_EACCESS",
		faccessat(directory, a[0], mode, AT_EACCESS));
	report("euidaccess", euidaccess(a[0], mode));
	report("eaccess", eaccess(a[0], mode));
}

static void call_mkdir(char **a)
{
	report("mkdir", mkdir(a[0], strtoul(a[1], NULL, 8)));
}

static void call_mkdirat(char **a)
{
	report("mkdirat", mkdirat(directory, a[0], strtoul(a[1], NULL, 8)));
}

static void call_dir(char **a)
{
	directory = open(a[0], O_RDONLY | O_DIRECTORY);
	if (directory < 0)
		fail("dir");
}

static void call_unlink(char **a)
{
	report("unlink", unlink(a[0]));
}

static void call_unlinkat(char **a)
{
	report("unlinkat", unlinkat(directory, a[0], atoi(a[1])));
}

static void call_remove(char **a)
{
	report("remove", remove(a[0]));
}

static void call_rmdir(char **a)
{
	report("rmdir", rmdir(a[0]));
}

static void call_rename(char **a)
{
	report("rename", rename(a[0], a[1]));
}

static void call_renameat(char **a)
{
	report("renameat", renameat(directory, a[0], directory, a[1]));
}

static void call_renameat2(char **a)
{
	report("renameat2", renameat2(directory, a[0], directory, a[1], 0));
}

static void call_link(char **a)
{
	report("link", link(a[0], a[1]));
}

static void call_linkat(char **a)
{
	report("linkat", linkat(directory, a[0], directory, a[1],
				 atoi(a[2])));
}

static void call_symlink(char **a)
{
	report("symlink", symlink(a[0], a[1]));
}

static void call_symlinkat(char **a)
{
	report("symlinkat", symlinkat(a[0], directory, a[1]));
}

static void call_readlink(char **a)
{
	char buf[64];
	ssize_t n = readlink(a[0], buf, 5);

	if (n >= 0)
		printf("readlink %zd %.*s\n", n, (int)n, buf);
	else
		report("readlink", -1);
	n = readlinkat(directory, a[0], buf, sizeof buf);
	if (n >= 0)
		printf("readlinkat %zd %.*s\n", n, (int)n, buf);
	else
		report("readlinkat", -1);
}

static void call_chmod(char **a)
{
	report("chmod", chmod(a[0], strtoul(a[1], NULL, 8)));
}

static void call_fchmodat(char **a)
{
	report("fchmodat", fchmodat(directory, a[0], strtoul(a[1], NULL, 8),
				   atoi(a[2])));
}

static void call_chown(char **a)
{
	report("chown", chown(a[0], atoi(a[1]), atoi(a[2])));
}

static void call_lchown(char **a)
{
	report("lchown", lchown(a[0], atoi(a[1]), atoi(a[2])));
}

static void call_fchownat(char **a)
{
	report("fchownat", fchownat(directory, a[0], atoi(a[1]), atoi(a[2]),
				   atoi(a[3])));
}

static void show_times(const char *call, int result, const char *path)
{
	struct stat st;

	if (result != 0 || stat(path, &st) != 0) {
		report(call, -1);
		return;
	}
	printf("%s %ld.%09ld %ld.%09ld\n", call, (long)st.st_atime,
		st.st_atim.tv_nsec, (long)st.st_mtime, st.st_mtim.tv_nsec);
}

static void call_times(char **a)
{
	struct utimbuf b = {1000000001, 1000000002};
	struct timeval v[2] = {{1000000003, 4000}, {1000000005, 6000}};
	struct timespec t[2] = {{1000000007, 8}, {1000000009, 10}};
	struct timespec omit[2] = {{0, UTIME_OMIT}, {1000000011, 12}};
	struct timespec none[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
	struct timespec bad[2] = {{0, 1000000000}, {0, 0}};
	struct timeval bad_v[2] = {{0, 1000000}, {0, 0}};

	show_times("utime", utime(a[0], &b), a[0]);
	show_times("utimes", utimes(a[0], v), a[0]);
	show_times("utimensat", utimensat(directory, a[0], t, 0), a[0]);
	show_times("utimensat", utimensat(directory, a[0], omit, 0), a[0]);
	show_times("utimensat", utimensat(directory, a[0], none, 0), a[0]);
	show_times("lutimes", lutimes(a[0], v), a[0]);
	show_times("futimesat", futimesat(directory, a[0], v), a[0]);
	report("utimensat", utimensat(directory, a[0], bad, 0));
	report("utimes", utimes(a[0], bad_v));
	report("utime now", utime(a[0], NULL));
}

static void call_truncate(char **a)
{
	report("truncate", truncate(a[0], atol(a[1])));
	report("truncate64", truncate64(a[0], atol(a[1])));
}

static void call_space(char **a)
{
	struct statfs s;
	struct statvfs v;
	int fd = open(a[0], O_RDONLY);

	if (statfs(a[0], &s) != 0 || statvfs(a[0], &v) != 0) {
		report("space", -1);
		return;
	}
	printf("space %d %ld %ld\n",
		s.f_blocks > 0 && s.f_bavail <= s.f_bfree &&
			s.f_bfree <= s.f_blocks &&
			s.f_blocks * s.f_bsize == v.f_blocks * v.f_frsize,
		(long)s.f_namelen, (long)v.f_namemax);
	if (fd >= 0 && (fstatfs(fd, &s) != 0 || fstatvfs(fd, &v) != 0))
		report("space", -1);
	close(fd);
}

static void call_xattr(char **a)
{
	char buf[64];

	report("getxattr", getxattr(a[0], "user.x", buf, sizeof buf));
	report("lgetxattr", lgetxattr(a[0], "user.x", buf, sizeof buf));
	report("setxattr", setxattr(a[0], "user.x", "y", 1, 0));
	report("listxattr", listxattr(a[0], buf, sizeof buf));
	report("removexattr", removexattr(a[0], "user.x"));
}

static void call_mkfifo(char **a)
{
	report("mkfifo", mkfifo(a[0], 0600));
}

static void call_mknod(char **a)
{
	report("mknod", mknod(a[0], S_IFIFO | 0600, 0));
}

static void call_mknod_file(char **a)
{
	report("mknod", mknod(a[0], S_IFREG | 0640, 0));
	report("mknodat", mknodat(directory, a[0], 0640, 0));
}

static void call_bind(char **a)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(un.sun_path, sizeof un.sun_path, "%s", a[0]);
	report("bind", bind(socket(AF_UNIX, SOCK_STREAM, 0),
			       (struct sockaddr *)&un, sizeof un));
}

static void call_watch(char **a)
{
	report("watch", inotify_add_watch(inotify_init(), a[0], IN_CREATE));
}

static void call_chroot(char **a)
{
	report("chroot", chroot(a[0]));
}

static void call_limits(char **a)
{
	errno = 0;
	report("pathconf", pathconf(a[0], _PC_NAME_MAX));
	report("pathconf", pathconf(a[0], _PC_PATH_MAX));
	report("ftok", ftok(a[0], 1) == -1 ? -1 : 0);
}

/* pwd and ls in a directory, by either way to spawn there. */
static void call_spawn_in(char **a)
{
	char *argv[] = {"sh", "-c", "pwd; ls", NULL};
	int fd = open(a[0], O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < 2; i++) {
		posix_spawn_file_actions_t actions;
		pid_t pid;

		posix_spawn_file_actions_init(&actions);
		errno = i == 0 ? posix_spawn_file_actions_addchdir_np(&actions,
					 a[0])
			       : posix_spawn_file_actions_addfchdir_np(&actions,
					 fd);
		if (errno == 0)
			errno = posix_spawn(&pid, "/bin/sh", &actions, NULL,
				argv, environ);
		if (errno == 0)
			waitpid(pid, NULL, 0);
		report("spawn_in", errno == 0 ? 0 : -1);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(fd);
}

static void call_open(char **a)
{
	int fd = openat(directory, a[0], (int)strtoul(a[1], NULL, 0), 0644);

	report("open", fd < 0 ? -1 : 0);
	if (fd >= 0)
		close(fd);
}

/* A descriptor of a file that is removed, or replaced, under it. */
static void call_hold(char **a)
{
	held = open(a[0], O_WRONLY | O_APPEND);
	report("hold", held < 0 ? -1 : 0);
}

static void call_append(char **a)
{
	report("append", write(held, a[0], strlen(a[0])));
}

static void call_real_user(char **a)
{
	report("setresuid", setresuid(strtoul(a[0], NULL, 10), -1, -1));
}

static const struct {
	const char *name;
	void (*call)(char **);
	int arguments;
} calls[] = {
	{"stat", call_stat, 1},
	{"lstat", call_lstat, 1},
	{"statx", call_statx, 1},
	{"identity", call_identity, 1},
	{"access", call_access, 2},
	{"mkdir", call_mkdir, 2},
	{"mkdirat", call_mkdirat, 2},
	{"unlink", call_unlink, 1},
	{"unlinkat", call_unlinkat, 2},
	{"remove", call_remove, 1},
	{"rmdir", call_rmdir, 1},
	{"rename", call_rename, 2},
	{"renameat", call_renameat, 2},
	{"renameat2", call_renameat2, 2},
	{"link", call_link, 2},
	{"linkat", call_linkat, 3},
	{"symlink", call_symlink, 2},
	{"symlinkat", call_symlinkat, 2},
	{"readlink", call_readlink, 1},
	{"chmod", call_chmod, 2},
	{"fchmodat", call_fchmodat, 3},
	{"chown", call_chown, 3},
	{"lchown", call_lchown, 3},
	{"fchownat", call_fchownat, 4},
	{"times", call_times, 1},
	{"truncate", call_truncate, 2},
	{"space", call_space, 1},
	{"xattr", call_xattr, 1},
	{"mkfifo", call_mkfifo, 1},
	{"mknod", call_mknod, 1},
	{"open", call_open, 2},
	{"mknod_file", call_mknod_file, 1},
	{"bind", call_bind, 1},
	{"watch", call_watch, 1},
	{"chroot", call_chroot, 1},
	{"limits", call_limits, 1},
	{"spawn_in", call_spawn_in, 1},
	{"hold", call_hold, 1},
	{"append", call_append, 1},
	{"dir", call_dir, 1},
	{"real_user", call_real_user, 1},
};

int main(int argc, char **argv)
{
	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (argv++; *argv != NULL;) {
		size_t i, n = sizeof calls / sizeof *calls;

		for (i = 0; i < n && strcmp(calls[i].name, *argv); i++)
			;
		if (i == n) {
			fprintf(stderr, "no call %s\n", *argv);
			return 2;
		}
		argv++;
		for (int k = 0; k < calls[i].arguments; k++)
			if (argv[k] == NULL)
				return 2;
		errno = 0;
		calls[i].call(argv);
		argv += calls[i].arguments;
		if (*argv != NULL && strcmp(*argv++, "+") != 0)
			return 2;
	}
	return 0;
}
