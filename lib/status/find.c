/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "core/segment_file.h"
#include "status/find.h"

#define ROWS_MAX 10000 /* who owns a folder may fill it */
#define NOTES_MAX 200
#define NAME 32

static void note(struct nfsappend_found *, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct nfsappend_found *found, const char *fmt, ...)
{
	char **more;
	char *text;
	va_list ap;
	int r;

	if (found->note_count >= NOTES_MAX)
		return;
	more = realloc(found->notes, (found->note_count + 1) * sizeof *more);
	if (more == NULL)
		return;
	found->notes = more;
	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r >= 0)
		found->notes[found->note_count++] = text;
}

static void failed(struct nfsappend_found *found, const char *path, int error)
{
	found->failed = true;
	note(found, "%s cannot be read: %s.", path, strerror(error));
}

static struct nfsappend_row *add_row(struct nfsappend_found *found)
{
	if (found->count >= ROWS_MAX) {
		found->too_many = true;
		return NULL;
	}
	if (found->count == found->room) {
		size_t room = found->room != 0 ? 2 * found->room : 64;
		void *more = realloc(found->rows, room * sizeof *found->rows);

		if (more == NULL)
			return NULL;
		found->rows = more;
		found->room = room;
	}
	found->rows[found->count] = calloc(1, sizeof **found->rows);
	return found->rows[found->count];
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void read_queue(int fd, struct nfsappend_shown *shown)
{
	const size_t first = STAGE_END +
			     offsetof(struct nfsappend_queue, records) +
			     offsetof(struct nfsappend_queued, word);
	uint64_t words[NFSAPPEND_SLOTS] = {0};

	for (unsigned i = 0; i < NFSAPPEND_SLOTS; i++)
		if (pread(fd, &words[i], sizeof words[i],
			    (off_t)(first + i * NFSAPPEND_SLOT_BYTES)) !=
			(ssize_t)sizeof words[i])
			return;
	nfsappend_status_queue(words, shown);
}

static void look_at_writers(struct nfsappend_row *row, const char *name)
{
	const struct nfsappend_shown *s = &row->shown;

	for (unsigned i = 0; i < s->user_count; i++) {
		struct nfsappend_writer *w = &row->writers[row->writer_count++];

		if (s->here) {
			nfsappend_writer_look(s->users[i], name, s->leader, w);
			continue;
		}
		memset(w, 0, sizeof *w);
		w->pid = s->users[i];
		w->state = NFSAPPEND_WRITER_UNKNOWN;
	}
}

/* One that is gone by now, or a link, is none. */
static void read_segment(struct nfsappend_found *found, int folder,
	const char *path, uid_t owner, const char *name)
{
	union {
		struct nfsappend_segment segment;
		uint8_t bytes[HEAD_BYTES];
	} head;
	struct nfsappend_shown shown;
	struct nfsappend_row *row;
	struct stat st;
	int fd = openat(folder, name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0) {
		if (errno != ENOENT)
			found->strange++;
		return;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
		st.st_uid != owner || st.st_size != (off_t)SEGMENT_BYTES ||
		pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
		/* An empty one is just being made. */
		if (!S_ISREG(st.st_mode) || st.st_size != 0)
			found->strange++;
		goto out;
	}
	switch (nfsappend_status_decode(&head.segment, now(), &shown)) {
	case NFSAPPEND_DECODED_OTHER:
		goto out;
	case NFSAPPEND_DECODED_STRANGE:
		found->strange++;
		goto out;
	case NFSAPPEND_DECODED_FILE:
		break;
	}
	if (nfsappend_status_has_queue(&head.segment))
		read_queue(fd, &shown);
	row = add_row(found);
	if (row == NULL)
		goto out;
	found->count++;
	row->shown = shown;
	row->uid = owner;
	snprintf(row->segment, sizeof row->segment, "%s/%s", path, name);
	look_at_writers(row, name);
out:
	close(fd);
}

static bool is_name(const char *name)
{
	return strlen(name) == NAME &&
	       strspn(name, "0123456789abcdef") == NAME;
}

/* Where there is no room no segment is made. */
static void look_at_room(struct nfsappend_found *found, const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) == 0 && fs.f_blocks != 0 &&
		(uint64_t)fs.f_bavail * fs.f_frsize < HEAD_BYTES)
		note(found,
			"The file system of %s is full: a program gets no "
			"segment for a file that it opens now, appends to it "
			"as a host of its own (message N503), and is not "
			"shown here. Make room there.",
			path);
}

static void unused(struct nfsappend_found *found, const char *path)
{
	note(found,
		"%s is used by no program: it must be a directory of mode "
		"0700 that belongs to its user. Remove it.",
		path);
}

