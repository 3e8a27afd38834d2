/* close_range and closefrom: the numbers are other files' then. */
#include "semantics.h"
#include <sys/syscall.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

static int range(unsigned int first, unsigned int last, int flags)
{
#if __GLIBC_PREREQ(2, 34)
	return close_range(first, last, flags);
#else
	return syscall(SYS_close_range, first, last, flags);
#endif
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int a = open_log(dir, "log", 0), b = open_log(dir, "log", 0);
	int c = open_log(dir, "other", 0), local_a, local_b;

	append(a, "a\n");
	append(b, "b\n");
	append(c, "c\n");
	note_call("close_range", range(a, b, 0));
	note_call("write", write(a, "x", 1));
	local_a = open_local();
	local_b = open_local();
	note("same numbers %d", local_a == a && local_b == b);
	append(a, "local a");
	append(b, "local b");
	append(c, "c again\n");
	note_call("only close-on-exec", range(c, c, CLOSE_RANGE_CLOEXEC));
	note_call("cloexec", fcntl(c, F_GETFD));
	append(c, "c for the last time\n");
	note_local(a);
	note_local(b);
	note_call("backwards", range(9, 8, 0));
	note_call("bad flag", range(c, c, 1 << 20));
#if __GLIBC_PREREQ(2, 34)
	closefrom(c);
#else
	range(c, ~0U, 0);
#endif
	note_call("write", write(c, "x", 1));
	a = open_log(dir, "log", 0);
	append(a, "after closefrom\n");
	note_call("close all", range(3, ~0U, 0));
	note_call("write", write(a, "x", 1));
	a = open_log(dir, "log", 0);
	append(a, "after close_range of everything\n");
	return 0;
}
