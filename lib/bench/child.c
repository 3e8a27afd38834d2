/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work in a child that is ended when it takes too long. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

#define GRACE_MS 3000 /* for what was killed to be gone */

int bench_signal;

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static sigset_t before; /* the mask that we were started with */

int64_t bench_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

bool bench_children_start(void)
{
	sigset_t set;

	/* Who reads what we print may go before we have tidied up. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < sizeof asking / sizeof *asking; i++)
		sigaddset(&set, asking[i]);
	/* Orphans of a child come to us, so that all can be waited for. */
	return sigprocmask(SIG_BLOCK, &set, &before) == 0 &&
	       prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static pid_t start(int (*work)(void *), void *arg, int out)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	/* Of its own, so that the terminal's signals come to us alone. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	dup2(out, 1);
	dup2(out, 2);
	_exit(work(arg));
}

/* Until a signal or the time: that signal, or 0. */
static int wait_until(int64_t until, bool tidying)
{
	int64_t left = until - bench_now_ms();
	struct timespec t = {0, 0};
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; !tidying && i < sizeof asking / sizeof *asking;
		i++)
		sigaddset(&set, asking[i]);
	if (left > 0)
		t = (struct timespec){left / 1000, left % 1000 * 1000000};
	sig = sigtimedwait(&set, NULL, &t);
	return sig > 0 ? sig : 0;
}

/* Kills the group, and waits for all of it, as long as that is bearable. */
static void end_all(pid_t pid)
{
	int64_t until = bench_now_ms() + GRACE_MS;

	do {
		kill(-pid, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (kill(-pid, 0) != 0 && errno == ESRCH)
			return;
		usleep(1000);
	} while (bench_now_ms() < until);
	fprintf(stderr,
		"nfsappend bench: a process hangs in the kernel (process group "
		"%d); left alone\n",
		(int)pid);
}

static void read_output(int out, char *output, size_t room)
{
	ssize_t n = pread(out, output, room - 1, 0);

	output[n > 0 ? n : 0] = '\0';
}

enum bench_end bench_child(int (*work)(void *), void *arg, unsigned limit_s,
	bool tidying, char *output, size_t room)
{
	int64_t until = bench_now_ms() + limit_s * INT64_C(1000);
	int out = memfd_create("output", MFD_CLOEXEC), status = 0, sig;
	enum bench_end end = BENCH_TOO_LONG;
	pid_t pid = out >= 0 ? start(work, arg, out) : -1;

	*output = '\0';
	if (pid < 0) {
		snprintf(output, room, "no child: %m");
		if (out >= 0)
			close(out);
		return BENCH_FAILED;
	}
	setpgid(pid, pid);
	do {
		sig = wait_until(until, tidying);
		if (sig != 0 && sig != SIGCHLD) {
			bench_signal = sig;
			end = BENCH_INTERRUPTED;
			break;
		}
		if (waitpid(pid, &status, WNOHANG) == pid) {
			end = WIFEXITED(status) && WEXITSTATUS(status) == 0
				      ? BENCH_DONE
				      : BENCH_FAILED;
			break;
		}
	} while (bench_now_ms() < until);
	end_all(pid);
	read_output(out, output, room);
	close(out);
	return end;
}
