/* What the test programs share: errno by name, so that a test can say which. */
#ifndef PROG_H
#define PROG_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline const char *error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{EPERM, "EPERM"},
		{ENOENT, "ENOENT"},
		{EIO, "EIO"},
		{EBADF, "EBADF"},
		{EACCES, "EACCES"},
		{EFAULT, "EFAULT"},
		{EEXIST, "EEXIST"},
		{ENOTDIR, "ENOTDIR"},
		{EISDIR, "EISDIR"},
		{EINVAL, "EINVAL"},
		{EFBIG, "EFBIG"},
		{ENOSPC, "ENOSPC"},
		{EROFS, "EROFS"},
		{ELOOP, "ELOOP"},
		{ESTALE, "ESTALE"},
		{EREMOTE, "EREMOTE"},
		{EDQUOT, "EDQUOT"},
		{ECONNREFUSED, "ECONNREFUSED"},
		{EHOSTUNREACH, "EHOSTUNREACH"},
		{ETIMEDOUT, "ETIMEDOUT"},
		{ENAMETOOLONG, "ENAMETOOLONG"},
		{EINTR, "EINTR"},
		{EXDEV, "EXDEV"},
		{ENOTEMPTY, "ENOTEMPTY"},
		{EBUSY, "EBUSY"},
		{EOPNOTSUPP, "EOPNOTSUPP"},
		{ENODATA, "ENODATA"},
		{ERANGE, "ERANGE"},
		{EREMOTE, "EREMOTE"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	return strerror(error);
}

/* To standard output: standard error is where the shim's messages go. */
static inline void report(const char *call, long result)
{
	int error = errno;

	if (result < 0)
		printf("%s %s\n", call, error_name(error));
	else
		printf("%s %ld\n", call, result);
}

static inline void fail(const char *call)
{
	report(call, -1);
	exit(1);
}

static inline int open_append(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);

	if (fd < 0)
		fail("open");
	return fd;
}

/* One write, whole. */
static inline void append(int fd, const void *data, size_t length)
{
	ssize_t n = write(fd, data, length);

	if (n < 0)
		fail("write");
	if ((size_t)n != length) {
		report("short", n);
		exit(1);
	}
}
/* COUNT records of 100 bytes in which NAME and a number stand: 0, or 1 when one
 * was not written whole, which is reported. */
static inline int append_records(int fd, const char *name, long count)
{
	char record[101];

	for (long i = 0; i < count; i++) {
		memset(record, 'a' + (int)(i % 26), 100);
		record[snprintf(record, 100, "%s %08ld", name, i)] = ' ';
		record[99] = '\n';
		ssize_t n = write(fd, record, 100);

		if (n != 100) {
			report(name, n);
			return 1;
		}
	}
	return 0;
}

#endif
