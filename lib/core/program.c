/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/program.h"
#include "core/sys.h"

#define HEAD 4096
#define SCRIPTS_MAX 4 /* as the kernel: a script's interpreter may be one */
#define LIBRARY "libnfsappend.so"

#if __SIZEOF_POINTER__ == 8
#define CLASS ELFCLASS64
typedef Elf64_Ehdr ehdr;
typedef Elf64_Phdr phdr;
#else
#define CLASS ELFCLASS32
typedef Elf32_Ehdr ehdr;
typedef Elf32_Phdr phdr;
#endif
#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

static const char *variable(char *const envp[], const char *name)
{
	size_t n = strlen(name);

	for (; envp != NULL && *envp != NULL; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

/* The loader of glibc, which knows LD_PRELOAD: ld-linux-x86-64.so.2,
 * ld-linux-aarch64.so.1, ld64.so.1. */
static bool of_glibc(const char *interpreter)
{
	const char *name = strrchr(interpreter, '/');

	name = name != NULL ? name + 1 : interpreter;
	return (strncmp(name, "ld-linux", 8) == 0 ||
		       strncmp(name, "ld64", 4) == 0) &&
		strstr(name, ".so.") != NULL;
}

/* The note that the Go linker leaves (type 4, "Go"). */
static bool go_note(int fd, const phdr *p)
{
	uint32_t note[4];

	return p->p_filesz >= sizeof note &&
		sys_pread(fd, note, sizeof note, (off_t)p->p_offset) ==
			sizeof note &&
		note[2] == 4 && memcmp(&note[3], "Go\0", 4) == 0;
}

static const char *of_elf(int fd, const ehdr *e)
{
	char interpreter[256] = "";
	bool interpreted = false, go = false;

	if (e->e_ident[EI_CLASS] != CLASS || e->e_machine != MACHINE)
		return "is built for another word size or machine";
	for (unsigned i = 0; i < e->e_phnum && i < 64; i++) {
		phdr p;

		if (sys_pread(fd, &p, sizeof p,
			    (off_t)(e->e_phoff + i * e->e_phentsize)) !=
			sizeof p)
			return NULL;
		if (p.p_type == PT_INTERP) {
			size_t n = p.p_filesz < sizeof interpreter
				? p.p_filesz
				: sizeof interpreter - 1;

			interpreted = true;
			if (sys_pread(fd, interpreter, n, (off_t)p.p_offset) <
				0)
				return NULL;
			interpreter[sizeof interpreter - 1] = '\0';
		}
		go |= p.p_type == PT_NOTE && go_note(fd, &p);
	}
	if (!interpreted)
		return "is statically linked";
	if (!of_glibc(interpreter))
		return "uses another C library";
	if (go)
		return "is a Go program, which makes system calls without libc";
	return NULL;
}

/* Privileges that the process does not have: the loader ignores LD_PRELOAD
 * then (ld.so(8), secure-execution mode). */
static const char *of_privileges(int fd)
{
	uint32_t uid = (uint32_t)nfsappend_sys(SYS_getuid, 0, 0, 0, 0, 0, 0);
	uint32_t gid = (uint32_t)nfsappend_sys(SYS_getgid, 0, 0, 0, 0, 0, 0);
	uint32_t euid = (uint32_t)nfsappend_sys(SYS_geteuid, 0, 0, 0, 0, 0, 0);
	uint32_t egid = (uint32_t)nfsappend_sys(SYS_getegid, 0, 0, 0, 0, 0, 0);
	struct statx stx;
	char caps[64];

	if (sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		    STATX_MODE | STATX_UID | STATX_GID, &stx) != 0)
		return NULL;
	if (stx.stx_mode & S_ISUID)
		euid = stx.stx_uid;
	if ((stx.stx_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		egid = stx.stx_gid;
	if (euid != uid)
		return "is setuid";
	if (egid != gid)
		return "is setgid";
	if (uid != 0 &&
		nfsappend_sys(SYS_fgetxattr, fd, (long)"security.capability",
			(long)caps, sizeof caps, 0, 0) > 0)
		return "has file capabilities";
	return NULL;
}

/* "#!interpreter [argument]" in head: the interpreter, in place. */
static const char *of_script(char *head)
{
	char *start = head + 2, *end;

	head[strcspn(head, "\n")] = '\0';
	start += strspn(start, " \t");
	end = start + strcspn(start, " \t");
	*end = '\0';
	return start;
}

static const char *inspect(int dirfd, const char *path, unsigned depth)
{
	char head[HEAD];
	const char *why = NULL;
	long fd = path[0] == '\0'
		? sys_fcntl(dirfd, F_DUPFD_CLOEXEC, 0)
		: sys_openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK,
			  0);
	long n;

	if (fd < 0)
		return NULL;
	memset(head, 0, sizeof head);
	n = sys_pread((int)fd, head, sizeof head - 1, 0);
	if (n > 2 && head[0] == '#' && head[1] == '!') {
		if (depth < SCRIPTS_MAX)
			why = inspect(AT_FDCWD, of_script(head), depth + 1);
	} else if (n >= (long)sizeof(ehdr) &&
		   memcmp(head, ELFMAG, SELFMAG) == 0) {
		why = of_elf((int)fd, (const ehdr *)head);
		if (why == NULL)
			why = of_privileges((int)fd);
	}
	sys_close((int)fd);
	return why;
}

const char *nfsappend_program_without_us(int dirfd, const char *path,
	char *const envp[])
{
	const char *preload = variable(envp, "LD_PRELOAD");

	if (preload == NULL || strstr(preload, LIBRARY) == NULL)
		return "is started without LD_PRELOAD";
	return inspect(dirfd, path, 0);
}

bool nfsappend_program_find(const char *file, char *const envp[], char *out,
	size_t room)
{
	const char *path = variable(envp, "PATH");

	if (strchr(file, '/') != NULL)
		return snprintf(out, room, "%s", file) < (int)room;
	if (path == NULL)
		path = "/bin:/usr/bin"; /* as glibc */
	for (;;) {
		size_t n = strcspn(path, ":");
		struct statx stx;

		if (snprintf(out, room, "%.*s%s%s", (int)n, path,
			    n > 0 ? "/" : "", file) < (int)room &&
			nfsappend_sys(SYS_faccessat, AT_FDCWD, (long)out, X_OK,
				0, 0, 0) == 0 &&
			sys_statx(AT_FDCWD, out, AT_STATX_DONT_SYNC,
				STATX_TYPE, &stx) == 0 &&
			S_ISREG(stx.stx_mode))
			return true;
		if (path[n] == '\0')
			return false;
		path += n + 1;
	}
}
