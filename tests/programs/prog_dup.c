/* prog_dup FILE: each way to duplicate a descriptor; the original is closed
   before the copy is written to. */
#include "prog.h"

static int duplicate(const char *how, int fd)
{
	if (!strcmp(how, "dup"))
		return dup(fd);
	if (!strcmp(how, "dup2"))
		return dup2(fd, 70);
	if (!strcmp(how, "dup3"))
		return dup3(fd, 71, O_CLOEXEC);
	if (!strcmp(how, "F_DUPFD"))
		return fcntl(fd, F_DUPFD, 72);
	return fcntl(fd, F_DUPFD_CLOEXEC, 73);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = {
		"dup", "dup2", "dup3", "F_DUPFD", "F_DUPFD_CLOEXEC"};
	char line[64];

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int fd = open_append(argv[1]), copy = duplicate(ways[i], fd);

		report(ways[i], copy);
		append(fd, "original ", 9);
		close(fd);
		append(copy, line,
			snprintf(line, sizeof(line), "%s\n", ways[i]));
		printf("offset %ld\n", (long)lseek(copy, 0, SEEK_CUR));
		close(copy);
	}
	return 0;
}
