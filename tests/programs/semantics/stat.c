/* fstat and its relatives are never behind one's own appends. */
#include "semantics.h"
#include <sys/statvfs.h>
#include <sys/vfs.h>

static void show(int fd)
{
	struct stat st;
	struct stat64 st64;
	struct statx stx;

	if (fstat(fd, &st) || fstat64(fd, &st64))
		die("fstat");
	note("fstat size %ld mode %o links %d uid %d", (long)st.st_size,
		st.st_mode, (int)st.st_nlink, (int)st.st_uid);
	note("fstat64 size %ld blksize %d", (long)st64.st_size,
		st64.st_blksize > 0);
	if (fstatat(fd, "", &st, AT_EMPTY_PATH))
		die("fstatat");
	note("fstatat size %ld mode %o", (long)st.st_size, st.st_mode);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx))
		die("statx");
	note("statx size %llu mode %o", (unsigned long long)stx.stx_size,
		stx.stx_mode);
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct stat first, again;
	int log, second;

	umask(022);
	log = open_log(dir, "log", 0);
	show(log);
	for (int i = 0; i < 3; i++) {
		append(log, "line %d\n", i);
		show(log);
	}
	second = open_log(dir, "log", 0);
	append(second, "by another descriptor\n");
	show(log);
	fstat(log, &first);
	fstat(second, &again);
	note("one file %d",
		first.st_dev == again.st_dev && first.st_ino == again.st_ino);
	note_call("fchmod", fchmod(log, 0600));
	show(second);
	return 0;
}
