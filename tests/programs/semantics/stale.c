/*
 * semantics-stale DIR CASE: the number of a log becomes another file's by a way
 * that is easily missed.  Whatever is remembered of the number is stale then:
 * every call must answer for the file that it is now.
 */
#include "semantics.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "raw system calls for this machine are missing"
#endif

static const char *dir;
static int log_fd, local_fd;

/* A system call that nothing can see. */
static long raw(long number, long a, long b, long c)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2)
			 : "memory");
	return x0;
#endif
}

/* The number is a local file of size bytes now, which holds what it says. */
static void is_local(int fd, long size)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (fstat(fd, &st))
		die("fstat");
	note("local: append %d size %ld offset %ld", !!(flags & O_APPEND),
		(long)st.st_size - size, position(fd) - size);
	append(fd, "[written at the offset]");
	note_call("pwrite", pwrite(fd, "P", 1, 0));
	note_call("ftruncate", ftruncate(fd, size + 20));
	note_call("seek", lseek(fd, size + 8, SEEK_SET) - size);
	append(fd, "x");
	note_call("fsync", fsync(fd));
	note_local(fd);
}

static void is_log(int fd)
{
	note("log: append %d", !!(fcntl(fd, F_GETFL) & O_APPEND));
	append(fd, "log\n");
	note_call("pwrite", pwrite(fd, "pwrite\n", 7, 0));
	note_call("offset", position(fd));
}

/* The lowest free number is the log's; mkstemp opens inside libc. */
static void local_takes_number(void)
{
	int fd = open_local();

	if (fd != log_fd)
		die("not the log's number");
	is_local(fd, 0);
}

static void case_close_range(void)
{
#if __GLIBC_PREREQ(2, 34)
	note_call("close_range", close_range(log_fd, log_fd, 0));
#else
	note_call("close_range", syscall(SYS_close_range, log_fd, log_fd, 0));
#endif
	local_takes_number();
}

static void case_closefrom(void)
{
	/* Everything above the local file goes. */
	int high = dup2(log_fd, 500);

	append(high, "high\n");
#if __GLIBC_PREREQ(2, 34)
	closefrom(400);
#else
	syscall(SYS_close_range, 400, ~0U, 0);
#endif
	/* Not a write: one that fails would tell that the number is free. */
	note_call("dup3", raw(SYS_dup3, local_fd, high, 0));
	is_local(high, 5);
	is_log(log_fd);
}

static void case_syscall_close(void)
{
	note_call("close", syscall(SYS_close, log_fd));
	local_takes_number();
}

static void case_syscall_dup2(void)
{
#ifdef SYS_dup2
	note_call("dup2", syscall(SYS_dup2, local_fd, log_fd) - log_fd);
#else
	note_call("dup2", syscall(SYS_dup3, local_fd, log_fd, 0) - log_fd);
#endif
	is_local(log_fd, 5);
}

static void case_syscall_dup2_back(void)
{
#ifdef SYS_dup2
	note_call("dup2", syscall(SYS_dup2, log_fd, local_fd) - local_fd);
#else
	note_call("dup2", syscall(SYS_dup3, log_fd, local_fd, 0) - local_fd);
#endif
	is_log(local_fd);
	is_log(log_fd);
}

static void case_syscall_dup3(void)
{
	note_call("dup3",
		syscall(SYS_dup3, local_fd, log_fd, O_CLOEXEC) - log_fd);
	is_local(log_fd, 5);
}

static void case_raw_close(void)
{
	note_call("close", raw(SYS_close, log_fd, 0, 0));
	if (raw(SYS_dup, local_fd, 0, 0) != log_fd)
		die("not the log's number");
	is_local(log_fd, 5);
}

static void case_raw_dup3(void)
{
	note_call("dup3", raw(SYS_dup3, local_fd, log_fd, 0) - log_fd);
	is_local(log_fd, 5);
}

static void case_raw_dup3_back(void)
{
	note_call("dup3", raw(SYS_dup3, log_fd, local_fd, 0) - local_fd);
	is_log(local_fd);
	is_log(log_fd);
}

static void case_freopen_away(void)
{
	FILE *f = fdopen(log_fd, "a");

	fprintf(f, "stream\n");
	if (!freopen("/proc/self/exe", "r", f))
		die("freopen");
	note("same number %d", fileno(f) == log_fd);
	note("access %d", fcntl(log_fd, F_GETFL));
	note_call("offset", position(log_fd));
	note_call("write", write(log_fd, "x", 1));
	fclose(f);
}

