/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fopen(), freopen() and fdopen(): they call open() inside libc, so a mapped
 * path is opened here, the FILE is made on /dev/null with the program's own
 * mode (so that all of glibc's letters and ccs= mean what they mean), and the
 * placeholder takes the number.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/io.h"
#include "core/placeholder.h"
#include "preload/dup.h"
#include "preload/hook.h"
#include "preload/open.h"
#include "preload/path.h"

extern FILE *_IO_fopen(const char *, const char *);
extern FILE *_IO_fdopen(int, const char *);

/* The open() flags of a mode string; false: glibc will say EINVAL. */
static bool mode_flags(const char *mode, int *flags)
{
	switch (*mode) {
	case 'r':
		*flags = O_RDONLY;
		break;
	case 'w':
		*flags = O_WRONLY | O_CREAT | O_TRUNC;
		break;
	case 'a':
		*flags = O_WRONLY | O_CREAT | O_APPEND;
		break;
	default:
		return false;
	}
	/* As _IO_new_file_fopen: up to seven letters, ',' ends them. */
	for (int i = 1; i < 7 && mode[i] != '\0' && mode[i] != ','; i++) {
		if (mode[i] == '+')
			*flags = (*flags & ~O_ACCMODE) | O_RDWR;
		else if (mode[i] == 'x')
			*flags |= O_EXCL;
		else if (mode[i] == 'e')
			*flags |= O_CLOEXEC;
	}
	return true;
}

/* /dev/null exists: 'x' would fail there. */
static bool without_x(const char *mode, char *out, size_t room)
{
	size_t n = 0;
	bool letters = true;

	for (; *mode != '\0'; mode++) {
		letters = letters && *mode != ',';
		if (letters && *mode == 'x')
			continue;
		if (n + 1 == room)
			return false;
		out[n++] = *mode;
	}
	out[n] = '\0';
	return true;
}

/* Puts fd under f's number, which a freopen() must keep. */
static bool put_under(FILE *f, int fd, int flags)
{
	int r = NFSAPPEND_REAL(dup3)(fd, f->_fileno, flags & O_CLOEXEC);

	if (r >= 0)
		nfsappend_table_unsure(r);
	if (r == 2)
		nfsappend_onto_stderr();
	return r >= 0;
}

/* A new stream has the number that open() gave: the lowest. */
static FILE *stream_on(int fd, const char *mode)
{
	FILE *f = NFSAPPEND_REAL(fopen)("/dev/null", mode);

	if (f != NULL) {
		NFSAPPEND_REAL(close)(f->_fileno);
		f->_fileno = fd;
	}
	return f;
}

static FILE *stream_again(int fd, const char *mode, int flags, FILE *f)
{
	f = NFSAPPEND_REAL(freopen)("/dev/null", mode, f);
	if (f == NULL || put_under(f, fd, flags)) {
		close(fd);
		if (f != NULL && flags & O_APPEND &&
			(flags & O_ACCMODE) == O_WRONLY)
			lseek(f->_fileno, 0, SEEK_END);
		return f;
	}
	int saved = errno;

	fclose(f);
	errno = saved;
	return NULL;
}

/* The path was ours and fd is its placeholder (or -1 and errno). */
static FILE *make_stream(int fd, const char *mode, int flags, FILE *reopened)
{
	char plain[128];
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if (!without_x(mode, plain, sizeof plain))
		errno = EINVAL;
	else if (reopened != NULL)
		return stream_again(fd, plain, flags, reopened);
	else
		f = stream_on(fd, plain);
	if (f == NULL) {
		int saved = errno;

		close(fd);
		errno = saved;
	} else if (flags & O_APPEND && (flags & O_ACCMODE) == O_WRONLY) {
		/* glibc goes to the end at once, so ftell() tells it. */
		lseek(fd, 0, SEEK_END);
	}
	return f;
}

static bool opens_ours(const char *path, const char *mode, int *flags, int *fd)
{
	return mode != NULL && mode_flags(mode, flags) &&
		nfsappend_open_before(AT_FDCWD, path, *flags, 0666, fd);
}

static FILE *open_stream(const char *path, const char *mode)
{
	FILE *f;
	int flags = 0, fd;

	if (opens_ours(path, mode, &flags, &fd))
		return make_stream(fd, mode, flags, NULL);
	path = NFSAPPEND_PATH_OUT(AT_FDCWD, path);
	f = NFSAPPEND_REAL(fopen)(path, mode);
	if (f != NULL) {
		nfsappend_open_after(AT_FDCWD, path, flags, 0666, f->_fileno);
		return f;
	}
	fd = nfsappend_open_after(AT_FDCWD, path, flags, 0666, -1);
	return fd >= 0 ? make_stream(fd, mode, flags, NULL) : NULL;
}

NFSAPPEND_HOOK FILE *fopen(const char *path, const char *mode)
{
	return open_stream(path, mode);
}

NFSAPPEND_HOOK FILE *fopen64(const char *path, const char *mode)
{
	return open_stream(path, mode);
}

NFSAPPEND_HOOK FILE *_IO_fopen(const char *path, const char *mode)
{
	return open_stream(path, mode);
}

/* NULL as the path: glibc opens /proc/self/fd/N anew, which for one of ours
 * is the memfd without its marker. */
static void recognise(FILE *f)
{
	struct nfsappend_placeholder p;

	if (!nfsappend_active || f->_fileno < 0)
		return;
	nfsappend_table_unsure(f->_fileno);
	if (nfsappend_placeholder_read(f->_fileno, &p) == 0)
		nfsappend_placeholder_mark(f->_fileno);
}

static FILE *reopen_stream(const char *path, const char *mode, FILE *f)
{
	int flags = 0, fd;

	if (path != NULL && opens_ours(path, mode, &flags, &fd)) {
		if (fd >= 0)
			return make_stream(fd, mode, flags, f);
		/* As C has it: the stream is closed even then. */
		int saved = errno;

		fclose(f);
		errno = saved;
		return NULL;
	}
	path = NFSAPPEND_PATH_OUT(AT_FDCWD, path);
	f = NFSAPPEND_REAL(freopen)(path, mode, f);
	if (f != NULL)
		recognise(f);
	return f;
}

NFSAPPEND_HOOK FILE *freopen(const char *path, const char *mode, FILE *f)
{
	return reopen_stream(path, mode, f);
}

NFSAPPEND_HOOK FILE *freopen64(const char *path, const char *mode, FILE *f)
{
	return reopen_stream(path, mode, f);
}

/* The placeholder is open for both; the program's file may not be. */
static bool mode_fits(int fd, const char *mode)
{
	struct nfsappend_use use;
	int flags = 0;
	bool fits = true;

	if (mode == NULL || !mode_flags(mode, &flags) ||
		!nfsappend_use_begin(&use, fd))
		return true;
	if (use.open != NULL && use.open->accmode != O_RDWR)
		fits = use.open->accmode == (uint32_t)(flags & O_ACCMODE);
	nfsappend_use_end(&use);
	return fits;
}

NFSAPPEND_HOOK FILE *fdopen(int fd, const char *mode)
{
	if (!mode_fits(fd, mode)) {
		errno = EINVAL;
		return NULL;
	}
	return NFSAPPEND_REAL(fdopen)(fd, mode);
}

NFSAPPEND_HOOK FILE *_IO_fdopen(int fd, const char *mode)
{
	return fdopen(fd, mode);
}
