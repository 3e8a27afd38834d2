/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The descriptors of a process: which ones nfsappend serves, and of each of
 * the others that might be meant, why not. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/handle.h"
#include "core/mounts.h"
#include "core/placeholder.h"
#include "core/segment_file.h"
#include "doctor/doctor.h"
#include "doctor/process.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#define SHOWN_MAX 100

/* Why a descriptor is not served. */
enum reason {
	MANAGED,
	NOT_A_FILE, /* socket, pipe, device, directory */
	LOCAL,
	NOT_WRITING,
	NOT_APPENDING,
	NO_SHIM,
	NOT_NAMED,
	SECURITY, /* sec= other than sys */
	UNKNOWN_MOUNT,
	NOT_YET,
};

struct descriptor {
	const struct doctor_process *process;
	int number;
	char link[PATH_MAX];
	unsigned flags;
	struct statx stx;
	struct nfsappend_mount mount;
	struct nfsappend_fh fh;
};

struct counts {
	unsigned managed, shown, others;
};

static bool read_flags(struct descriptor *d)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)d->process->pid,
		d->number);
	if (sys_read_text(AT_FDCWD, path, text, sizeof text) < 0)
		return false;
	at = strstr(text, "flags:");
	if (at == NULL)
		return false;
	d->flags = (unsigned)strtoul(at + 6, NULL, 8);
	return true;
}