static void case_freopen_back(void)
{
	FILE *f = fdopen(local_fd, "r+");
	int fd;

	f = freopen(path_in(dir, "log"), "a", f);
	if (!f)
		die("freopen");
	fd = fileno(f);
	note("same number %d", fd == local_fd);
	is_log(fd);
	fprintf(f, "stream\n");
	fclose(f);
}

static void case_daemon(void)
{
	struct stat st;

	notes_fd = fcntl(1, F_DUPFD, 100);
	dup2(log_fd, 1);
	append(1, "as standard output\n");
	if (daemon(1, 0))
		die("daemon");
	if (fstat(1, &st))
		die("fstat");
	note("a device: %d", S_ISCHR(st.st_mode));
	note("append %d", !!(fcntl(1, F_GETFL) & O_APPEND));
	note_call("offset", position(1));
	note_call("write", write(1, "nowhere", 7));
	is_log(log_fd);
}

static void case_setfl(void)
{
	int copy = dup(log_fd);

	append(log_fd, "0123456789\n");
	fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) & ~O_APPEND);
	note_call("seek", lseek(log_fd, 0, SEEK_SET));
	append(log_fd, "at 0");
	note_call("pwrite", pwrite(log_fd, "at 7", 4, 7));
	note_call("offset", position(copy));
	fcntl(log_fd, F_SETFL, fcntl(copy, F_GETFL) | O_APPEND);
	is_log(copy);
}

/* The flag belongs to the open file, which is the child's as well. */
static void case_setfl_in_child(void)
{
	pid_t pid;

	append(log_fd, "0123456789\n");
	pid = fork();
	if (!pid)
		_exit(fcntl(
			log_fd, F_SETFL, fcntl(log_fd, F_GETFL) & ~O_APPEND));
	note_child(pid);
	note("append %d", !!(fcntl(log_fd, F_GETFL) & O_APPEND));
	note_call("seek", lseek(log_fd, 0, SEEK_SET));
	append(log_fd, "at 0");
}

static void case_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		close(log_fd);
		dup2(local_fd, log_fd);
		_exit(write(log_fd, " child", 6) != 6);
	}
	note_child(pid);
	is_log(log_fd);
	pid = vfork();
	if (!pid) {
		dup2(log_fd, local_fd);
		_exit(write(local_fd, "child\n", 6) != 6);
	}
	note_child(pid);
	is_local(local_fd, 11);
}

static int close_it(void *arg)
{
	close(*(int *)arg);
	return 0;
}

static void case_clone_files(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	note_child(clone(close_it, stack + sizeof(stack), CLONE_FILES | SIGCHLD,
		&log_fd));
	local_takes_number();
}

/* The same file, but opened without O_APPEND: the identity does not tell. */
static void case_same_file(void)
{
	int plain;

	append(log_fd, "0123456789\n");
	plain = open(path_in(dir, "log"), O_WRONLY);
	if (plain < 0)
		die("open");
	note_call("dup3", raw(SYS_dup3, plain, log_fd, 0) - log_fd);
	append(log_fd, "at 0");
	note("append %d", !!(fcntl(log_fd, F_GETFL) & O_APPEND));
}

/* Another log, by a way that nothing can see. */
static void case_other_log(void)
{
	int other = open_log(dir, "other", 0);

	append(other, "other\n");
	note_call("dup3", raw(SYS_dup3, other, log_fd, 0) - log_fd);
	append(log_fd, "other, by the log's number\n");
	note_call("offset", position(log_fd));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"close_range", case_close_range},
	{"closefrom", case_closefrom},
	{"syscall-close", case_syscall_close},
	{"syscall-dup2", case_syscall_dup2},
	{"syscall-dup2-back", case_syscall_dup2_back},
	{"syscall-dup3", case_syscall_dup3},
	{"raw-close", case_raw_close},
	{"raw-dup3", case_raw_dup3},
	{"raw-dup3-back", case_raw_dup3_back},
	{"freopen-away", case_freopen_away},
	{"freopen-back", case_freopen_back},
	{"daemon", case_daemon},
	{"setfl", case_setfl},
	{"setfl-in-child", case_setfl_in_child},
	{"vfork", case_vfork},
	{"clone-files", case_clone_files},
	{"same-file", case_same_file},
	{"other-log", case_other_log},
};

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : "";

	dir = dir_of(argc, argv);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, name))
			continue;
		/* The log has the lower number, so it is free first. */
		log_fd = open_log(dir, "log", 0);
		local_fd = open_local();
		append(log_fd, "first\n");
		append(local_fd, "LOCAL");
		cases[i].run();
		return 0;
	}
	fprintf(stderr, "%s: no case %s\n", argv[0], name);
	return 2;
}
