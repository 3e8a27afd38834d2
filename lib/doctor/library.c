/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Can programs of this host load the library, and does it work in them? */
#include "config.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "doctor/nfs.h"

extern char **environ;

#define LIBRARY PKGLIBDIR "/libnfsappend.so"
#define SLOT_WRITE 15 /* of struct _IO_jump_t, as in preload/stdio_slots.c */

struct seen {
	const char *part; /* of a name */
	char name[PATH_MAX];
};

static int look_for(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct seen *s = arg;

	(void)size;
	if (info->dlpi_name == NULL || strstr(info->dlpi_name, s->part) == NULL)
		return 0;
	snprintf(s->name, sizeof s->name, "%s", info->dlpi_name);
	return 1;
}

/* By dlsym(): a reference from here would move the table into this program. */
int doctor_probe(void)
{
	void **table = dlsym(RTLD_DEFAULT, "_IO_file_jumps");
	struct seen library = {.part = "libnfsappend.so"};
	Dl_info by = {.dli_fname = NULL};

	if (dl_iterate_phdr(look_for, &library) == 1)
		printf("loaded %s\n", library.name);
	if (table != NULL && dladdr(table[SLOT_WRITE], &by) != 0 &&
		by.dli_fname != NULL &&
		strstr(by.dli_fname, "libnfsappend.so") != NULL)
		puts("stdio");
	return 0;
}

