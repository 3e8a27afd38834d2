/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Will a program have the library in it? It is read, never run. */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/program.h"
#include "doctor/doctor.h"

extern char **environ;

#define SCRIPTS_MAX 4

/* Programs that start others, and not with our environment. */
static const struct {
	const char *name, *why, *cure;
} starters[] = {
	{"sudo",
		"starts its command in a fresh environment, without LD_PRELOAD",
		"put nfsappend behind it: sudo nfsappend ... COMMAND"},
	{"su",
		"starts a shell for another user, without LD_PRELOAD where "
		"that "
		"is a login shell",
		"put nfsappend into what it runs: su USER -c 'nfsappend ...'"},
	{"doas", "starts its command in a fresh environment",
		"put nfsappend behind it: doas nfsappend ... COMMAND"},
	{"pkexec", "starts its command in a fresh environment",
		"put nfsappend behind it"},
	{"systemctl", "has the service started by systemd, not by this shell",
		"put the lines of nfsappend --print-env into the unit"},
	{"service", "starts the service in an environment of its own",
		"put the lines of nfsappend --print-env into the unit"},
	{"systemd-run", "has the command started by systemd",
		"put nfsappend behind it: systemd-run ... nfsappend ... "
		"COMMAND"},
	{"docker",
		"has its containers started by a daemon; the environment of "
		"this shell does not get there",
		"give docker run the arguments of nfsappend --print-env, and "
		"mount the library into the container at the same path"},
	{"podman", "gives a container an environment and files of its own",
		"give podman run the arguments of nfsappend --print-env, and "
		"mount the library into the container at the same path"},
	{"runc", "gives a container an environment and files of its own",
		"put LD_PRELOAD and NFSAPPEND_* into the container's "
		"configuration, and the library into its files"},
	{"flatpak", "runs programs in a sandbox that does not see the library",
		"use a build of the program that is no flatpak"},
	{"snap", "runs programs in a sandbox that does not see the library",
		"use a build of the program that is no snap"},
	{"ssh", "runs the command on another machine",
		"put nfsappend there: ssh HOST nfsappend ... COMMAND"},
	{"at", "has the command run by a daemon, later",
		"put nfsappend into the job"},
	{"crontab", "has commands run by a daemon",
		"put the lines of nfsappend --print-env at the top of the "
		"crontab"},
};

static bool starter(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name != NULL ? name + 1 : path;
	for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
		if (strcmp(starters[i].name, name) != 0)
			continue;
		doctor_found(DOCTOR_WARN, "%s %s", name, starters[i].why);
		doctor_cure("%s", starters[i].cure);
		return true;
	}
	return false;
}

/* By where it leads: /snap/bin/x is a link to the snap program. */
static bool packaged(const char *path)
{
	char real[PATH_MAX];
	const char *kind = NULL;

	if (realpath(path, real) == NULL)
		return false;
	if (strncmp(real, "/snap/", 6) == 0 || strncmp(path, "/snap/", 6) == 0)
		kind = "snap";
	else if (strstr(real, "/flatpak/") != NULL)
		kind = "flatpak";
	if (kind == NULL)
		return false;
	doctor_found(DOCTOR_FAIL,
		"it is a %s: it runs in a sandbox with files of its own, where "
		"the library is not, and the loader goes on without it",
		kind);
	doctor_cure("use a build of the program that is no %s", kind);
	return true;
}

static const char *cure_of(const char *why)
{
	static const struct {
		const char *part, *cure;
	} cures[] = {
		{"statically",
			"use a dynamically linked build of it, or pipe its "
			"output into 'nfsappend ... tee -a FILE' (all that "
			"helps a Go program)"},
		{"another C library",
			"use a build of it for glibc, or pipe its output into "
			"'nfsappend ... tee -a FILE'"},
		{"Go program",
			"pipe its output into 'nfsappend ... tee -a FILE'"},
		{"word size", "use a build of it for this machine's word size"},
		{"setuid", "start it as the user that it becomes, from a copy "
			   "without the setuid bit"},
		{"setgid", "start it in the group that it becomes, from a copy "
			   "without the setgid bit"},
		{"capabilities",
			"give the capabilities to the process instead of the "
			"file (AmbientCapabilities= of systemd, setpriv "
			"--ambient-caps)"},
	};

	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
		if (strstr(why, cures[i].part) != NULL)
			return cures[i].cure;
	return "pipe its output into 'nfsappend ... tee -a FILE'";
}

