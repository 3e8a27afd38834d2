/* Raw clone(2) and _Fork: children that no atfork handler sees. */
#include "semantics.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

static int log_fd, local_fd;
static char stack[256 * 1024] __attribute__((aligned(16)));

static pid_t raw_clone(long flags)
{
	return syscall(SYS_clone, flags, NULL, NULL, NULL, 0L);
}

static int in_our_memory(void *arg)
{
	append(log_fd, "clone with CLONE_VM, %s\n", (const char *)arg);
	return 3;
}

static int closes_shared(void *arg)
{
	(void)arg;
	close(log_fd);
	return 4;
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	pid_t pid;

	log_fd = open_log(dir, "log", 0);
	local_fd = open_local();
	append(log_fd, "parent\n");
	pid = raw_clone(SIGCHLD);
	if (!pid) {
		append(log_fd, "raw clone\n");
		close(log_fd);
		log_fd = open_log(dir, "log", 0);
		append(log_fd, "raw clone, opened anew\n");
		_exit(1);
	}
	note_child(pid);
	append(log_fd, "parent\n");
#if __GLIBC_PREREQ(2, 34)
	pid = _Fork();
#else
	pid = raw_clone(SIGCHLD);
#endif
	if (!pid) {
		append(log_fd, "_Fork\n");
		_exit(2);
	}
	note_child(pid);
	append(log_fd, "parent\n");
	pid = clone(in_our_memory, stack + sizeof(stack),
		CLONE_VM | CLONE_VFORK | SIGCHLD, "vfork");
	note_child(pid);
	append(log_fd, "parent\n");
	pid = clone(in_our_memory, stack + sizeof(stack), SIGCHLD, "no VM");
	note_child(pid);
	pid = clone(closes_shared, stack + sizeof(stack), CLONE_FILES | SIGCHLD,
		NULL);
	note_child(pid);
	note_call("closed for both", write(log_fd, "x", 1));
	note("same number %d", dup(local_fd) == log_fd);
	append(log_fd, "local");
	note_local(local_fd);
	return 0;
}