static void run_probe(int out)
{
	char *argv[] = {"nfsappend-doctor", "--probe", NULL};
	const char *others = getenv("LD_PRELOAD");
	char preload[PATH_MAX];

	/* In front of what is there, as the wrapper does it. */
	snprintf(preload, sizeof preload, "%s%s%s", LIBRARY,
		others != NULL && others[0] != '\0' ? ":" : "",
		others != NULL ? others : "");

	dup2(out, 1);
	dup2(out, 2);
	unsetenv("NFSAPPEND_MAP");
	unsetenv("NFSAPPEND_PATHS");
	setenv("LD_PRELOAD", preload, 1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* This program itself, under the loader, with the library. */
static void probe(void)
{
	char text[4096] = "";
	size_t n = 0;
	ssize_t r;
	int fd[2], status = 0;
	pid_t pid;

	doctor_step("loading the library into a program");
	if (pipe2(fd, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		return;
	if (pid == 0)
		run_probe(fd[1]);
	close(fd[1]);
	while (n < sizeof text - 1 &&
		(r = read(fd[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)r;
	text[n] = '\0';
	close(fd[0]);
	waitpid(pid, &status, 0);
	if (strstr(text, "loaded ") == NULL) {
		text[strcspn(text, "\n")] = '\0';
		doctor_found(DOCTOR_FAIL,
			"the loader does not put it into a program: %s",
			text[0] != '\0' ? text : "it says nothing");
		doctor_cure("install nfsappend again; look for a security "
			    "policy (SELinux, AppArmor) that forbids to map "
			    "it executable");
		return;
	}
	doctor_found(DOCTOR_OK,
		"it loads into a %d-bit program of this machine, glibc %s",
		(int)sizeof(void *) * 8, gnu_get_libc_version());
	if (strstr(text, "stdio\n") != NULL) {
		doctor_found(DOCTOR_OK, "stdio (fopen, printf) of this glibc "
					"is taken over");
		return;
	}
	doctor_found(DOCTOR_FAIL,
		"stdio of this glibc (%s) is laid out in another way than "
		"nfsappend knows: what programs append through fopen() and "
		"printf() is not served",
		gnu_get_libc_version());
	doctor_cure("use a release of nfsappend that knows this glibc; "
		    "programs that call write() themselves are served");
}

static const char *machine(unsigned is)
{
	return is == EM_X86_64	  ? "x86-64"
	       : is == EM_AARCH64 ? "aarch64"
	       : is == EM_386	  ? "i386"
	       : is == EM_ARM	  ? "arm"
				  : "another machine";
}

/* false: there is none to speak of. */
static bool header(void)
{
	ElfW(Ehdr) e;
	int fd = open(LIBRARY, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0) {
		doctor_found(DOCTOR_FAIL, "it cannot be opened: %s",
			strerror(errno));
		if (errno == EACCES)
			doctor_cure("as its owner: chmod 0755 %s, and the "
				    "directories above it",
				LIBRARY);
		else
			doctor_cure("install nfsappend again (make install)");
		return false;
	}
	n = read(fd, &e, sizeof e);
	close(fd);
	if (n != (ssize_t)sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0) {
		doctor_found(DOCTOR_FAIL, "it is damaged: no ELF file");
		doctor_cure("install nfsappend again (make install)");
		return false;
	}
	doctor_found(DOCTOR_OK,
		"it serves %d-bit %s programs; those of another word size run "
		"without it",
		e.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
		machine(e.e_machine));
	return true;
}

/* For every user: a service may run as any of them. */
static void permissions(void)
{
	char path[] = LIBRARY, *slash;
	struct statvfs fs;
	struct stat st;

	if (strpbrk(LIBRARY, ": \t\n") != NULL) {
		doctor_found(DOCTOR_FAIL,
			"LD_PRELOAD cannot name a path with a colon or white "
			"space");
		doctor_cure("install with another --prefix");
	}
	if (stat(LIBRARY, &st) == 0 && !(st.st_mode & S_IROTH)) {
		doctor_found(DOCTOR_WARN,
			"its mode is %04o: not every user can read it, and "
			"programs of those run without it",
			(unsigned)st.st_mode & 07777);
		doctor_cure("chmod 0755 %s", LIBRARY);
	}
	if (stat(LIBRARY, &st) == 0 &&
		(st.st_mode & 0022 ||
			(st.st_uid != 0 && st.st_uid != geteuid()))) {
		doctor_found(DOCTOR_WARN,
			"its owner is user %u and its mode %04o: others than "
			"root and you can change what your programs load",
			(unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
		doctor_cure("chown root, chmod 0755");
	}
	while ((slash = strrchr(path, '/')) != NULL && slash != path) {
		*slash = '\0';
		if (stat(path, &st) != 0 || st.st_mode & S_IXOTH)
			continue;
		doctor_found(DOCTOR_WARN,
			"%s has mode %04o: other users cannot reach the "
			"library below it",
			path, (unsigned)st.st_mode & 07777);
		doctor_cure("chmod o+x %s, or install elsewhere", path);
	}
	if (statvfs(LIBRARY, &fs) == 0 && fs.f_flag & ST_NOEXEC) {
		doctor_found(DOCTOR_FAIL,
			"it lies on a file system that is mounted noexec");
		doctor_cure("install it elsewhere, or mount without noexec");
	}
}

static void selinux(void)
{
	char enforcing[8] = "", label[256] = "";

	if (sys_read_text(AT_FDCWD, "/sys/fs/selinux/enforce", enforcing,
		    sizeof enforcing) <= 0)
		return;
	if (getxattr(LIBRARY, "security.selinux", label, sizeof label - 1) < 0)
		snprintf(label, sizeof label, "no label");
	if (strstr(label, ":lib_t:") != NULL ||
		strstr(label, "textrel_shlib_t") != NULL) {
		doctor_found(DOCTOR_OK, "SELinux: %s", label);
		return;
	}
	doctor_found(enforcing[0] == '1' ? DOCTOR_WARN : DOCTOR_NOTE,
		"SELinux%s: the library is labelled %s, not lib_t; confined "
		"services may not load it",
		enforcing[0] == '1' ? " enforces" : "", label);
	doctor_cure("restorecon -v %s %s; and allow the service to connect to "
		    "port 2049 (audit2allow shows what is refused)",
		LIBRARY, PKGLIBDIR "/nfsappend-nfs.so");
}

static void module(void)
{
	struct seen libnfs = {.part = "libnfs.so"};
	char why[512] = "";

	doctor_step("loading the nfs module");
	if (doctor_backend(why, sizeof why) == NULL) {
		doctor_found(DOCTOR_FAIL, "its nfs module cannot be loaded: %s",
			why);
		doctor_cure("install libnfs (Debian: apt-get install "
			    "libnfs13, or libnfs14), and nfsappend again");
		return;
	}
	dl_iterate_phdr(look_for, &libnfs);
	doctor_found(DOCTOR_OK,
		"nfsappend-nfs.so loads, with %s (built for "
		"libnfs %s)",
		libnfs.name[0] != '\0' ? libnfs.name : "libnfs",
		LIBNFS_VERSION);
}

void doctor_library(void *unused)
{
	(void)unused;
	doctor_step("looking at " LIBRARY);
	if (!header())
		return;
	permissions();
	selinux();
#ifdef __SANITIZE_ADDRESS__ /* no preloading into a program that has it */
	doctor_found(DOCTOR_NOTE, "built with a sanitizer: it is not loaded "
				  "into this program");
	(void)probe;
#else
	probe();
#endif
	module();
}
