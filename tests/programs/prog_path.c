/* prog_path CALL ARG... [+ CALL ARG...]...: calls on paths, each answered by
 * one line, whatever comes of it. */
#include "prog.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The names of programs built before glibc 2.33. */
extern int __xstat(int, const char *, struct stat *);
extern int __lxstat(int, const char *, struct stat *);
extern int __fxstatat(int, int, const char *, struct stat *, int);
extern int __xstat64(int, const char *, struct stat64 *);
extern int __lxstat64(int, const char *, struct stat64 *);
extern int __fxstatat64(int, int, const char *, struct stat64 *, int);

static int directory = AT_FDCWD; /* set by dir */

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