/* The interpreter of a script, into out; env is looked through. false: it is
 * no script. */
static bool interpreter_of(const char *path, char *out, size_t room)
{
	char head[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head - 1);
	char *word, *save = NULL;

	if (fd >= 0)
		close(fd);
	if (n < 4 || memcmp(head, ELFMAG, SELFMAG) == 0)
		return false;
	head[n] = '\0';
	if (head[0] != '#' || head[1] != '!') {
		/* As execvp() does with what is no program. */
		snprintf(out, room, "/bin/sh");
		return true;
	}
	head[strcspn(head, "\n")] = '\0';
	word = strtok_r(head + 2, " \t", &save);
	if (word == NULL)
		return false;
	snprintf(out, room, "%s", word);
	if (strlen(word) < 4 || strcmp(word + strlen(word) - 4, "/env") != 0)
		return true;
	while ((word = strtok_r(NULL, " \t", &save)) != NULL)
		if (word[0] != '-' && strchr(word, '=') == NULL)
			return nfsappend_program_find(word, environ, out, room);
	return true;
}

bool doctor_program(const char *path, enum doctor_level bad)
{
	static char preload[] = "LD_PRELOAD=" PKGLIBDIR "/libnfsappend.so";
	char *const with_us[] = {preload, NULL};
	char at[PATH_MAX], next[PATH_MAX];
	const char *why;
	struct stat st;

	snprintf(at, sizeof at, "%s", path);
	for (int depth = 0;
		depth < SCRIPTS_MAX && interpreter_of(at, next, sizeof next);
		depth++) {
		doctor_found(DOCTOR_OK, "it is a script, run by %s", next);
		if (access(next, X_OK) != 0) {
			doctor_found(bad, "%s cannot be run: %s", next,
				strerror(errno));
			doctor_cure("correct the first line of %s", at);
			return false;
		}
		snprintf(at, sizeof at, "%s", next);
	}
	if (access(at, R_OK) != 0)
		doctor_found(DOCTOR_NOTE,
			"%s may be executed but not read: nothing is known of "
			"it",
			at);
	why = nfsappend_program_without_us(AT_FDCWD, at, with_us);
	if (why != NULL) {
		doctor_found(bad,
			"%s %s: it runs without nfsappend. What it appends "
			"under -m goes to the local disk, so the wrapper "
			"refuses it there; under -p the kernel serves it, not "
			"durable when write() returns",
			at, why);
		doctor_cure("%s", cure_of(why));
		return false;
	}
	if (stat(at, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID) &&
		(geteuid() == 0 || getuid() == st.st_uid))
		doctor_found(DOCTOR_NOTE,
			"it is setuid or setgid (mode %04o): the loader takes "
			"nfsappend along for you, but not for users who gain "
			"rights by it",
			(unsigned)st.st_mode & 07777);
	return true;
}

void doctor_command(const char *name)
{
	struct stat st;

	doctor_step("looking at the program %s", name);
	if (stat(name, &st) != 0) {
		doctor_found(DOCTOR_FAIL, "%s: %s", name, strerror(errno));
		doctor_cure("correct the name, or give a path");
		return;
	}
	if (access(name, X_OK) != 0) {
		doctor_found(DOCTOR_FAIL, "%s is not executable for you: %s",
			name, strerror(errno));
		doctor_cure("chmod +x, or name its interpreter");
		return;
	}
	if (starter(name) || packaged(name) ||
		!doctor_program(name, DOCTOR_FAIL))
		return;
	doctor_found(DOCTOR_OK,
		"%s is a dynamically linked program of this machine's glibc: "
		"nfsappend will be in it",
		name);
}
