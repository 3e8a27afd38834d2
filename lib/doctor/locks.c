/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks on a file: an append in sharing mode locked waits for them. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/nfs.h"

/* The byte that appends in sharing mode locked take, as the module's. */
#define MUTEX_OFFSET UINT64_C(0x7ffffffffffffffe)

static void tell_range(char *out, size_t room, uint64_t from, uint64_t len)
{
	if (from == 0 && len >= INT64_MAX) /* knfsd: as far as it counts */
		snprintf(out, room, "the whole file");
	else if (len >= INT64_MAX - from)
		snprintf(out, room, "bytes from %" PRIu64 " on", from);
	else
		snprintf(out, room, "%" PRIu64 " bytes from %" PRIu64, len,
			from);
}

static void ask_server(struct doctor_place *p)
{
	struct nfsappend_client client = {.generation = 0};
	struct nfsappend_lock_holder holder = {.found = false};
	struct nfsappend_wait w;
	char range[80];
	int r;

	doctor_step("asking the server who has locked %s", p->file_name);
	doctor_wait(&w, p->deadline, false);
	DOCTOR_CALL(w, r, client, p->session, &w, &client);
	if (r == 0)
		DOCTOR_CALL(w, r, lock_holder, p->session, &w, &client,
			&p->file, &holder);
	if (doctor_interrupted)
		return;
	if (r != 0) {
		doctor_found(DOCTOR_NOTE,
			"the server does not tell who has locked it: %s",
			doctor_outcome(r));
		return;
	}
	if (!holder.found) {
		doctor_found(DOCTOR_OK, "nobody has locked it");
		return;
	}
	if (holder.offset == MUTEX_OFFSET) {
		doctor_found(DOCTOR_OK, "another writer under nfsappend is "
					"appending at this moment");
		return;
	}
	tell_range(range, sizeof range, holder.offset, holder.length);
	doctor_found(DOCTOR_WARN,
		"a program has a %s lock on %s (client %" PRIx64
		" of the server): appends wait until it is unlocked",
		holder.write ? "write" : "read", range, holder.clientid);
	doctor_cure("find the program (flock, fcntl) on this host in "
		    "/proc/locks, on the server under "
		    "/proc/fs/nfsd/clients/*/states");
}

/* Of NFSv3 the kernel's client asks, by NLM. */
static int ask_kernel(void *arg)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(arg, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_GETLK, &l) != 0)
		return 1;
	if (l.l_type == F_UNLCK)
		doctor_found(DOCTOR_OK, "nobody has locked it");
	else
		doctor_found(DOCTOR_WARN,
			"a program has a %s lock on it (process %d%s)",
			l.l_type == F_WRLCK ? "write" : "read", (int)l.l_pid,
			l.l_pid <= 0 ? ": on another host" : "");
	return 0;
}

/* "1: POSIX  ADVISORY  WRITE 1234 00:2d:12345 0 EOF", proc_locks(5). */
static void local_locks(const char *path)
{
	char line[256], kind[16], mode[16], command[64];
	unsigned major, minor;
	unsigned long long ino;
	struct statx stx;
	FILE *f;
	int pid;

	if (sys_statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &stx) != 0)
		return;
	f = fopen("/proc/locks", "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char proc[40];

		if (sscanf(line, "%*s %15s %*s %15s %d %x:%x:%llu", kind, mode,
			    &pid, &major, &minor, &ino) != 6 ||
			ino != stx.stx_ino || major != stx.stx_dev_major ||
			minor != stx.stx_dev_minor)
			continue;
		snprintf(proc, sizeof proc, "/proc/%d/comm", pid);
		if (sys_read_text(AT_FDCWD, proc, command, sizeof command) < 0)
			strcpy(command, "ended, but not those who inherited "
					"the descriptor");
		command[strcspn(command, "\n")] = '\0';
		doctor_found(DOCTOR_NOTE,
			"on this host process %d (%s) has a %s lock on it "
			"(%s)",
			pid, command,
			strcmp(mode, "WRITE") == 0 ? "write" : "read", kind);
	}
	if (f != NULL)
		fclose(f);
}

void doctor_holders(struct doctor_place *p, const char *path)
{
	if (p->target.version == 4) {
		ask_server(p);
	} else if (path != NULL) {
		doctor_step("asking who has locked %s", path);
		if (!doctor_answers(ask_kernel, (void *)path, 3))
			doctor_found(DOCTOR_NOTE, "who has locked it cannot be "
						  "asked");
	} else {
		doctor_found(DOCTOR_NOTE, "over NFSv3 appends heed no locks, "
					  "and who has locked the file is not "
					  "asked");
	}
	if (path != NULL)
		local_locks(path);
}

static int lock_once(void *arg)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = open(arg, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_OFD_SETLK, &l) != 0)
		return 1;
	l.l_type = F_UNLCK;
	return fcntl(fd, F_OFD_SETLK, &l) != 0;
}

void doctor_mount_locks(const struct nfsappend_mount *m, const char *path)
{
	doctor_step("locking a file by the kernel's client");
	if (m->local_lock) {
		doctor_found(DOCTOR_NOTE,
			"flock() and fcntl() locks of "
			"programs hold on this host only "
			"(mount option nolock or local_lock)");
	} else if (doctor_answers(lock_once, (void *)path, 3)) {
		doctor_found(DOCTOR_OK, "flock() and fcntl() locks of programs "
					"work on the mount");
	} else if (!doctor_interrupted) {
		doctor_found(DOCTOR_WARN, "flock() and fcntl() locks of "
					  "programs do not work on this mount");
		doctor_cure(
			m->target.version == 3
				? "start rpc.statd here and the lock service "
				  "on the server (and open their ports), or "
				  "mount with nolock"
				: "see the log of the server");
	}
}
