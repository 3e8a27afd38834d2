/* prog_tree CALL ARG... [+ CALL ARG...]...: what libc does by itself with
 * directories; names are sorted, since no order is promised. */
#include "prog.h"
#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <sys/stat.h>

static void sorted(char **names, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = i; k > 0 && strcmp(names[k], names[k - 1]) < 0; k--) {
			char *name = names[k];

			names[k] = names[k - 1];
			names[k - 1] = name;
		}
	for (int i = 0; i < n; i++) {
		printf("  %s\n", names[i]);
		free(names[i]);
	}
}

/* The names, their types, and whether d_ino is st_ino. */
static void list(DIR *d, int only)
{
	char *names[300];
	int n = 0;
	struct dirent *e;
	struct stat st;

	errno = 0;
	while (n < only && (e = readdir(d)) != NULL) {
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			fail("fstatat");
		/* The parent of the folder of a test may be anything. */
		if (asprintf(&names[n++], "%s %d %d", e->d_name, e->d_type,
			    e->d_ino == st.st_ino ||
				    strcmp(e->d_name, "..") == 0) < 0)
			fail("asprintf");
	}
	if (errno != 0)
		fail("readdir");
	sorted(names, n);
}

static void call_list(char **a)
{
	DIR *d = opendir(a[0]);

	report("opendir", d == NULL ? -1 : 0);
	if (d == NULL)
		return;
	list(d, 300);
	rewinddir(d);
	list(d, 300);
	report("closedir", closedir(d));
}

