/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work in a child that can be ended, and what is left to do then. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "doctor/doctor.h"

#define GRACE_S 6 /* for a child that was asked to end */

unsigned doctor_seconds = 5;
volatile sig_atomic_t doctor_interrupted;
struct doctor_shared *doctor_shared;

/* Those that whoever started us does not have us ignore (nohup). */
static int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static unsigned nasking;
static sigset_t before; /* the mask that we were started with */
static bool inside;	/* this is such a child */

static void on_signal(int sig)
{
	doctor_interrupted = sig;
}

static void find_asking(void)
{
	struct sigaction act;

	for (unsigned i = 0; i < sizeof asking / sizeof *asking; i++)
		if (sigaction(asking[i], NULL, &act) == 0 &&
			act.sa_handler != SIG_IGN)
			asking[nasking++] = asking[i];
}

static sigset_t watched(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < nasking; i++)
		sigaddset(&set, asking[i]);
	return set;
}

bool doctor_limited_start(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t set;

	find_asking();
	set = watched();
	doctor_shared = mmap(NULL, sizeof *doctor_shared,
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (doctor_shared == MAP_FAILED)
		return false;
	/* Who reads what we print may go before we have tidied up. */
	sigaction(SIGPIPE, &ignore, NULL);
	return sigprocmask(SIG_BLOCK, &set, &before) == 0;
}

static pid_t start(void)
{
	struct sigaction act = {.sa_handler = on_signal};
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid != 0)
		return pid;
	/* The first one tidies up even when its parent was killed; what that
	 * one waits for in turn has nothing to tidy. */
	if (inside)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	inside = true;
	for (unsigned i = 0; i < nasking; i++)
		sigaction(asking[i], &act, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

/* Waits for its end, at most until; a signal that asks for the end is passed
 * on. false: it has not ended. */
static bool wait_for(pid_t pid, int64_t until, int *status)
{
	sigset_t set = watched(), old;
	bool ended;

	sigprocmask(SIG_BLOCK, &set, &old);
	for (;;) {
		int64_t left = until - nfsappend_now();
		struct timespec t = {
			left / DOCTOR_SECOND, left % DOCTOR_SECOND};
		int sig;

		ended = waitpid(pid, status, WNOHANG) == pid;
		if (ended || left <= 0)
			break;
		sig = sigtimedwait(&set, NULL, &t);
		if (sig <= 0 || sig == SIGCHLD)
			continue;
		doctor_interrupted = sig;
		kill(pid, sig);
		until = nfsappend_now() + GRACE_S * DOCTOR_SECOND;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return ended;
}

/* Runs f; *status of the child, false when it had to be killed. */
static bool run(int (*f)(void *), void *arg, unsigned seconds, int *status)
{
	pid_t pid = start();

	*status = 1 << 8;
	if (pid < 0)
		return true;
	if (pid == 0) {
		int r = f(arg);

		fflush(stdout);
		_exit(r);
	}
	if (wait_for(pid, nfsappend_now() + seconds * DOCTOR_SECOND, status))
		return true;
	/* One that the kernel does not let go of is left behind. */
	kill(pid, SIGKILL);
	wait_for(pid, nfsappend_now() + DOCTOR_SECOND, status);
	return false;
}

bool doctor_answers(int (*f)(void *), void *arg, unsigned seconds)
{
	int status;

	return run(f, arg, seconds, &status) && status == 0;
}

static int unlink_temporary(void *path)
{
	return unlink(path) != 0 && errno != ENOENT;
}

/* What a child left that was killed, in the middle of a call. */
static void tidy(void)
{
	if (doctor_shared->temporary[0] == '\0')
		return;
	if (!doctor_answers(unlink_temporary, doctor_shared->temporary, 2)) {
		doctor_found(DOCTOR_WARN,
			"the file of this test could not be removed: %s",
			doctor_shared->temporary);
		doctor_cure("remove it when the server answers again");
	}
	doctor_shared->temporary[0] = '\0';
}

struct work {
	void (*f)(void *);
	void *arg;
};

static int do_work(void *arg)
{
	struct work *w = arg;

	w->f(w->arg);
	return 0;
}

bool doctor_limited(void (*f)(void *), void *arg, unsigned seconds)
{
	struct work w = {f, arg};
	int status;
	bool ended;

	doctor_shared->step[0] = '\0';
	ended = run(do_work, &w, seconds, &status);
	if (ended && status != 0)
		doctor_found(DOCTOR_FAIL,
			"the doctor itself ended badly (status %#x) while: %s",
			(unsigned)status, doctor_shared->step);
	if (!ended && !doctor_interrupted) {
		doctor_found(DOCTOR_FAIL, "no answer in %u s while: %s",
			seconds, doctor_shared->step);
		doctor_cure("a server does not answer, or is very slow: look "
			    "whether it runs and can be reached; -t SECONDS "
			    "waits longer");
	}
	tidy();
	return ended && status == 0;
}

void doctor_end_if_interrupted(void)
{
	struct sigaction act = {.sa_handler = SIG_DFL};
	int sig = doctor_interrupted;

	if (sig == 0)
		return;
	fflush(stdout);
	sigaction(sig, &act, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	raise(sig);
	_exit(128 + sig);
}
