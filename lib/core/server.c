/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/log.h"
#include "core/server.h"
#include "core/slab.h"
#include "core/userns.h"

#define MS INT64_C(1000000)

const struct nfsappend_backend *nfsappend_backend;
const struct nfsappend_backend *(*nfsappend_backend_loader)(void);

static struct nfsappend_slab slab = NFSAPPEND_SLAB(struct nfsappend_server);
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nfsappend_server *servers; /* under list_lock; only grows */

static void after_fork(void)
{
	pthread_mutex_init(&list_lock, NULL);
	nfsappend_slab_after_fork(&slab);
	for (struct nfsappend_server *s = servers; s != NULL; s = s->next)
		pthread_mutex_init(&s->contacting, NULL);
	if (nfsappend_backend != NULL)
		nfsappend_backend->after_fork();
}

void nfsappend_server_start(void)
{
	nfsappend_process_on_child(after_fork);
}

void nfsappend_cred_now(
	struct nfsappend_cred *cred, const struct nfsappend_target *target)
{
	static _Atomic bool groups_told;
	gid_t groups[256]; /* more than go over the wire, to be told once */
	long n;

	memset(cred, 0, sizeof *cred);
	/* setfsuid(-1) changes nothing and tells the id that files see. */
	cred->uid = nfsappend_outside_uid(
		(uint32_t)nfsappend_sys(SYS_setfsuid, -1, 0, 0, 0, 0, 0));
	cred->gid = nfsappend_outside_gid(
		(uint32_t)nfsappend_sys(SYS_setfsgid, -1, 0, 0, 0, 0, 0));
	n = nfsappend_sys(SYS_getgroups, 256, (long)groups, 0, 0, 0, 0);
	if (target->has_uid)
		cred->uid = target->uid;
	if (target->has_gid)
		cred->gid = target->gid;
	if (target->has_uid || target->has_gid)
		n = 0; /* somebody else: the process's groups are not theirs */
	if (n > NFSAPPEND_GROUPS_MAX || n == -EINVAL) {
		if (!atomic_exchange(&groups_told, true))
			nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_GROUPS,
				"the process has more than %d groups; AUTH_SYS "
				"carries the first %d, so files open to the "
				"others only are refused",
				NFSAPPEND_GROUPS_MAX, NFSAPPEND_GROUPS_MAX);
		n = n > 0 ? NFSAPPEND_GROUPS_MAX : 0;
	}
	for (long i = 0; i < n; i++)
		cred->groups[i] = nfsappend_outside_gid(groups[i]);
	cred->ngroups = n > 0 ? (uint32_t)n : 0;
}

void nfsappend_cred_real(
	struct nfsappend_cred *cred, const struct nfsappend_target *target)
{
	if (!target->has_uid)
		cred->uid = nfsappend_outside_uid(
			(uint32_t)nfsappend_sys(SYS_getuid, 0, 0, 0, 0, 0, 0));
	if (!target->has_gid)
		cred->gid = nfsappend_outside_gid(
			(uint32_t)nfsappend_sys(SYS_getgid, 0, 0, 0, 0, 0, 0));
}

