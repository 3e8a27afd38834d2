/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/self/fdinfo/N has a line for each lock of the open file description,
 * whoever set it; /proc/locks names the process that set it: "1: FLOCK
 * ADVISORY  WRITE 1234 00:2b:5678 0 EOF" (proc(5)).
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/heldlock.h"
#include "core/process.h"

#define TEXT 4096
#define ANCESTORS 64

/* Of a line with a write lock on that file, the process; 0: another line. */
static long writer(const char *line, size_t n, const struct nfsappend_file *f)
{
	char copy[160], *at, *word;
	unsigned major, minor;
	unsigned long long ino;
	long pid = 0;

	if (n >= sizeof copy)
		return 0;
	memcpy(copy, line, n);
	copy[n] = '\0';
	at = strstr(copy, " WRITE ");
	if (at == NULL || strstr(copy, "->") != NULL)
		return 0;
	at += 7;
	pid = strtol(at, &word, 10);
	if (sscanf(word, " %x:%x:%llu", &major, &minor, &ino) != 3 ||
		ino != f->fileid || makedev(major, minor) != f->device)
		return 0;
	/* -1: of an open file description (F_OFD_SETLK) */
	return pid != 0 ? pid : -1;
}

/* Calls for each line; true as soon as it says so. */
static bool any_line(const char *text, const struct nfsappend_file *f,
	bool (*is)(long pid, void *arg), void *arg)
{
	for (; *text != '\0'; text += *text == '\n') {
		size_t n = strcspn(text, "\n");
		long pid = writer(text, n, f);

		if (pid != 0 && is(pid, arg))
			return true;
		text += n;
	}
	return false;
}

bool nfsappend_lock_held(int fd)
{
	char path[48], text[TEXT / 4];

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	return sys_read_text(AT_FDCWD, path, text, sizeof text) > 0 &&
		strstr(text, "\nlock:") != NULL;
}

static long parent_of(long pid)
{
	char path[40], text[512], *at;

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	if (sys_read_text(AT_FDCWD, path, text, sizeof text) <= 0 ||
		(at = strrchr(text, ')')) == NULL)
		return 0;
	return strlen(at) > 4 ? strtol(at + 4, NULL, 10) : 0;
}

static bool is_ancestor(long pid, void *arg)
{
	long me = nfsappend_process->pid;

	(void)arg;
	for (int i = 0; i < ANCESTORS && me > 1; i++) {
		if (me == pid)
			return true;
		me = parent_of(me);
	}
	return false;
}

bool nfsappend_lock_of_ancestor(struct nfsappend_file *f)
{
	char *text = nfsappend_pages(16 * TEXT);
	bool found;

	if (text == NULL)
		return false;
	found = sys_read_text(AT_FDCWD, "/proc/locks", text, 16 * TEXT) > 0 &&
		any_line(text, f, is_ancestor, NULL);
	sys_munmap(text, 16 * TEXT);
	return found;
}
