/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mkstemp() and its relatives, which open inside libc. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/query.h"
#include "preload/path.h"

#define LETTERS 6
#define TRIES (62 * 62 * 62) /* as glibc's */

/* Its six X, or NULL. */
static char *letters_of(char *template, int suffix)
{
	size_t n = strlen(template);

	if (suffix < 0 || n < (size_t)suffix + LETTERS)
		return NULL;
	template += n - (size_t)suffix - LETTERS;
	return strncmp(template, "XXXXXX", LETTERS) == 0 ? template : NULL;
}

static void draw(char *letters)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint64_t r;

	if (nfsappend_sys(SYS_getrandom, (long)&r, sizeof r, GRND_NONBLOCK, 0,
		    0, 0) != sizeof r)
		r = (uint64_t)nfsappend_now() * UINT64_C(6364136223846793005) +
			(uint64_t)sys_gettid();
	for (int i = 0; i < LETTERS; i++, r /= 62)
		letters[i] = all[r % 62];
}

static int make_file(char *template, int flags)
{
	return open(template,
		(flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
}

static int make_directory(char *template, int flags)
{
	(void)flags;
	return mkdir(template, 0700);
}

static bool below_a_map(const char *template)
{
	return nfsappend_path_exists(AT_FDCWD, template, false) !=
		NFSAPPEND_NOT_OURS;
}

static int make(char *template, int suffix, int flags,
	int (*try)(char *, int))
{
	char *letters = letters_of(template, suffix);
	int saved = errno, r = -1;

	if (letters == NULL) {
		errno = EINVAL;
		return -1;
	}
	errno = EEXIST;
	for (int i = 0; i < TRIES && r < 0 && errno == EEXIST; i++) {
		draw(letters);
		r = try(template, flags);
	}
	if (r >= 0)
		errno = saved;
	return r;
}

/* real has failed and changed the template: is the path ours after all? */
static bool sought(char *template, int suffix)
{
	size_t n = strlen(template);
	int saved = errno;
	bool found;

	if (suffix < 0 || n < (size_t)suffix + LETTERS ||
		!nfsappend_path_after(AT_FDCWD, template))
		return false;
	memcpy(template + n - (size_t)suffix - LETTERS, "XXXXXX", LETTERS);
	found = below_a_map(template);
	errno = saved;
	return found;
}

#define TEMPORARY(suffix, flags, try, real)                                    \
	do {                                                                   \
		int r_, saved_ = errno;                                        \
		if (nfsappend_path_before(AT_FDCWD, template, true) &&         \
			below_a_map(template))                                 \
			return make(template, (suffix), (flags), (try));       \
		errno = saved_;                                                \
		r_ = (real);                                                   \
		if (r_ < 0 && sought(template, (suffix)))                      \
			return make(template, (suffix), (flags), (try));       \
		return r_;                                                     \
	} while (0)

NFSAPPEND_HOOK int mkstemp(char *template)
{
	TEMPORARY(0, 0, make_file, NFSAPPEND_REAL(mkstemp)(template));
}

NFSAPPEND_HOOK int mkstemp64(char *template)
{
	return mkstemp(template);
}

NFSAPPEND_HOOK int mkostemp(char *template, int flags)
{
	TEMPORARY(0, flags, make_file,
		NFSAPPEND_REAL(mkostemp)(template, flags));
}

NFSAPPEND_HOOK int mkostemp64(char *template, int flags)
{
	return mkostemp(template, flags);
}

NFSAPPEND_HOOK int mkstemps(char *template, int suffix)
{
	TEMPORARY(suffix, 0, make_file,
		NFSAPPEND_REAL(mkstemps)(template, suffix));
}

NFSAPPEND_HOOK int mkstemps64(char *template, int suffix)
{
	return mkstemps(template, suffix);
}

NFSAPPEND_HOOK int mkostemps(char *template, int suffix, int flags)
{
	TEMPORARY(suffix, flags, make_file,
		NFSAPPEND_REAL(mkostemps)(template, suffix, flags));
}

NFSAPPEND_HOOK int mkostemps64(char *template, int suffix, int flags)
{
	return mkostemps(template, suffix, flags);
}

static int make_temporary_directory(char *template)
{
	TEMPORARY(0, 0, make_directory,
		NFSAPPEND_REAL(mkdtemp)(template) != NULL ? 0 : -1);
}

NFSAPPEND_HOOK char *mkdtemp(char *template)
{
	return make_temporary_directory(template) == 0 ? template : NULL;
}
