/* Copies inside the kernel, which refuses them on O_APPEND. */
#include "semantics.h"
#include <sys/mman.h>
#include <sys/sendfile.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log = open_log(dir, "log", 0), local = open_local(), pipes[2];
	off_t offset = 0;
	void *map;

	append(local, "local");
	append(log, "before\n");
	if (pipe(pipes))
		die("pipe");
	append(pipes[1], "pipe");
	note_call("sendfile", sendfile(log, local, &offset, 5));
	note_call("splice", splice(pipes[0], NULL, log, NULL, 4, 0));
	offset = 0;
	note_call("copy_file_range",
		copy_file_range(local, &offset, log, NULL, 5, 0));
	note_call("tee", tee(pipes[0], log, 4, 0));
	map = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, log, 0);
	note("mmap refused %d", map == MAP_FAILED);
	append(log, "after\n");
	return 0;
}
