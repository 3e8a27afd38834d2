/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nfs module without the rest of the library: how the doctor waits, and
 * what it has of one server. */
#ifndef NFSAPPEND_DOCTOR_NFS_H
#define NFSAPPEND_DOCTOR_NFS_H

#include "core/backend.h"
#include "core/mounts.h"
#include "doctor/doctor.h"

/* A directory on a server, as a program of this user would reach it. */
struct doctor_place {
	char name[PATH_MAX + 64]; /* for messages */
	struct nfsappend_target target;
	struct nfsappend_cred cred;
	struct nfsappend_contact contact;
	struct nfsappend_session *session;
	struct nfsappend_fh dir;  /* where the test file is made */
	struct nfsappend_fh file; /* that was named, len 0: none */
	char file_name[NFSAPPEND_NAME_MAX + 1];
	/* What does not work: a failure, or a warning where the kernel's
	 * client serves the file in our place. */
	enum doctor_level bad;
	bool mounted;
	char path[PATH_MAX];	      /* of dir on the mount */
	struct nfsappend_mount mount; /* if mounted */
	uint64_t dir_ino;
	int64_t deadline; /* CLOCK_MONOTONIC ns */
};

/* The module beside the library; NULL and why when it cannot be loaded. */
const struct nfsappend_backend *doctor_backend(char *why, size_t room);

/* For one call, until the deadline or a signal. cleaning: signals count no
 * more. */
void doctor_wait(struct nfsappend_wait *, int64_t deadline, bool cleaning);
/* Again? *r stays positive when there is no answer, or GRACE. */
bool doctor_again(struct nfsappend_wait *, int *r, unsigned *tries);
/* In words; of a positive outcome or -errno. */
const char *doctor_outcome(int r);

#define DOCTOR_CALL(w, result, operation, ...)                                 \
	do {                                                                   \
		unsigned tries_ = 0;                                           \
		do                                                             \
			(result) = doctor_backend(NULL, 0)->operation(         \
				__VA_ARGS__);                                  \
		while (doctor_again(&(w), &(result), &tries_));                \
	} while (0)

/* server.c. Ports, version, rights: false, and told, when it goes no further.
 * With target, bad and deadline; resolves and fills contact.address. */
bool doctor_reach(struct doctor_place *);
/* By whom and from which port; session is there, and an object to ask for. */
bool doctor_rights(struct doctor_place *, const struct nfsappend_fh *);
/* Is NFSv4.0 offered where NFSv3 is used? */
void doctor_versions(struct doctor_place *);

/* host.c: may this process use a port below 1024? */
bool doctor_low_port(void);

/* trial.c: the test file. false: something did not work. */
bool doctor_trial(struct doctor_place *);

/* locks.c: who has locked the file that was named. path: of it on the mount,
 * or NULL. */
void doctor_holders(struct doctor_place *, const char *path);
/* Do flock() and fcntl() of programs work on that mount? With a file of
 * ours there. */
void doctor_mount_locks(const struct nfsappend_mount *, const char *path);

/* rpc.c: one call without libnfs, to hear how a port behaves. */
enum doctor_ping {
	DOCTOR_ANSWERED,
	DOCTOR_REFUSED,	    /* nothing listens */
	DOCTOR_UNREACHABLE, /* no route, and the like: error */
	DOCTOR_NO_HOST,	    /* no answer to SYN */
	DOCTOR_SILENT,	    /* connected, no reply */
	DOCTOR_CLOSED,	    /* connected, and closed on us */
	DOCTOR_NO_PROGRAM,  /* something else listens there */
	DOCTOR_NO_VERSION,
};
struct doctor_call {
	unsigned program, version, procedure;
	uint32_t args[4];
	unsigned nargs;
	/* Out. */
	int error;
	uint32_t low, high; /* versions, with DOCTOR_NO_VERSION */
	uint32_t result;
	int64_t took; /* ns */
};
enum doctor_ping doctor_ping(const struct sockaddr_in6 *, unsigned port,
	struct doctor_call *, int64_t deadline);

#endif
