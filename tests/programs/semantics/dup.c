/* The dup family: one offset, one file, whichever number is used. */
#include "semantics.h"

static void flags(const char *what, int fd)
{
	note("%s cloexec %d", what, fcntl(fd, F_GETFD));
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log = open_log(dir, "log", 0), other = open_log(dir, "other", 0);
	int local = open_local();
	int a, b, c, d, e;

	append(log, "by the first number\n");
	a = dup(log);
	append(a, "by dup\n");
	note_call("offset of the first", position(log));
	b = dup2(log, 50);
	note_call("dup2", b);
	append(b, "by dup2\n");
	c = dup3(a, 51, O_CLOEXEC);
	note_call("dup3", c);
	flags("dup3", c);
	append(c, "by dup3\n");
	d = fcntl(b, F_DUPFD, 60);
	note_call("F_DUPFD", d);
	append(d, "by F_DUPFD\n");
	e = fcntl(b, F_DUPFD_CLOEXEC, 60);
	note_call("F_DUPFD_CLOEXEC", e);
	flags("F_DUPFD_CLOEXEC", e);
	append(e, "by F_DUPFD_CLOEXEC\n");
	note_call("offset of dup", position(a));
	note_call("seek one", lseek(a, 3, SEEK_SET));
	note_call("offset of another", position(e));
	append(d, "at the end\n");
	note_call("offset of another", position(b));
	note_call("close the first", close(log));
	append(a, "after the first is closed\n");

	/* What marks the descriptor as ours is not the program's to see. */
	note_call("F_GETSIG", fcntl(a, F_GETSIG));
	note_call("F_SETSIG", fcntl(a, F_SETSIG, 0));
	note_call("F_SETSIG, no signal", fcntl(a, F_SETSIG, 65));
	append(dup(a), "by a copy after F_SETSIG\n");
	note_call("F_GET_SEALS", fcntl(a, F_GET_SEALS));
	note_call("F_ADD_SEALS", fcntl(a, F_ADD_SEALS, F_SEAL_GROW));
	note_call("openat from a file", openat(a, "x", O_RDONLY));
	note_call("openat of nothing", openat(a, "", O_RDONLY));

	note_call("onto itself by dup2", dup2(a, a));
	note_call("onto itself by dup3", dup3(a, a, 0));
	note_call("dup2 of a closed one", dup2(log, a));
	note_call("dup of a closed one", dup(log));
	note_call("dup2 onto -1", dup2(a, -1));
	note_call("dup3 with a bad flag", dup3(a, 70, O_APPEND));
	append(a, "all these failures changed nothing\n");

	note_call("other onto log", dup2(other, a));
	append(a, "a number now of the other\n");
	append(b, "still the log\n");
	note_call("local onto log", dup2(local, b));
	append(b, "local");
	note_call("log onto a local's number", dup2(c, b));
	append(b, "the log again\n");
	note_call("log onto local", dup2(c, local) == local);
	append(local, "by the local's number\n");
	note_call("F_DUPFD too high", fcntl(c, F_DUPFD, 1 << 30));
	close(a);
	close(b);
	close(c);
	close(d);
	append(local, "by the last number\n");
	close(local);
	note_call("write to a closed one", write(local, "x", 1));
	return 0;
}