static void call_fdlist(char **a)
{
	int fd = open(a[0], O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	report("fdopendir", d == NULL ? -1 : 0);
	if (d == NULL)
		return;
	printf("dirfd %d\n", dirfd(d) == fd);
	list(d, 300);
	report("closedir", closedir(d));
	report("close", close(fd));
}

/* From each position on there is as much as there was after it. */
static void call_seek(char **a)
{
	DIR *d = opendir(a[0]);
	long at[300];
	char *names[300];
	int n = 0, wrong = 0;
	struct dirent *e;

	if (d == NULL)
		fail("opendir");
	for (at[0] = telldir(d); (e = readdir(d)) != NULL; at[++n] = telldir(d))
		names[n] = strdup(e->d_name);
	for (int i = n; i >= 0; i--) {
		seekdir(d, at[i]);
		for (int k = i; k < n; k++) {
			e = readdir(d);
			wrong += e == NULL || strcmp(e->d_name, names[k]) != 0;
		}
		wrong += readdir(d) != NULL;
	}
	printf("seek %d entries %d wrong\n", n, wrong);
	closedir(d);
}

static int no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void call_scandir(char **a)
{
	struct dirent **names;
	int n = scandir(a[0], &names, no_dots, alphasort);

	report("scandir", n);
	for (int i = 0; i < n; i++)
		printf("  %s %d\n", names[i]->d_name, names[i]->d_type);
}

static int glob_error(const char *path, int error)
{
	printf("glob error %s %s\n", path, error_name(error));
	return 0;
}

static void call_glob(char **a)
{
	glob_t g;
	int r = glob(a[0], GLOB_MARK, glob_error, &g);

	printf("glob %d\n", r);
	for (size_t i = 0; r == 0 && i < g.gl_pathc; i++)
		printf("  %s\n", g.gl_pathv[i]);
	globfree(&g);
}

static char *visited[300];
static int visits;

static int visit(const char *path, const struct stat *st, int type,
	struct FTW *ftw)
{
	if (asprintf(&visited[visits++], "%s %s %d %d %o", path,
		    path + (ftw != NULL && ftw->level > 0 ? ftw->base : 0),
		    type,
		    ftw != NULL ? ftw->level : 0,
		    type == FTW_NS ? 0 : st->st_mode) < 0)
		fail("asprintf");
	return 0;
}

static int plain_visit(const char *path, const struct stat *st, int type)
{
	return visit(path, st, type, NULL);
}

static int stop(const char *path, const struct stat *st, int type,
	struct FTW *ftw)
{
	(void)path, (void)st, (void)type;
	return ftw->level == 1 ? 42 : 0;
}

/* The working directory is the one that the file is in. */
static int here(const char *path, const struct stat *st, int type,
	struct FTW *ftw)
{
	struct stat again;

	(void)type;
	if (ftw->level > 0 &&
		(lstat(path + ftw->base, &again) != 0 ||
			again.st_ino != st->st_ino))
		printf("not here: %s\n", path);
	return 0;
}

static void call_nftw(char **a)
{
	report("ftw", ftw(a[0], plain_visit, 10));
	sorted(visited, visits);
	visits = 0;
	report("nftw", nftw(a[0], visit, 10, 0));
	sorted(visited, visits);
	visits = 0;
	report("nftw FTW_PHYS", nftw(a[0], visit, 10, FTW_PHYS));
	sorted(visited, visits);
	visits = 0;
	report("nftw FTW_DEPTH",
		nftw(a[0], visit, 10, FTW_PHYS | FTW_DEPTH | FTW_MOUNT));
	sorted(visited, visits);
	visits = 0;
	report("nftw stop", nftw(a[0], stop, 10, FTW_PHYS));
	report("nftw FTW_CHDIR", nftw(a[0], here, 10, FTW_PHYS | FTW_CHDIR));
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Walks it, follows the links named "up", leaves "empty" out, and goes twice to
 * "file". */
static void fts_walk(char **roots, const char *what, int options)
{
	FTS *fts = fts_open(roots, options, by_name);
	FTSENT *e, *c;
	int again = 0;

	report(what, fts == NULL ? -1 : 0);
	if (fts == NULL)
		return;
	for (c = fts_children(fts, 0); c != NULL; c = c->fts_link)
		printf("  root %s %d\n", c->fts_name, c->fts_info);
	while (errno = 0, (e = fts_read(fts)) != NULL) {
		printf("  %s %s %s %d level %d %s%s\n", e->fts_path,
			e->fts_level > 0 ? e->fts_name : "", e->fts_info == FTS_DC ? "cycle" : "",
			e->fts_info, e->fts_level, error_name(e->fts_errno),
			e->fts_info == FTS_F && !(options & FTS_NOSTAT) &&
					e->fts_statp->st_size > 0
				? " filled" : "");
		if (!strcmp(e->fts_name, "up") && e->fts_info == FTS_SL)
			fts_set(fts, e, FTS_FOLLOW);
		/* Where glibc's own gives the path back as it found it. */
		if (!strcmp(e->fts_name, "empty") && !(options & FTS_SEEDOT))
			fts_set(fts, e, FTS_SKIP);
		if (!strcmp(e->fts_name, "file") && e->fts_info == FTS_F &&
			again++ == 0)
			fts_set(fts, e, FTS_AGAIN);
		if (e->fts_info != FTS_D)
			continue;
		for (c = fts_children(fts, e->fts_level % 2 ? 0 : FTS_NAMEONLY);
			c != NULL; c = c->fts_link) {
			printf("    child %s\n", c->fts_name);
			if (!strcmp(c->fts_name, "dangling"))
				fts_set(fts, c, FTS_SKIP);
		}
	}
	report("fts_read", errno != 0 ? -1 : 0);
	report("fts_children 7", fts_children(fts, 7) == NULL ? -1 : 0);
	report("fts_close", fts_close(fts));
	fts = fts_open(roots, options, NULL);
	if (fts != NULL) {
		fts_read(fts);
		fts_read(fts);
		report("fts_close in the middle", fts_close(fts));
	}
}

static void call_fts(char **a)
{
	char *roots[] = {a[0], "/dev/null", NULL};

	fts_walk(roots, "physical", FTS_PHYSICAL | FTS_NOCHDIR);
	fts_walk(roots, "logical", FTS_LOGICAL | FTS_NOCHDIR);
	fts_walk(roots, "follow", FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW);
	fts_walk(roots, "dots", FTS_PHYSICAL | FTS_NOCHDIR | FTS_SEEDOT);
	fts_walk(roots, "xdev", FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV);
	fts_walk(roots, "nostat", FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT);
}

static void call_realpath(char **a)
{
	char buf[4096], *made = canonicalize_file_name(a[0]);

	if (realpath(a[0], buf) == NULL) {
		report("realpath", -1);
		return;
	}
	printf("realpath %s %d\n", buf, made != NULL && !strcmp(made, buf));
}

static void call_temporary(char **a)
{
	char path[500];
	struct stat st;
	int fd;

	snprintf(path, sizeof path, "%s/a.XXXXXX", a[0]);
	fd = mkstemp(path);
	report("mkstemp", fd < 0 ? -1 : 0);
	if (fd >= 0) {
		append(fd, "some", 4);
		fstat(fd, &st);
		printf("  %o %ld %ld\n", st.st_mode, (long)st.st_size,
			(long)lseek(fd, 0, SEEK_CUR));
		report("unlink", unlink(path));
		close(fd);
	}
	snprintf(path, sizeof path, "%s/b.XXXXXX.log", a[0]);
	fd = mkostemps(path, 4, O_APPEND | O_CLOEXEC);
	report("mkostemps", fd < 0 ? -1 : 0);
	if (fd >= 0) {
		printf("  %d %d %s\n", fcntl(fd, F_GETFD),
			fcntl(fd, F_GETFL) & (O_APPEND | O_ACCMODE),
			path + strlen(path) - 4);
		report("unlink", unlink(path));
		close(fd);
	}
	snprintf(path, sizeof path, "%s/c.XXXXXX", a[0]);
	report("mkdtemp", mkdtemp(path) == NULL ? -1 : 0);
	if (stat(path, &st) == 0) {
		printf("  %o\n", st.st_mode);
		report("rmdir", rmdir(path));
	}
	strcpy(path, "no letters");
	report("mkstemp", mkstemp(path));
}

static void call_cd(char **a)
{
	char buf[4096];
	char *made;

	report("chdir", chdir(a[0]));
	made = getcwd(NULL, 0);
	if (made == NULL)
		fail("getcwd");
	printf("  %s\n", made);
	report("getcwd", getcwd(buf, strlen(made)) == NULL ? -1 : 0);
	report("getcwd", getcwd(buf, 0) == NULL ? -1 : 0);
	if (getcwd(buf, strlen(made) + 1) == NULL || strcmp(buf, made) != 0)
		fail("getcwd");
	free(made);
	made = get_current_dir_name();
	printf("  %s\n", made);
}

static void call_fcd(char **a)
{
	int fd = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[4096];

	report("fchdir", fchdir(fd));
	printf("  %s\n", getcwd(buf, sizeof buf));
	close(fd);
}

static void call_back(char **a)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[4096];

	if (fd < 0 || chdir(a[0]) != 0 || fchdir(fd) != 0)
		fail("back");
	printf("back %s\n", getcwd(buf, sizeof buf));
	close(fd);
}

static void call_append(char **a)
{
	int fd = open_append(a[0]);

	append(fd, "line\n", 5);
	close(fd);
}

static const struct {
	const char *name;
	void (*call)(char **);
} calls[] = {
	{"list", call_list},
	{"fdlist", call_fdlist},
	{"seek", call_seek},
	{"scandir", call_scandir},
	{"glob", call_glob},
	{"nftw", call_nftw},
	{"fts", call_fts},
	{"realpath", call_realpath},
	{"temporary", call_temporary},
	{"cd", call_cd},
	{"fcd", call_fcd},
	{"back", call_back},
	{"append", call_append},
};

int main(int argc, char **argv)
{
	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (argv++; *argv != NULL; argv += argv[2] != NULL ? 3 : 2) {
		size_t i, n = sizeof calls / sizeof *calls;

		for (i = 0; i < n && strcmp(calls[i].name, *argv); i++)
			;
		if (i == n || argv[1] == NULL) {
			fprintf(stderr, "no call %s\n", *argv);
			return 2;
		}
		errno = 0;
		calls[i].call(argv + 1);
	}
	return 0;
}
