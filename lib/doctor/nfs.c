/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "doctor/nfs.h"

/* Connections need no hiding here: a slot is the descriptor. */
static int adopt(int fd)
{
	return fd;
}

static int hold(int slot)
{
	return slot;
}

static void unhold(int slot)
{
	(void)slot;
}

static void drop(int slot)
{
	close(slot);
}

static void say(int level, int id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void say(int level, int id, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (level > NFSAPPEND_WARN)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	doctor_found(DOCTOR_WARN, "%s [N%d]", text, id);
}

static const struct nfsappend_services services = {
	.socket_adopt = adopt,
	.socket_hold = hold,
	.socket_unhold = unhold,
	.socket_drop = drop,
	.log = say,
};

const struct nfsappend_backend *doctor_backend(char *why, size_t room)
{
	static const struct nfsappend_backend *backend;
	const struct nfsappend_backend *found;
	int flags = RTLD_NOW | RTLD_LOCAL;
	void *module;

	if (backend != NULL)
		return backend;
#ifndef __SANITIZE_ADDRESS__ /* which refuses it */
	flags |= RTLD_DEEPBIND;
#endif
	module = dlopen(PKGLIBDIR "/nfsappend-nfs.so", flags);
	found = module != NULL ? dlsym(module, NFSAPPEND_BACKEND_SYMBOL) : NULL;
	if (found == NULL) {
		if (why != NULL)
			snprintf(why, room, "%s", dlerror());
		return NULL;
	}
	if (found->abi != NFSAPPEND_BACKEND_ABI) {
		if (why != NULL)
			snprintf(why, room, "%s is of another version",
				PKGLIBDIR "/nfsappend-nfs.so");
		return NULL;
	}
	found->init(&services);
	backend = found;
	return backend;
}

static int poll_until(struct nfsappend_wait *w, struct pollfd *fds, unsigned n,
	int64_t until, bool cleaning)
{
	for (;;) {
		int64_t now = nfsappend_now(), left = w->deadline - now;
		struct timespec t;

		if (left <= 0 || (doctor_interrupted && !cleaning))
			return -ETIMEDOUT;
		if (until != 0 && until <= now)
			return 0;
		if (until != 0 && until - now < left)
			left = until - now;
		if (left > 200 * DOCTOR_MS)
			left = 200 * DOCTOR_MS;
		t.tv_sec = 0;
		t.tv_nsec = left;
		if (ppoll(fds, n, &t, NULL) > 0)
			return 1;
	}
}

static int poll_working(
	struct nfsappend_wait *w, struct pollfd *fds, unsigned n, int64_t until)
{
	return poll_until(w, fds, n, until, false);
}

static int poll_cleaning(
	struct nfsappend_wait *w, struct pollfd *fds, unsigned n, int64_t until)
{
	return poll_until(w, fds, n, until, true);
}

static ssize_t receive(struct nfsappend_wait *w, int fd, void *buf, size_t n)
{
	ssize_t r = recv(fd, buf, n, 0);

	(void)w;
	return r < 0 ? -errno : r;
}

void doctor_wait(struct nfsappend_wait *w, int64_t deadline, bool cleaning)
{
	memset(w, 0, sizeof *w);
	w->deadline = deadline;
	w->poll = cleaning ? poll_cleaning : poll_working;
	w->receive = receive;
}

bool doctor_again(struct nfsappend_wait *w, int *r, unsigned *tries)
{
	switch (*r) {
	case NFSAPPEND_CONTINUE:
		return ++*tries < 32;
	case NFSAPPEND_DELAY:
		return w->poll(w, NULL, 0, nfsappend_now() + 50 * DOCTOR_MS) ==
		       0;
	case NFSAPPEND_LOST:
	case NFSAPPEND_UNSENT:
		return ++*tries < 4 &&
		       w->poll(w, NULL, 0, nfsappend_now() + 50 * DOCTOR_MS) ==
			       0;
	default:
		return false;
	}
}

const char *doctor_outcome(int r)
{
	switch (r) {
	case NFSAPPEND_UNSENT:
		return "no connection can be made";
	case NFSAPPEND_LOST:
		return "the connection breaks, or the answer makes no sense";
	case NFSAPPEND_DELAY:
		return "the server asks for patience (DELAY)";
	case NFSAPPEND_TIMED_OUT:
		return "no answer in time";
	case NFSAPPEND_GRACE:
		return "the server is in its grace period";
	case NFSAPPEND_BUSY:
	case NFSAPPEND_APP_LOCK:
		return "it is locked";
	case NFSAPPEND_STATE_LOST:
		return "the server gives up its state";
	default:
		return r > 0 ? "no usable answer" : strerror(-r);
	}
}
