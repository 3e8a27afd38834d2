/* prog_sandbox before|after WHAT FILE: confines itself before or after it opens
   FILE, then appends "line 1\n" to "line 6\n" by write, writev, stdio, a child
   and its own thread, and says what failed. WHAT: "mdwe" (PR_SET_MDWE: no page
   becomes executable), or system calls that a seccomp filter answers with
   EPERM, separated by commas. Status 77: this kernel cannot do that. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "prog.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

static const struct {
	const char *name;
	int number;
} calls[] = {
	{"statx", SYS_statx},
	{"process_vm_readv", SYS_process_vm_readv},
	{"memfd_create", SYS_memfd_create},
	{"prlimit64", SYS_prlimit64},
	{"madvise", SYS_madvise},
	{"mprotect", SYS_mprotect},
	{"flock", SYS_flock},
	{"fallocate", SYS_fallocate},
	{"sendto", SYS_sendto},
	{"socket", SYS_socket},
	{"sched_yield", SYS_sched_yield},
	{"kcmp", SYS_kcmp},
	{"ptrace", SYS_ptrace},
};

static void forbid(int number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(77);
}

static void confine(char *what)
{
	if (!strcmp(what, "mdwe")) {
		if (prctl(PR_SET_MDWE, 1, 0, 0, 0))
			exit(77);
		return;
	}
	for (char *name = strtok(what, ","); name; name = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < sizeof calls / sizeof *calls &&
			strcmp(calls[i].name, name))
			i++;
		if (i == sizeof calls / sizeof *calls)
			exit(2);
		forbid(calls[i].number);
	}
}

static int fd;

static void *in_thread(void *unused)
{
	if (write(fd, "line 5\n", 7) != 7)
		fail("write in a thread");
	return unused;
}

int main(int argc, char **argv)
{
	struct iovec parts[] = {{"line", 4}, {" 2\n", 3}};
	pthread_t thread;
	FILE *stream;
	int status;
	pid_t pid;

	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "before"))
		confine(argv[2]);
	fd = open(argv[3], O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (fd < 0)
		fail("open");
	if (strcmp(argv[1], "before"))
		confine(argv[2]);
	if (write(fd, "line 1\n", 7) != 7)
		fail("write");
	if (writev(fd, parts, 2) != 7)
		fail("writev");
	stream = fdopen(fd, "a");
	if (!stream || fputs("line 3\n", stream) < 0 || fflush(stream))
		fail("stdio");
	pid = fork();
	if (!pid) {
		if (write(fd, "line 4\n", 7) != 7)
			fail("write in a child");
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	if (pthread_create(&thread, NULL, in_thread, NULL) ||
		pthread_join(thread, NULL))
		return 1;
	fputs("line 6\n", stream);
	if (fclose(stream))
		fail("fclose");
	return 0;
}
