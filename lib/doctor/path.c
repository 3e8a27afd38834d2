/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A directory or file that should be on a kernel NFS mount. */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/handle.h"
#include "core/path.h"
#include "core/server.h"
#include "doctor/nfs.h"

#define STATX_MASK (STATX_BASIC_STATS | STATX_MNT_ID)

/* The mount that path is on, by its text alone: nothing there is touched,
 * since it may not answer. *type: of the file system. */
static bool mount_by_text(const char *path, struct nfsappend_mount *mount,
	char *type, size_t room)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *best = NULL;
	size_t size = 0, longest = 0;
	bool nfs = false;

	while (f != NULL && getline(&line, &size, f) > 0) {
		char point[PATH_MAX];
		size_t n;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1)
			continue;
		n = strlen(point);
		if (n == 1)
			n = 0; /* the root */
		if (strncmp(path, point, n) != 0 ||
			(path[n] != '/' && path[n] != '\0') ||
			(best != NULL && n < longest))
			continue;
		free(best);
		best = strdup(line);
		longest = n;
	}
	if (f != NULL)
		fclose(f);
	free(line);
	if (best != NULL) {
		unsigned major = 0, minor = 0;
		const char *tail = strstr(best, " - ");

		type[0] = '\0';
		if (tail != NULL)
			snprintf(type, room, "%.*s",
				(int)strcspn(tail + 3, " "), tail + 3);
		sscanf(best, "%*s %*s %u:%u", &major, &minor);
		nfs = nfsappend_mount_line(
			best, 0, (uint64_t)major << 32 | minor, mount);
	}
	free(best);
	return nfs;
}

static int ask_mount(void *point)
{
	struct statfs fs;

	return statfs(point, &fs) != 0;
}

static void set_mount(struct doctor_place *p, const struct nfsappend_mount *m)
{
	p->mount = *m;
	p->target = m->target;
	p->contact = m->contact;
	p->mounted = true;
	p->bad = nfsappend_config.fallback_fails ? DOCTOR_FAIL : DOCTOR_WARN;
	nfsappend_cred_now(&p->cred, &p->target);
}

/* What the options mean for us; false: we cannot serve it. */
static bool tell_mount(struct doctor_place *p)
{
	const struct nfsappend_mount *m = &p->mount;
	char version[16] = "3";

	if (m->target.version == 4)
		snprintf(version, sizeof version, "4.%u", m->minor);
	if (m->target.version == 0) {
		doctor_found(p->bad,
			"on the NFS mount %s, of a version or "
			"address that is not known to us: the "
			"kernel serves it, each write with O_SYNC",
			m->point);
		doctor_cure("mount by TCP with vers=3 or vers=4.2");
		return false;
	}
	doctor_found(DOCTOR_OK,
		"on the NFSv%s mount %s of %s:%s (%s, sec=%s, timeo=%u, "
		"retrans=%u)",
		version, m->point, m->target.host, m->target.path,
		m->soft ? "soft" : "hard", m->sec, m->timeo, m->retrans);
	doctor_found(DOCTOR_OK,
		"a record of up to %u bytes (wsize) is whole or not there, "
		"whatever dies; longer ones take several writes",
		m->contact.wtmax);
	if (!m->sys) {
		doctor_found(p->bad,
			"it is mounted with sec=%s, and nfsappend speaks "
			"sec=sys only: the kernel serves it, each write with "
			"O_SYNC",
			m->sec);
		doctor_cure("export and mount with sec=sys where the network "
			    "allows it");
		return false;
	}
	if (m->soft && !nfsappend_config.timeout_given) {
		doctor_found(DOCTOR_WARN,
			"it is a soft mount: after %u s without an answer "
			"write() fails with EIO, and the record may be in the "
			"file or not",
			(m->timeo * (m->retrans + 1) + 9) / 10);
		doctor_cure("mount hard, or --timeout 0");
	}
	return true;
}

static bool executable(const char *path, const struct statx *stx)
{
	char head[4] = "";
	int fd;

	if (!S_ISREG(stx->stx_mode) || !(stx->stx_mode & 0111))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return true; /* to be executed, but not read */
	if (read(fd, head, sizeof head) < 2)
		head[0] = '\0';
	close(fd);
	return memcmp(head, ELFMAG, SELFMAG) == 0 || memcmp(head, "#!", 2) == 0;
}

static void not_nfs(const char *path, const char *type)
{
	doctor_found(DOCTOR_FAIL,
		"%s is on %s, not on an NFS mount: nfsappend leaves it alone",
		path, type[0] != '\0' ? type : "a local file system");
	doctor_cure("mount the server there, name a directory on a mount, or "
		    "use a URL (nfsappend -m %s=nfs://SERVER/EXPORT)",
		path);
}

