/* posix_spawn and its file actions. */
#include "semantics.h"
#include <spawn.h>

extern char **environ;

static posix_spawn_file_actions_t actions;

static void start(void)
{
	if (posix_spawn_file_actions_init(&actions))
		die("posix_spawn_file_actions_init");
}

static void spawn(const char *script)
{
	char *argv[] = {"sh", "-c", (char *)script, NULL};
	pid_t pid;

	errno = posix_spawnp(&pid, "sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (errno) {
		note_call("posix_spawnp", -1);
		return;
	}
	note_child(pid);
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	const int flags = O_WRONLY | O_APPEND | O_CREAT;
	int log = open_log(dir, "log", 0), local = open_local();
	int hidden = open_log(dir, "log", O_CLOEXEC);
	char script[64];

	append(log, "parent\n");
	start();
	posix_spawn_file_actions_adddup2(&actions, log, 1);
	spawn("echo adddup2");

	start();
	posix_spawn_file_actions_addopen(
		&actions, 1, path_in(dir, "log"), flags, 0644);
	spawn("echo addopen");

	start();
	posix_spawn_file_actions_addopen(
		&actions, 1, path_in(dir, "new"), flags, 0640);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	spawn("echo addopen, new; echo standard error >&2");

	start();
	posix_spawn_file_actions_adddup2(&actions, hidden, 1);
	posix_spawn_file_actions_addclose(&actions, log);
	spawn("echo from a close-on-exec descriptor");

	start();
	posix_spawn_file_actions_addclose(&actions, log);
	posix_spawn_file_actions_adddup2(&actions, local, log);
	posix_spawn_file_actions_adddup2(&actions, log, 1);
	spawn("echo local");

	start();
	posix_spawn_file_actions_addopen(
		&actions, 1, path_in(dir, "no/such"), flags, 0644);
	spawn("echo never");

	start();
	posix_spawn_file_actions_adddup2(&actions, log, log);
	snprintf(script, sizeof(script), "echo by the same number >&%d", log);
	spawn(script);
	append(log, "parent again\n");
	note_local(local);
	return 0;
}
