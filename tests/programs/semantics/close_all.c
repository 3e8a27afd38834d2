/* Closes every descriptor from 3 to 1023, as daemons do. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log, local;

	for (int round = 0; round < 5; round++) {
		log = open_log(dir, "log", 0);
		append(log, "round %d\n", round);
		for (int fd = 3; fd < 1024; fd++)
			if (fd != log)
				close(fd);
		append(log, "all others closed\n");
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		note_call("write", write(log, "x", 1));
		local = open_local();
		note("lowest number %d", local);
		append(local, "local %d", round);
		log = open_log(dir, "log", 0);
		append(log, "opened again\n");
		note_local(local);
		close(log);
	}
	return 0;
}