/* The handles of directory and file, without the server where the kernel
 * gives them. false: told. */
static bool find_handles(struct doctor_place *p)
{
	char path[2 * PATH_MAX];
	struct statx stx;
	int fd, r;

	fd = open(p->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		doctor_found(DOCTOR_FAIL, "%s: %s", p->path, strerror(errno));
		return false;
	}
	r = (int)sys_statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx);
	p->dir_ino = stx.stx_ino;
	if (r == 0)
		r = nfsappend_handle_of(fd, stx.stx_ino, &p->dir);
	close(fd);
	p->session = doctor_backend(NULL, 0)->session(
		&p->target, &p->contact, &p->cred);
	if (p->session == NULL)
		return false;
	if (r != 0) {
		struct nfsappend_target target = p->target;
		struct nfsappend_contact contact = {.wtmax = 0};
		struct nfsappend_wait w;
		char why[256] = "";
		const char *rest = p->path + strlen(p->mount.point);

		doctor_found(DOCTOR_NOTE,
			"the kernel does not tell file handles of it (%s): "
			"files are looked up by name, a few RPCs each",
			strerror(-r));
		doctor_step("looking up %s on the server", p->path);
		snprintf(target.path, sizeof target.path, "%s%s%s",
			p->target.path[1] != '\0' ? p->target.path : "",
			rest[0] == '/' ? "" : "/", rest);
		doctor_wait(&w, p->deadline, false);
		r = doctor_backend(NULL, 0)->contact(
			&target, &p->cred, &w, &contact, why, sizeof why);
		p->dir = contact.root;
		if (r != 0) {
			doctor_found(p->bad, "it cannot be looked up: %s",
				why[0] != '\0' ? why : doctor_outcome(r));
			doctor_cure("mount with vers=4.2 or vers=3 in place of "
				    "vers=4.0");
			return false;
		}
	} else {
		doctor_found(DOCTOR_OK, "the kernel tells its file handles");
	}
	if (p->file_name[0] == '\0')
		return true;
	snprintf(path, sizeof path, "%s/%s", p->path, p->file_name);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		if (sys_statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx) !=
				0 ||
			nfsappend_handle_of(fd, stx.stx_ino, &p->file) != 0)
			p->file.len = 0;
		close(fd);
	}
	return true;
}

static bool may_write(const char *path, const struct statx *stx)
{
	int error;

	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0)
		return true;
	error = errno;
	doctor_found(DOCTOR_FAIL,
		"%s may not be written by you (user %u): %s; its mode is %04o, "
		"its owner user %u, group %u",
		path, (unsigned)geteuid(), strerror(error),
		(unsigned)stx->stx_mode & 07777, stx->stx_uid, stx->stx_gid);
	doctor_cure(error == EROFS ? "mount it read-write (and export with rw)"
				   : "chown or chmod it, run the program as "
				     "another user, or export with rw");
	return false;
}

static void tell_configured(const char *path)
{
	bool near = false;

	for (unsigned i = 0; i < nfsappend_config.npaths; i++)
		near |= strcmp(nfsappend_config.paths[i].dir, path) == 0;
	if (nfsappend_config.npaths == 0)
		doctor_found(DOCTOR_NOTE,
			"to serve it: nfsappend -p %s -- "
			"COMMAND",
			path);
	else if (!near && !nfsappend_paths_match(path)) {
		doctor_found(DOCTOR_WARN,
			"NFSAPPEND_PATHS (-p) does not name it: the kernel "
			"serves it, as without nfsappend");
		doctor_cure("nfsappend -p %s", path);
	}
}

/* The rest of it, when the mount is known to answer. */
static void on_mount(struct doctor_place *p, const char *path,
	const struct statx *stx, bool there)
{
	bool writable = true;

	if (!tell_mount(p))
		return;
	tell_configured(path);
	if (there && !S_ISDIR(stx->stx_mode))
		writable = may_write(path, stx);
	if (!find_handles(p) || !doctor_rights(p, &p->dir))
		return;
	doctor_versions(p);
	if (!writable)
		return;
	if (p->file.len != 0)
		doctor_holders(p, path);
	if (!doctor_interrupted &&
		faccessat(AT_FDCWD, p->path, W_OK | X_OK, AT_EACCESS) != 0 &&
		p->file.len != 0) {
		doctor_found(DOCTOR_NOTE,
			"you may make no file in %s (%s): the test of an "
			"append "
			"is left out",
			p->path, strerror(errno));
		return;
	}
	if (!doctor_interrupted)
		doctor_trial(p);
}

