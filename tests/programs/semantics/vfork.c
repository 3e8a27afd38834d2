/* A vfork child shares our memory, but not our descriptors. */
#include "semantics.h"

/* All that the child does, it does in the parent's memory. */
static pid_t child(int log, int local, int what)
{
	pid_t pid = vfork();

	if (pid)
		return pid;
	switch (what) {
	case 0:
		_exit(write(log, "child\n", 6) != 6);
	case 1:
		close(log);
		_exit(write(log, "x", 1) != -1);
	case 2:
		if (dup2(local, log) != log)
			_exit(2);
		_exit(write(log, "child ", 6) != 6);
	case 3:
		if (dup2(log, local) != local)
			_exit(2);
		_exit(write(local, "child by the local's number\n", 28) != 28);
	case 4:
		dup2(log, 1);
		execl("/bin/echo", "echo", "exec'd", (char *)NULL);
		_exit(127);
	default:
		close(log);
		dup2(local, 1);
		execl("/bin/echo", "echo", "exec'd", (char *)NULL);
		_exit(127);
	}
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log = open_log(dir, "log", 0), local = open_local();

	append(log, "parent\n");
	for (int what = 0; what < 6; what++) {
		note("case %d", what);
		note_child(child(log, local, what));
		append(log, "parent after %d\n", what);
		append(local, "parent ");
	}
	note_call("offset", position(log));
	note_local(local);
	return 0;
}
