/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process that runs already: is the library in it, and if not, why? */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config_env.h"
#include "doctor/doctor.h"
#include "doctor/process.h"

#define FILE_MAX (1 << 20)
#define OURS "libnfsappend.so"

/* A whole file of /proc/PID, with two NULs behind it; NULL: errno tells. */
static char *slurp(pid_t pid, const char *name)
{
	char path[64], *text = malloc(FILE_MAX + 2);
	size_t n = 0;
	ssize_t r;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = text != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0) {
		free(text);
		return NULL;
	}
	while (n < FILE_MAX && (r = read(fd, text + n, FILE_MAX - n)) > 0)
		n += (size_t)r;
	close(fd);
	text[n] = text[n + 1] = '\0';
	return text;
}

const char *doctor_variable(const struct doctor_process *p, const char *name)
{
	size_t n = strlen(name);

	for (const char *e = p->environment; e != NULL && *e != '\0';
		e += strlen(e) + 1)
		if (strncmp(e, name, n) == 0 && e[n] == '=')
			return e[n + 1] != '\0' ? e + n + 1 : NULL;
	return NULL;
}

static unsigned status_field(
	const char *status, const char *name, unsigned column)
{
	const char *at = strstr(status, name);
	unsigned value = 0;
	char *end;

	if (at == NULL)
		return 0;
	at += strlen(name);
	for (unsigned i = 0; i < column; i++) {
		value = (unsigned)strtoul(at, &end, 10);
		at = end;
	}
	return value;
}

/* The loader was told to be careful: AT_SECURE, getauxval(3). */
static bool secure_execution(pid_t pid)
{
	unsigned long pair[2];
	char path[64];
	bool secure = false;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fread(pair, sizeof pair, 1, f) == 1)
		secure |= pair[0] == AT_SECURE && pair[1] != 0;
	if (f != NULL)
		fclose(f);
	return secure;
}

static bool other_files(pid_t pid)
{
	struct stat theirs, ours;
	char path[64 + sizeof PKGLIBDIR];

	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
	return stat(path, &theirs) == 0 &&
	       stat("/proc/self/ns/mnt", &ours) == 0 &&
	       theirs.st_ino != ours.st_ino;
}

static void explain_absence(const struct doctor_process *p, const char *exe)
{
	const char *preload = doctor_variable(p, "LD_PRELOAD");
	char path[64 + sizeof PKGLIBDIR];

	doctor_found(DOCTOR_FAIL, "nfsappend is not in it");
	if (secure_execution(p->pid)) {
		doctor_found(DOCTOR_NOTE,
			"because it was started with rights that its user does "
			"not have (setuid, setgid, file capabilities), and the "
			"loader ignores LD_PRELOAD then");
		doctor_cure("start it as the user that it becomes, or give "
			    "capabilities to the process, not to the file "
			    "(AmbientCapabilities=)");
		return;
	}
	if (p->environment != NULL &&
		(preload == NULL || strstr(preload, OURS) == NULL)) {
		doctor_found(DOCTOR_NOTE, "because it was started without "
					  "LD_PRELOAD");
		doctor_cure("start it by nfsappend, or put the lines of "
			    "nfsappend --print-env into its unit, crontab or "
			    "container; sudo and env -i take them away");
		return;
	}
	if (!doctor_program(exe, DOCTOR_NOTE))
		return;
	snprintf(path, sizeof path, "/proc/%d/root%s", (int)p->pid,
		preload != NULL && preload[0] == '/' &&
				strlen(preload) < sizeof PKGLIBDIR
			? preload
			: PKGLIBDIR "/" OURS);
	if (other_files(p->pid) && access(path, R_OK) != 0) {
		doctor_found(DOCTOR_NOTE,
			"because it has files of its own (a container or "
			"sandbox), and the library is not among them");
		doctor_cure("mount %s into it, at the same path", PKGLIBDIR);
		return;
	}
	doctor_found(DOCTOR_NOTE, "LD_PRELOAD names it, so the loader could "
				  "not load it then (not installed yet, not "
				  "readable for the user, forbidden)");
	doctor_cure("start it anew and look at what it writes to standard "
		    "error first: 'ERROR: ld.so: object ...'");
}

/* Does the process hold a library that has been replaced since? */
static void tell_version(const char *maps)
{
	const char *at = strstr(maps, OURS), *line = at;
	char path[PATH_MAX];
	size_t n;

	while (line > maps && line[-1] != '\n')
		line--;
	at = strchr(line, '/');
	n = strcspn(at != NULL ? at : "", "\n");
	if (at == NULL || n >= sizeof path)
		return;
	memcpy(path, at, n);
	path[n] = '\0';
	if (strstr(path, " (deleted)") != NULL) {
		doctor_found(DOCTOR_WARN,
			"nfsappend is in it (%s), but of a "
			"file that has been replaced since",
			path);
		doctor_cure("restart the program, so that all use one version");
		return;
	}
	doctor_found(DOCTOR_OK, "nfsappend is in it: %s", path);
	doctor_found(DOCTOR_OK, "its nfs module %s",
		strstr(maps, "nfsappend-nfs.so") != NULL
			? "is loaded"
			: "is not loaded: no file on a server was opened yet");
}

static void tell_configuration(const struct doctor_process *p)
{
	static const char *const names[] = {"NFSAPPEND_PATHS", "NFSAPPEND_MAP",
		"NFSAPPEND_SHARING", "NFSAPPEND_TIMEOUT", "NFSAPPEND_FALLBACK",
		"NFSAPPEND_RUNTIME"};
	bool any = false;

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = doctor_variable(p, names[i]);

		if (value == NULL)
			continue;
		any |= i < 2;
		doctor_found(DOCTOR_OK, "%s=%s", names[i], value);
	}
	if (!any && p->shimmed) {
		doctor_found(DOCTOR_WARN, "neither NFSAPPEND_PATHS nor "
					  "NFSAPPEND_MAP was set when it "
					  "started: only what it inherited is "
					  "served");
		doctor_cure("start it with -p DIR or -m DIR=URL");
	}
}

static bool permitted(const struct doctor_process *p, const char *maps)
{
	if (maps != NULL)
		return true;
	doctor_found(
		DOCTOR_FAIL, "it may not be looked at: %s", strerror(errno));
	doctor_cure("run the doctor as user %u, or as root", p->euid);
	return false;
}

void doctor_process(pid_t pid)
{
	struct doctor_process p = {.pid = pid};
	char path[64], exe[PATH_MAX] = "?", name[64] = "?";
	char *status = slurp(pid, "status"), *maps;
	ssize_t n;

	doctor_step("looking at process %d", (int)pid);
	if (status == NULL) {
		doctor_found(DOCTOR_FAIL, "there is no process %d", (int)pid);
		doctor_cure("correct the number (of another PID namespace? a "
			    "command that is a number: give its path)");
		return;
	}
	p.euid = status_field(status, "\nUid:", 2);
	sscanf(status, "Name: %63[^\n]", name);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof exe - 1);
	if (n > 0)
		exe[n] = '\0';
	doctor_found(DOCTOR_OK, "process %d is %s (%s) of user %u", (int)pid,
		name, exe, p.euid);
	maps = slurp(pid, "maps");
	if (!permitted(&p, maps))
		return;
	p.environment = slurp(pid, "environ");
	p.shimmed = strstr(maps, OURS) != NULL;
	if (p.shimmed)
		tell_version(maps);
	else
		/* By /proc, should the file have been replaced. */
		explain_absence(&p, path);
	tell_configuration(&p);
	doctor_descriptors(&p);
}
