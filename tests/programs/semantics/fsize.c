/* RLIMIT_FSIZE: what fits is written, then SIGXFSZ and EFBIG. */
#include "semantics.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ulimit.h>

static volatile sig_atomic_t signals;

static void count(int signal)
{
	(void)signal;
	signals++;
}

static void limit(rlim_t size)
{
	struct rlimit now = {size, RLIM_INFINITY};

	if (setrlimit(RLIMIT_FSIZE, &now))
		die("setrlimit");
}

static void unlimited(void)
{
	signal(SIGXFSZ, SIG_IGN);
	limit(RLIM_INFINITY);
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct sigaction action = {.sa_handler = count};
	const struct rlimit small = {50, RLIM_INFINITY};
	char block[60], big[600];
	int log = open_log(dir, "log", 0);
	pid_t pid;

	memset(block, 'b', sizeof(block));
	sigaction(SIGXFSZ, &action, NULL);
	limit(100);
	for (int i = 0; i < 4; i++) {
		note_call("write", write(log, block, sizeof(block)));
		note("signals %d", (int)signals);
	}
	note_call("no bytes", write(log, block, 0));
	limit(110);
	note_call("pwrite", pwrite(log, block, 20, 0));
	note_call("pwrite", pwrite(log, block, 20, 0));
	note("signals %d", (int)signals);
	limit(50);
	note_call("limit below the size", write(log, block, 1));
	signal(SIGXFSZ, SIG_IGN);
	note_call("ignored", write(log, block, 1));
	signal(SIGXFSZ, SIG_DFL);
	memset(big, 'c', sizeof(big));
	pid = fork();
	if (!pid) {
		note_call("default", write(log, block, 1));
		_exit(0);
	}
	note_child(pid);
	limit(RLIM_INFINITY);
	append(log, "end\n");
	/* That there was none must be forgotten, however one is set. */
	unlimited();
	note_call("prlimit", prlimit(0, RLIMIT_FSIZE, &small, NULL));
	note_call("after prlimit", write(log, block, 1));
	unlimited();
	note_call("syscall", syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, &small, NULL));
	note_call("after syscall", write(log, block, 1));
	unlimited();
	append(log, "last\n");
	pid = fork();
	if (!pid) { /* it lowers the hard limit, too */
		note_call("ulimit", ulimit(UL_SETFSIZE, 1L) < 0 ? -1 : 0);
		note_call("after ulimit", write(log, big, sizeof(big)));
		_exit(0);
	}
	note_child(pid);
	pid = fork();
	if (!pid) {
		int failed = prlimit(getppid(), RLIMIT_FSIZE, &small, NULL);

		_exit(failed ? 1 : 0);
	}
	note_child(pid);
	sleep(1);
	note_call("by another process", write(log, block, 1));
	return 0;
}