uint64_t nfsappend_server_device(
	const struct nfsappend_server *s, const struct nfsappend_attr *attr)
{
	const uint8_t *p = (const uint8_t *)&s->contact.address.sin6_addr;
	uint64_t h = attr->fsid ^ UINT64_C(0x9e3779b97f4a7c15);

	for (int i = 0; i < 16; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	/* A major number that the kernel gives to nobody (it has 12 bits;
	 * 0 is for unnamed devices, up to 511 are taken). */
	return makedev(0xe00 | (h >> 40 & 0xff), h & 0xfffff);
}

static bool same(const struct nfsappend_server *s,
	const struct nfsappend_target *target,
	const struct nfsappend_cred *cred)
{
	return memcmp(&s->target, target, sizeof *target) == 0 &&
	       memcmp(&s->cred, cred, sizeof *cred) == 0;
}

static const struct nfsappend_backend *load(void)
{
	if (nfsappend_backend == NULL)
		nfsappend_backend = nfsappend_backend_loader();
	return nfsappend_backend;
}

struct nfsappend_server *nfsappend_server_get(
	const struct nfsappend_target *target,
	const struct nfsappend_cred *cred,
	const struct nfsappend_contact *contact)
{
	struct nfsappend_server *s;
	bool v6 = strchr(target->host, ':') != NULL;

	pthread_mutex_lock(&list_lock);
	for (s = servers; s != NULL; s = s->next)
		if (same(s, target, cred))
			break;
	if (s == NULL && load() != NULL &&
		(s = nfsappend_slab_take(&slab)) != NULL) {
		s->target = *target;
		s->cred = *cred;
		pthread_mutex_init(&s->contacting, NULL);
		snprintf(s->name, sizeof s->name, "nfs://%s%.200s%s%.80s",
			v6 ? "[" : "", target->host, v6 ? "]" : "",
			target->path);
		s->next = servers;
		servers = s;
	}
	if (s != NULL && s->session == NULL && contact != NULL) {
		s->contact = *contact;
		s->session = nfsappend_backend->session(target, contact, cred);
		if (s->session == NULL)
			s = NULL;
	}
	pthread_mutex_unlock(&list_lock);
	return s;
}

size_t nfsappend_server_key(const struct nfsappend_server *s, uint8_t *key)
{
	size_t len = (size_t)snprintf((char *)key, 60, "%u %u %u %u ",
		s->target.version, s->cred.uid, s->cred.gid,
		ntohs(s->contact.address.sin6_port));

	memcpy(key + len, &s->contact.address.sin6_addr, 16);
	len += 16;
	memcpy(key + len, s->cred.groups, s->cred.ngroups * 4);
	return len + s->cred.ngroups * 4;
}

static const char *cure(const struct nfsappend_server *s, int error)
{
	switch (-error) {
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "check the server's name and the network";
	case ECONNREFUSED:
		return s->target.version == 3
			? "start the NFS server, correct the port in the URL "
			  "(nfsport=, mountport=), or add version=4 for a "
			  "server of NFSv4 alone"
			: "start the NFS server or correct the port in the "
			  "URL (nfsport=)";
	case ENOENT:
		return "correct the path in the URL or create it on the "
		       "server (showmount -e lists the exports)";
	case EACCES:
	case EPERM:
		return "allow this client in the server's export list (and "
		       "'insecure' if it may not use ports below 1024)";
	case ENOTDIR:
		return "name a directory in the URL, not a file";
	default:
		return "see the server's log";
	}
}

static void tell_unreachable(const struct nfsappend_server *s,
	const struct nfsappend_waiting *w, const char *why, int error)
{
	if (error == -EIO && w->wait.deadline != 0 &&
		nfsappend_now() >= w->wait.deadline)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_CONTACT,
			"%s cannot be reached: no answer in the time of "
			"NFSAPPEND_TIMEOUT; see that the server and the "
			"network work",
			s->name);
	else
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_CONTACT,
			"%s cannot be reached: %s; %s", s->name, why,
			cure(s, error));
}

int nfsappend_server_contact(
	struct nfsappend_server *s, struct nfsappend_waiting *w)
{
	struct nfsappend_contact contact;
	char why[256] = "";
	int r = 0;

	if (__atomic_load_n(&s->session, __ATOMIC_ACQUIRE) != NULL)
		return 0;
	/* Not by pthread_mutex_lock(): whoever waits must be killable. */
	while (pthread_mutex_trylock(&s->contacting) != 0)
		if (nfsappend_wait_sleep(w, 5 * MS) != 0)
			return -EIO;
	if (s->session == NULL) {
		memset(&contact, 0, sizeof contact);
		r = nfsappend_backend->contact(&s->target, &s->cred, &w->wait,
			&contact, why, sizeof why);
		if (r == 0) {
			struct nfsappend_session *session =
				nfsappend_backend->session(
					&s->target, &contact, &s->cred);

			s->contact = contact;
			__atomic_store_n(
				&s->session, session, __ATOMIC_RELEASE);
			r = session == NULL ? -ENOMEM : 0;
		} else {
			if (r > 0)
				r = -EIO;
			snprintf(s->why, sizeof s->why, "%.150s", why);
			/* Of a mount the fallback speaks. */
			if (!s->target.mounted)
				tell_unreachable(s, w, why, r);
		}
	}
	pthread_mutex_unlock(&s->contacting);
	return r;
}

bool nfsappend_server_again(struct nfsappend_server *s,
	struct nfsappend_waiting *w, int *result, unsigned *tries)
{
	/* 10 ms, doubling to 1.28 s: quick when a server restarts, no load
	 * while it is away. JUKEBOX and DELAY from 2 ms, since a delegation
	 * is recalled in that time. */
	int64_t first = *result == NFSAPPEND_DELAY ? 2 * MS : 10 * MS;
	unsigned shift = *result == NFSAPPEND_GRACE ? 5 : 7;
	int64_t pause = first << (*tries < shift ? *tries : shift);

	if (*result <= 0) {
		if (!w->steps)
			nfsappend_wait_over(w);
		return false;
	}
	if (*result == NFSAPPEND_GRACE && !w->grace) {
		w->grace = true;
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_GRACE,
			"server %s has restarted and is in its grace period; "
			"waiting for its end",
			s->name);
	}
	if (*result == NFSAPPEND_TIMED_OUT ||
		nfsappend_wait_sleep(w, pause) != 0) {
		*result = -EIO;
		return false;
	}
	++*tries;
	return true;
}