/* In the mount table of that process, which may be another one than ours. */
static bool find_mount(struct descriptor *d)
{
	char path[64], *line = NULL;
	uint64_t id = nfsappend_stx_mnt_id(&d->stx);
	uint64_t dev = nfsappend_stx_dev(&d->stx);
	size_t size = 0;
	bool found = false;
	FILE *f;

	if (d->stx.stx_dev_major != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/mountinfo", (int)d->process->pid);
	f = fopen(path, "re");
	while (f != NULL && !found && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = nfsappend_mount_line(line, id, dev, &d->mount);
	}
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

/* The mark that we leave on descriptors: -1 when it cannot be asked. */
static long marker_of(const struct descriptor *d)
{
	long pidfd = syscall(SYS_pidfd_open, d->process->pid, 0), fd, sig;

	if (pidfd < 0)
		return -1;
	fd = syscall(SYS_pidfd_getfd, pidfd, d->number, 0);
	close((int)pidfd);
	if (fd < 0)
		return -1;
	sig = fcntl((int)fd, F_GETSIG);
	close((int)fd);
	return sig;
}

static bool marked(const struct descriptor *d)
{
	long sig = marker_of(d);

	if (sig >= 0)
		return nfsappend_is_marker(sig);
	/* Not allowed to ask: no program opens a log like that. */
	return d->process->shimmed && d->flags & O_APPEND &&
	       (d->flags & O_ACCMODE) == O_RDONLY;
}

/* The segment that has the file's handle in its key: as it is at this moment,
 * while others may be writing to it. */
static bool find_segment(
	const struct descriptor *d, struct nfsappend_segment *s)
{
	const char *runtime = doctor_variable(d->process, "NFSAPPEND_RUNTIME");
	char path[PATH_MAX], file[PATH_MAX + 256];
	bool found = false;
	struct dirent *e;
	DIR *dir;

	if (runtime != NULL)
		snprintf(path, sizeof path, "/proc/%d/root%s",
			(int)d->process->pid, runtime);
	else
		snprintf(path, sizeof path,
			"/proc/%d/root/dev/shm/nfsappend-%u",
			(int)d->process->pid, d->process->euid);
	dir = opendir(path);
	while (dir != NULL && !found && (e = readdir(dir)) != NULL) {
		int fd;

		snprintf(file, sizeof file, "%s/%s", path, e->d_name);
		fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		found = pread(fd, s, sizeof *s, 0) == (ssize_t)sizeof *s &&
			s->magic == NFSAPPEND_SEGMENT_MAGIC &&
			s->keylen <= sizeof s->key && d->fh.len > 0 &&
			memmem(s->key, s->keylen, d->fh.data, d->fh.len) !=
				NULL;
		close(fd);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

static void tell_managed(struct descriptor *d, const char *what,
	const char *server, unsigned version)
{
	static const char *const modes[] = {"single", "guarded", "locked"};
	static struct nfsappend_segment s;
	char how[160] = "";

	if (find_segment(d, &s)) {
		unsigned users = 0;

		for (int i = 0; i < NFSAPPEND_USERS; i++)
			users += s.users[i] != 0;
		snprintf(how, sizeof how, ", sharing %s, %u process%s here%s",
			s.sharing <= NFSAPPEND_LOCKED ? modes[s.sharing] : "?",
			users, users == 1 ? "" : "es",
			s.kernel_served ? "" : ", served by nfsappend");
		if (s.kernel_served) {
			doctor_found(DOCTOR_WARN,
				"descriptor %d: %s on %s: managed, but served "
				"by the kernel, each write with O_SYNC%s",
				d->number, what, server, how);
			doctor_cure("message N406 or N409 in the program's log "
				    "tells why; so it stays until the last "
				    "writer of this host has ended");
			return;
		}
	}
	doctor_found(DOCTOR_OK, "descriptor %d: %s on %s, NFSv%u: managed%s",
		d->number, what, server, version, how);
}

/* Of -m: a memfd that says what it stands for. */
static bool tell_placeholder(struct descriptor *d, struct counts *c)
{
	static struct nfsappend_placeholder p;
	char path[64], server[1400];
	int fd, r;

	if (strncmp(d->link, "/memfd:nfsappend", 16) != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)d->process->pid,
		d->number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : nfsappend_placeholder_read(fd, &p);
	if (fd >= 0)
		close(fd);
	c->shown++;
	if (r != 0) {
		doctor_found(DOCTOR_NOTE,
			"descriptor %d: a file under -m, of another version of "
			"nfsappend or not to be read (%s)",
			d->number, strerror(-r));
		return true;
	}
	snprintf(server, sizeof server, "nfs://%s%s", p.target.host,
		p.target.path);
	if (!d->process->shimmed) {
		doctor_found(DOCTOR_WARN,
			"descriptor %d: %s on %s, inherited by a program "
			"without nfsappend: its writes fail with EPERM",
			d->number, p.path, server);
		doctor_cure("run the program under nfsappend, or give it a "
			    "pipe");
		return true;
	}
	c->managed++;
	d->fh = p.fh;
	tell_managed(d, p.path, server, p.target.version);
	return true;
}

static enum reason why_not(struct descriptor *d)
{
	if (!S_ISREG(d->stx.stx_mode))
		return NOT_A_FILE;
	if (!find_mount(d))
		return LOCAL;
	if (marked(d))
		return d->process->shimmed ? MANAGED : NO_SHIM;
	if ((d->flags & O_ACCMODE) == O_RDONLY || d->flags & O_PATH)
		return NOT_WRITING;
	if (!(d->flags & O_APPEND))
		return NOT_APPENDING;
	if (!d->process->shimmed)
		return NO_SHIM;
	if (d->mount.target.version == 0)
		return UNKNOWN_MOUNT;
	if (!d->mount.sys)
		return SECURITY;
	if (!nfsappend_paths_match(d->link))
		return NOT_NAMED;
	return NOT_YET;
}

static void tell_reason(const struct descriptor *d, enum reason why)
{
	static const struct {
		enum doctor_level level;
		const char *text, *cure;
	} reasons[] = {
		[LOCAL] = {DOCTOR_NOTE, "it is not on an NFS mount", NULL},
		[NOT_WRITING] = {DOCTOR_NOTE, "it is opened for reading only",
			NULL},
		[NOT_APPENDING] = {DOCTOR_NOTE,
			"it is opened without O_APPEND, and only appends are "
			"served",
			NULL},
		[NO_SHIM] = {DOCTOR_WARN, "nfsappend is not in the process",
			"see above"},
		[NOT_NAMED] = {DOCTOR_WARN,
			"NFSAPPEND_PATHS (-p) does not name it",
			"start the program with -p for its directory"},
		[SECURITY] = {DOCTOR_WARN,
			"its mount has another sec= than sys: the kernel "
			"serves it",
			"mount with sec=sys where the network allows it"},
		[UNKNOWN_MOUNT] = {DOCTOR_WARN,
			"version or address of its mount are not known to "
			"nfsappend: the kernel serves it",
			"mount by TCP with vers=3 or vers=4.2"},
		[NOT_YET] = {DOCTOR_NOTE,
			"it was inherited, and is taken over at the first "
			"write",
			NULL},
	};

	doctor_found(reasons[why].level, "descriptor %d: %s: not managed: %s",
		d->number, d->link, reasons[why].text);
	if (reasons[why].cure != NULL)
		doctor_cure("%s", reasons[why].cure);
}

static void tell_mounted(struct descriptor *d)
{
	char server[1400], path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)d->process->pid,
		d->number);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		if (nfsappend_handle_of(fd, d->stx.stx_ino, &d->fh) != 0)
			d->fh.len = 0;
		close(fd);
	}
	snprintf(server, sizeof server, "%s:%s", d->mount.target.host,
		d->mount.target.path);
	tell_managed(d, d->link, server, d->mount.target.version);
}

static void look(struct descriptor *d, struct counts *c)
{
	char path[64];
	enum reason why;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)d->process->pid,
		d->number);
	n = readlink(path, d->link, sizeof d->link - 1);
	if (n < 0 || !read_flags(d))
		return; /* closed meanwhile */
	d->link[n] = '\0';
	doctor_step("looking at descriptor %d (%s)", d->number, d->link);
	if (c->shown >= SHOWN_MAX || d->link[0] != '/') {
		c->others++;
		return;
	}
	if (tell_placeholder(d, c))
		return;
	if (sys_statx(AT_FDCWD, path, AT_STATX_DONT_SYNC,
		    STATX_BASIC_STATS | STATX_MNT_ID, &d->stx) != 0)
		return;
	why = why_not(d);
	if (why == MANAGED) {
		c->managed++;
		c->shown++;
		tell_mounted(d);
	} else if (why == NOT_A_FILE ||
		   (why == LOCAL &&
			   (!(d->flags & O_APPEND) ||
				   (d->flags & O_ACCMODE) == O_RDONLY))) {
		c->others++;
	} else {
		c->shown++;
		tell_reason(d, why);
	}
}

