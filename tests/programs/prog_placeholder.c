/*
 * prog_placeholder FILE: what a program gets from a descriptor that it has
 * opened for appending. Run on a plain kernel mount and under the shim, the
 * output must be the same.
 */
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "prog.h"

static const char *error(long r)
{
	return r >= 0 ? "ok" : error_name(errno);
}

#define SAY(call)                                                              \
	do {                                                                   \
		long r_ = (long)(call);                                        \
		printf("%s = %ld %s\n", #call, r_, error(r_));                 \
	} while (0)

static void show_stat(const char *what, const struct stat *st)
{
	static dev_t device;
	static ino_t inode;
	static time_t mtime;

	if (device == 0) {
		device = st->st_dev;
		inode = st->st_ino;
	}
	printf("%s: size %ld mode %o nlink %lu uid %u gid %u blksize %ld same "
	       "%d older %d\n",
		what, (long)st->st_size, st->st_mode,
		(unsigned long)st->st_nlink, st->st_uid, st->st_gid,
		(long)st->st_blksize,
		st->st_dev == device && st->st_ino == inode,
		st->st_mtime < mtime);
	mtime = st->st_mtime;
}

static void stats(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) == 0)
		show_stat("fstat", &st);
	if (stat(path, &st) == 0)
		show_stat("stat", &st);
}

static void flags(int fd)
{
	int fl = fcntl(fd, F_GETFL);

	printf("flags: accmode %d append %d sync %d nonblock %d\n",
		fl & O_ACCMODE, !!(fl & O_APPEND), !!(fl & O_SYNC),
		!!(fl & O_NONBLOCK));
}

static void locks(int fd)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	SAY(flock(fd, LOCK_EX | LOCK_NB));
	SAY(write(fd, "under flock\n", 12));
	SAY(flock(fd, LOCK_UN));
	SAY(flock(fd, LOCK_SH));
	SAY(flock(fd, LOCK_UN));
	SAY(fcntl(fd, F_SETLK, &l));
	SAY(write(fd, "under fcntl\n", 12));
	l.l_type = F_UNLCK;
	SAY(fcntl(fd, F_SETLK, &l));
	SAY(write(fd, "unlocked\n", 9));
}

static void sizes(int fd, const char *path)
{
	stats(fd, path);
	SAY(ftruncate(fd, 3));
	stats(fd, path);
	SAY(write(fd, "after\n", 6));
	SAY(ftruncate(fd, 20));
	SAY(write(fd, "behind\n", 7));
	SAY(fallocate(fd, 0, 0, 10));
	stats(fd, path);
	SAY(ftruncate(fd, 0));
	stats(fd, path);
	SAY(write(fd, "new\n", 4));
}

static void attributes(int fd, const char *path)
{
	struct timespec times[2] = {{1000000000, 0}, {1000000001, 0}};
	struct stat st;

	SAY(fchmod(fd, 0640));
	SAY(fchown(fd, 0, 0));
	SAY(futimens(fd, times));
	if (fstat(fd, &st) == 0)
		printf("times %ld %ld\n", (long)st.st_atime,
			(long)st.st_mtime);
	SAY(fchmod(fd, 0644));
	SAY(write(fd, "touched\n", 8));
	stats(fd, path);
}

int main(int argc, char **argv)
{
	const char *path = argc == 2 ? argv[1] : "";
	char buf[100] = "";
	FILE *f;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (fd < 0)
		return 98;
	flags(fd);
	SAY(write(fd, "first\n", 6));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(lseek(fd, 0, SEEK_END));
	SAY(lseek(fd, 2, SEEK_SET));
	SAY(write(fd, "second\n", 7));
	SAY(lseek(fd, 0, SEEK_CUR));
	SAY(read(fd, buf, 5));
	SAY(fsync(fd));
	stats(fd, path);
	SAY(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK));
	flags(fd);
	SAY(isatty(fd));
	locks(fd);
	sizes(fd, path);
	attributes(fd, path);
	/* Without O_APPEND it writes where it is told. */
	SAY(fcntl(fd, F_SETFL, 0));
	SAY(pwrite(fd, "NEW", 3, 0));
	SAY(fcntl(fd, F_SETFL, O_APPEND));
	SAY(pwrite(fd, "appended\n", 9, 0));
	SAY(fcntl(fd, F_DUPFD, 100));
	flags(100);
	SAY(write(100, "copy\n", 5));
	SAY(fdopen(fd, "r") == NULL);
	SAY((f = fdopen(fd, "a")) != NULL);
	SAY(fprintf(f, "stream\n"));
	SAY(fflush(f));
	SAY(ftell(f));
	SAY(fclose(f));
	SAY(close(100));
	fd = open(path, O_RDWR | O_APPEND);
	flags(fd);
	SAY(write(fd, "both\n", 5));
	SAY(pread(fd, buf, sizeof buf, 0));
	fwrite(buf, 1, strlen(buf), stdout);
	SAY(lseek(fd, 0, SEEK_SET));
	SAY(read(fd, buf, 4));
	SAY(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ||
		1);
	SAY(close(fd));
	SAY(open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0644));
	SAY(fd = open(path, O_WRONLY | O_APPEND | O_TRUNC));
	stats(fd, path);
	SAY(write(fd, "truncated\n", 10));
	stats(fd, path);
	SAY(close(fd));
	SAY(open(path, O_WRONLY | O_APPEND | O_DIRECTORY));
	return 0;
}