/* Before anything there is touched: does the server of the mount that the
 * path seems to be on answer? */
static bool answers(
	struct doctor_place *p, const char *path, char *type, size_t room)
{
	struct nfsappend_mount m;

	if (!mount_by_text(path, &m, type, room) || m.target.version == 0)
		return true;
	set_mount(p, &m);
	if (doctor_reach(p))
		return true;
	if (doctor_interrupted)
		return false;
	doctor_step("asking the kernel's mount %s", m.point);
	if (doctor_answers(ask_mount, m.point, 2)) {
		doctor_found(DOCTOR_NOTE,
			"the kernel's mount %s does answer: its appends are "
			"served by the kernel, each write with O_SYNC",
			m.point);
	} else if (!doctor_interrupted) {
		doctor_found(DOCTOR_FAIL,
			"the kernel's mount %s does not answer either: "
			"programs that touch %s wait",
			m.point, path);
		doctor_cure("see above; a mount that is of no use any more: "
			    "umount -f -l %s",
			m.point);
	}
	return false;
}

static bool absolute(const char *path, char *out, size_t room)
{
	char text[2 * PATH_MAX], cwd[PATH_MAX];

	if (path[0] == '/')
		snprintf(text, sizeof text, "%s", path);
	else if (getcwd(cwd, sizeof cwd) != NULL)
		snprintf(text, sizeof text, "%s/%s", cwd, path);
	else
		return false;
	return nfsappend_path_normalise(text, out, room) > 0;
}

/* directory and name of a file; the directory itself has none. */
static void split(struct doctor_place *p, const char *real, bool directory)
{
	const char *slash = strrchr(real, '/');

	snprintf(p->path, sizeof p->path, "%s", real);
	if (directory)
		return;
	p->path[slash == real ? 1 : slash - real] = '\0';
	snprintf(p->file_name, sizeof p->file_name, "%s", slash + 1);
}

void doctor_path(const char *given)
{
	static struct doctor_place p;
	char path[PATH_MAX], real[PATH_MAX], parent[PATH_MAX], type[32] = "";
	struct nfsappend_mount mount;
	struct statx stx;
	bool there;
	int error;

	memset(&p, 0, sizeof p);
	p.deadline = nfsappend_now() + doctor_seconds * DOCTOR_SECOND;
	if (!absolute(given, path, sizeof path)) {
		doctor_found(DOCTOR_FAIL, "the path is too long");
		return;
	}
	snprintf(p.name, sizeof p.name, "%s", path);
	if (doctor_backend(NULL, 0) == NULL) /* told above */
		return;
	if (!answers(&p, path, type, sizeof type))
		return;
	doctor_step("looking at %s", path);
	error = (int)-sys_statx(AT_FDCWD, path, 0, STATX_MASK, &stx);
	there = error == 0;
	if (error != 0 && error != ENOENT && error != ENOTDIR) {
		doctor_found(DOCTOR_FAIL, "%s cannot be looked at: %s", path,
			strerror(error));
		doctor_cure(error == EACCES
				? "let this user enter the directories above "
				  "it, or run the doctor as the user of the "
				  "program"
				: error == ESTALE
				? "mount it again: the server does not know "
				  "its file handle any more"
				: "see the log of the server, and dmesg");
		return;
	}
	if (!there) {
		snprintf(parent, sizeof parent, "%s", path);
		*(strrchr(parent, '/') + (strrchr(parent, '/') == parent)) =
			'\0';
		if (sys_statx(AT_FDCWD, parent, 0, STATX_MASK, &stx) != 0 ||
			!nfsappend_mount_find(&stx, &mount)) {
			doctor_found(DOCTOR_FAIL,
				"%s: neither a directory or file on NFS, nor a "
				"command, a PID or an nfs:// URL",
				given);
			doctor_cure("correct the name");
			return;
		}
		doctor_found(DOCTOR_NOTE, "the file is not there yet");
	} else if (executable(path, &stx)) {
		doctor_command(path);
		return;
	} else if (!nfsappend_mount_find(&stx, &mount)) {
		not_nfs(path, type);
		return;
	}
	set_mount(&p, &mount);
	if (realpath(there ? path : parent, real) == NULL)
		snprintf(real, sizeof real, "%s", there ? path : parent);
	split(&p, real, !there || S_ISDIR(stx.stx_mode));
	on_mount(&p, path, &stx, there);
}