/* owner: who it has to belong to; -1: anybody. True: there is one. */
static bool read_folder(
	struct nfsappend_found *found, const char *path, uid_t owner)
{
	int fd = open(path,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct dirent *e;
	struct stat st;
	DIR *dir;

	if (fd < 0 && errno == ENOENT)
		return false;
	/* A link, or a file: anybody may make one there. */
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
		unused(found, path);
		return false;
	}
	if (fd < 0 && errno == EACCES && geteuid() != 0) {
		note(found,
			"%s belongs to another user, whose programs alone "
			"appear there.",
			path);
		return false;
	}
	if (fd < 0 || fstat(fd, &st) != 0) {
		failed(found, path, errno);
		if (fd >= 0)
			close(fd);
		return false;
	}
	if ((owner != (uid_t)-1 && st.st_uid != owner) || st.st_mode & 0077) {
		unused(found, path);
		close(fd);
		return false;
	}
	look_at_room(found, path);
	dir = fdopendir(fd);
	if (dir == NULL) {
		failed(found, path, errno);
		close(fd);
		return false;
	}
	found->strange = 0;
	while ((e = readdir(dir)) != NULL)
		if (is_name(e->d_name))
			read_segment(found, fd, path, st.st_uid, e->d_name);
	closedir(dir);
	if (found->strange > 0)
		note(found,
			"%s: %u of the files there %s not shown: damaged, or "
			"of another version or word size of nfsappend, or of "
			"an earlier boot.",
			path, found->strange,
			found->strange == 1 ? "is" : "are");
	return true;
}

/* Of all users: the folders PARENT/PREFIXuidSUFFIX. */
static bool read_folders(struct nfsappend_found *found, const char *parent,
	const char *prefix, const char *suffix)
{
	DIR *dir = opendir(parent);
	size_t skip = strlen(prefix);
	struct dirent *e;
	bool any = false;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char path[300];
		unsigned uid;
		int n = 0;

		if (strncmp(e->d_name, prefix, skip) != 0 ||
			sscanf(e->d_name + skip, "%u%n", &uid, &n) != 1 ||
			e->d_name[skip + (size_t)n] != '\0')
			continue;
		snprintf(path, sizeof path, "%s/%s%s", parent, e->d_name,
			suffix);
		any |= read_folder(found, path, uid);
	}
	if (dir != NULL)
		closedir(dir);
	return any;
}

static bool read_own(struct nfsappend_found *found)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	unsigned uid = (unsigned)geteuid();
	char path[300], session[300];
	bool any;

	snprintf(path, sizeof path, "/dev/shm/nfsappend-%u", uid);
	any = read_folder(found, path, uid);
	snprintf(session, sizeof session, "/run/user/%u/nfsappend", uid);
	any |= read_folder(found, session, uid);
	if (xdg != NULL && xdg[0] == '/' &&
		snprintf(path, sizeof path, "%s/nfsappend", xdg) <
			(int)sizeof path &&
		strcmp(path, session) != 0)
		any |= read_folder(found, path, uid);
	return any;
}

static int by_path(const void *a, const void *b)
{
	const struct nfsappend_row *const *x = a, *const *y = b;
	int r = strcmp((*x)->shown.path, (*y)->shown.path);

	return r != 0 ? r : strcmp((*x)->segment, (*y)->segment);
}

/* The notes behind the first n come before them. */
static void put_first(struct nfsappend_found *found, size_t n)
{
	size_t rest = found->note_count - n;
	char *moved[4];

	if (n == 0 || rest > sizeof moved / sizeof *moved)
		return;
	memcpy(moved, found->notes + n, rest * sizeof *moved);
	memmove(found->notes + rest, found->notes, n * sizeof *moved);
	memcpy(found->notes, moved, rest * sizeof *moved);
}

/* Why there is nothing, in place of a table. */
static void explain_nothing(
	struct nfsappend_found *found, const char *runtime, bool any_folder)
{
	size_t before = found->note_count;

	if (!any_folder && runtime != NULL)
		note(found,
			"%s (NFSAPPEND_RUNTIME) does not exist: no program "
			"has used it for host segments since this machine "
			"started.",
			runtime);
	else if (!any_folder && geteuid() == 0)
		note(found, "No program of any user has opened a file through "
			    "nfsappend since this machine started: there is "
			    "no directory /dev/shm/nfsappend-UID.");
	else if (!any_folder)
		note(found,
			"No program of this user has opened a file through "
			"nfsappend since this machine started: there is no "
			"directory /dev/shm/nfsappend-%u.",
			(unsigned)geteuid());
	else
		note(found, "No program has a file open through this version "
			    "of nfsappend, or had one a moment ago.");
	if (geteuid() != 0)
		note(found, "Those of other users are shown to root alone.");
	note(found,
		"A program that was given another NFSAPPEND_RUNTIME, runs in "
		"another container, or found no room for a segment (message "
		"N503) is not seen from here.");
	put_first(found, before);
}

void nfsappend_status_find(const char *runtime, struct nfsappend_found *found)
{
	bool any;

	memset(found, 0, sizeof *found);
	if (runtime != NULL)
		any = read_folder(found, runtime,
			geteuid() == 0 ? (uid_t)-1 : geteuid());
	else if (geteuid() == 0)
		any = read_folders(found, "/dev/shm", "nfsappend-", "") |
			read_folders(found, "/run/user", "", "/nfsappend");
	else
		any = read_own(found);
	if (found->count > 1)
		qsort(found->rows, found->count, sizeof *found->rows, by_path);
	if (found->too_many)
		note(found, "Only the first %d files are shown.", ROWS_MAX);
	if (found->count == 0)
		explain_nothing(found, runtime, any);
	nfsappend_writers_forget();
}

void nfsappend_status_forget(struct nfsappend_found *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->rows[i]);
	free(found->rows);
	for (size_t i = 0; i < found->note_count; i++)
		free(found->notes[i]);
	free(found->notes);
	memset(found, 0, sizeof *found);
}
