/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sys.h"
#include "preload/foreign.h"

#define OURS "libnfsappend.so"
#define PRELOAD "LD_PRELOAD="
#define SCRIPTS_MAX 4 /* as the kernel, BINPRM_BUF_SIZE and depth */
#define HEADERS_MAX 64

static bool of_another_libc(const char *interpreter)
{
	/* musl, uClibc, bionic */
	static const char *const loaders[] = {
		"ld-musl-", "ld-uClibc", "ld64-uClibc", "linker"};
	const char *slash = strrchr(interpreter, '/');
	const char *name = slash != NULL ? slash + 1 : interpreter;

	for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
		if (strncmp(name, loaders[i], strlen(loaders[i])) == 0)
			return true;
	return false;
}

/* Of this word size; another's loader passes over us. */
static bool foreign_elf(int fd, const ElfW(Ehdr) * elf)
{
	ElfW(Phdr) h;
	char interpreter[256];

	for (unsigned i = 0; i < elf->e_phnum && i < HEADERS_MAX; i++) {
		if (sys_pread(fd, &h, sizeof h,
			    (off_t)(elf->e_phoff + i * sizeof h)) !=
			(long)sizeof h)
			return false;
		if (h.p_type != PT_INTERP)
			continue;
		if (h.p_filesz == 0 || h.p_filesz > sizeof interpreter ||
			sys_pread(fd, interpreter, h.p_filesz,
				(off_t)h.p_offset) != (long)h.p_filesz)
			return false;
		interpreter[h.p_filesz - 1] = '\0';
		return of_another_libc(interpreter);
	}
	return false;
}

/* The interpreter of a script, within line. */
static const char *interpreter_of(char *line)
{
	char *name = line + 2 + strspn(line + 2, " \t");

	name[strcspn(name, " \t\n")] = '\0';
	return name[0] == '/' ? name : NULL;
}

static bool foreign_file(int dirfd, const char *path)
{
	union {
		ElfW(Ehdr) elf;
		char line[256];
	} head;

	for (int depth = 0; depth <= SCRIPTS_MAX && path != NULL; depth++) {
		long fd = sys_openat(dirfd, path,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
		bool foreign = false;
		long n;

		if (fd < 0)
			return false;
		n = sys_pread((int)fd, &head, sizeof head.line - 1, 0);
		if (n >= (long)sizeof head.elf &&
			memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
			foreign = head.elf.e_phentsize ==
					sizeof(ElfW(Phdr)) &&
				foreign_elf((int)fd, &head.elf);
		sys_close((int)fd);
		if (n < 3 || memcmp(head.line, "#!", 2) != 0)
			return foreign;
		head.line[n] = '\0';
		path = interpreter_of(head.line);
		dirfd = AT_FDCWD;
	}
	return false;
}

bool nfsappend_foreign(int dirfd, const char *path, bool search)
{
	const char *dir = getenv("PATH");
	char full[PATH_MAX];

	if (!search || strchr(path, '/') != NULL)
		return foreign_file(dirfd, path);
	for (dir = dir != NULL ? dir : "/bin:/usr/bin"; *dir != '\0';) {
		size_t len = strcspn(dir, ":");

		if (snprintf(full, sizeof full, "%.*s/%s", (int)len,
			    len > 0 ? dir : ".", path) < (int)sizeof full &&
			nfsappend_sys(SYS_faccessat, AT_FDCWD, (long)full,
				X_OK, 0, 0, 0) == 0)
			return foreign_file(AT_FDCWD, full);
		dir += len + (dir[len] == ':');
	}
	return false;
}

static const char *preload_in(char *const envp[], size_t *n)
{
	const char *found = NULL;

	for (*n = 0; envp != NULL && envp[*n] != NULL; ++*n)
		if (strncmp(envp[*n], PRELOAD, strlen(PRELOAD)) == 0)
			found = envp[*n];
	return found;
}

size_t nfsappend_foreign_room(char *const envp[])
{
	size_t n;
	const char *preload = preload_in(envp, &n);

	return preload != NULL && strstr(preload, OURS) != NULL
		? (n + 1) * sizeof *envp + strlen(preload) + 1
		: 0;
}

/* out: the entries of in but ours, in their order. */
static void copy_others(const char *in, char *out)
{
	static const char between[] = ": ";

	while (*in != '\0') {
		size_t len = strcspn(in, between);
		size_t gap = strspn(in + len, between);
		bool ours = len >= strlen(OURS) &&
			memcmp(in + len - strlen(OURS), OURS, strlen(OURS)) ==
				0;

		if (!ours) {
			memcpy(out, in, len + gap);
			out += len + gap;
		}
		in += len + gap;
	}
	*out = '\0';
}

char *const *nfsappend_foreign_environment(char *const envp[], void *room)
{
	size_t n;
	const char *preload = preload_in(envp, &n);
	char **copy = room;
	char *text = (char *)(copy + n + 1);

	for (size_t i = 0; i <= n; i++)
		copy[i] = envp[i] == preload && preload != NULL ? text
								 : envp[i];
	memcpy(text, PRELOAD, strlen(PRELOAD));
	copy_others(preload + strlen(PRELOAD), text + strlen(PRELOAD));
	return copy;
}