void doctor_descriptors(const struct doctor_process *p)
{
	const char *paths = doctor_variable(p, "NFSAPPEND_PATHS");
	struct counts c = {0};
	struct dirent *e;
	char path[64];
	DIR *dir;

	/* Its configuration in place of ours, in this child of our own. */
	nfsappend_config.npaths = 0;
	if (paths != NULL)
		nfsappend_config_paths(paths);
	snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
	dir = opendir(path);
	if (dir == NULL) {
		doctor_found(DOCTOR_FAIL,
			"its descriptors cannot be looked at: "
			"%s",
			strerror(errno));
		doctor_cure("run the doctor as user %u, or as root", p->euid);
		return;
	}
	while ((e = readdir(dir)) != NULL && !doctor_interrupted) {
		static struct descriptor d;

		if (e->d_name[0] == '.')
			continue;
		memset(&d, 0, sizeof d);
		d.process = p;
		d.number = atoi(e->d_name);
		look(&d, &c);
	}
	closedir(dir);
	doctor_found(c.managed > 0 || !p->shimmed ? DOCTOR_OK : DOCTOR_NOTE,
		"%u descriptor%s managed; %u other%s that nfsappend has "
		"nothing "
		"to do with (sockets, pipes, devices, directories, local files "
		"not opened for appending)",
		c.managed, c.managed == 1 ? " is" : "s are", c.others,
		c.others == 1 ? "" : "s");
}
