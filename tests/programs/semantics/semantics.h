/*
 * What the programs share that print how system calls answer.  Each is run as
 * `semantics-X DIR [COUNT]`, once on a local directory and once on a managed
 * one; files, standard output and exit status must then be the same.  So
 * nothing that a program prints may depend on the directory, on timing or on
 * inodes.
 */
#ifndef SEMANTICS_H
#define SEMANTICS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The same number everywhere; glibc has it since 2.32. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Where notes go: written past stdio, one write a line. */
static int notes_fd = 1;

static inline void note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
static inline void note(const char *format, ...)
{
	char line[4096];
	va_list ap;
	int saved = errno, length;

	va_start(ap, format);
	length = vsnprintf(line, sizeof(line) - 1, format, ap);
	va_end(ap);
	line[length++] = '\n';
	if (write(notes_fd, line, length) != length)
		_exit(98);
	errno = saved;
}

static inline void note_call(const char *what, long ret)
{
	if (ret < 0)
		note("%s %ld (%s)", what, ret, strerror(errno));
	else
		note("%s %ld", what, ret);
}

static inline void die(const char *what) __attribute__((noreturn));
static inline void die(const char *what)
{
	note("%s: %s", what, strerror(errno));
	_exit(99);
}

/* The path of a file in dir; valid until the 8th call from here. */
static inline const char *path_in(const char *dir, const char *name)
{
	static char paths[8][4096];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static inline int open_log(const char *dir, const char *name, int flags)
{
	int fd = open(path_in(dir, name),
		O_APPEND | O_CREAT | (flags & O_RDWR ? 0 : O_WRONLY) | flags,
		0644);

	if (fd < 0)
		die("open");
	return fd;
}

/* All of it, or the program ends. */
static inline void append(int fd, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void append(int fd, const char *format, ...)
{
	char text[1024];
	va_list ap;
	int length;
	ssize_t done;

	va_start(ap, format);
	length = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	done = write(fd, text, length);
	if (done != length) {
		note_call("short write", done);
		_exit(97);
	}
}

static inline void seed(const char *dir, const char *name, const char *text)
{
	int fd = open_log(dir, name, 0);

	append(fd, "%s", text);
	if (close(fd))
		die("close");
}

/* A new local file that nobody manages; it has no name any more. */
static inline int open_local(void)
{
	char path[] = "/tmp/semantics.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		die("mkstemp");
	unlink(path);
	return fd;
}

/* Notes what a local file holds, and closes it. */
static inline void note_local(int fd)
{
	char text[2048];
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	if (length < 0)
		die("pread");
	text[length] = 0;
	note("local file: %s", text);
	close(fd);
}

static inline long position(int fd)
{
	return lseek(fd, 0, SEEK_CUR);
}

static inline void note_child(pid_t pid)
{
	int status;

	if (pid < 0)
		die("fork");
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			die("waitpid");
	if (WIFEXITED(status))
		note("child exited %d", WEXITSTATUS(status));
	else
		note("child killed by %d", WTERMSIG(status));
}

/* The number that the test asks for, or a small one. */
static inline long count_of(int argc, char **argv, long otherwise)
{
	return argc > 2 ? atol(argv[2]) : otherwise;
}

static inline const char *dir_of(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s DIR [COUNT]\n", argv[0]);
		exit(2);
	}
	return argv[1];
}

/*
 * A record of 64 bytes that names its writer and its number in the writer's
 * order; a test finds records that are lost, torn or there twice.
 */
#define RECORD_SIZE 64
static inline void format_record(char *record, int writer, long number)
{
	int length = snprintf(
		record, RECORD_SIZE, "record %03d %08ld ", writer, number);

	memset(record + length, 'a' + writer % 26, RECORD_SIZE - length);
	record[RECORD_SIZE - 1] = '\n';
}

static inline ssize_t append_record(int fd, int writer, long number)
{
	char record[RECORD_SIZE];

	format_record(record, writer, number);
	return write(fd, record, RECORD_SIZE);
}

#endif
