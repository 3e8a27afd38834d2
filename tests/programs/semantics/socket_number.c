/* Local files on the very numbers that a socket in use has. */
#include "semantics.h"
#include <dirent.h>

/* A descriptor that we did not make and that is a socket, or -1. */
static int foreign_socket(void)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	while (found < 0 && (entry = readdir(fds))) {
		struct stat st;
		int fd = atoi(entry->d_name);

		if (fd > 2 && fd != dirfd(fds) && !fstat(fd, &st) &&
			S_ISSOCK(st.st_mode))
			found = fd;
	}
	closedir(fds);
	return found;
}

static int holds(int fd, const char *text)
{
	char found[64] = "";
	ssize_t length = pread(fd, found, sizeof(found) - 1, 0);

	return length == (ssize_t)strlen(text) && !strcmp(found, text);
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log = open_log(dir, "log", 0), ours = 1;

	append(log, "before\n");
	for (int i = 0; i < 6; i++) {
		int local = open_local(), fd = foreign_socket();

		if (fd < 0)
			fd = 200 + i;
		switch (i % 3) {
		case 0:
			if (dup2(local, fd) != fd)
				die("dup2");
			break;
		case 1:
			close(fd);
			if (fcntl(local, F_DUPFD, fd) < fd)
				die("F_DUPFD");
			if (dup3(local, fd, O_CLOEXEC) != fd)
				die("dup3");
			break;
		default:
			close(fd);
			if (dup2(local, fd) != fd)
				die("dup2");
			close(fd);
		}
		append(log, "round %d\n", i);
		append(local, "local");
		append(log, "round %d again\n", i);
		ours &= holds(local, "local");
		close(local);
	}
	note("our bytes alone in our files: %d", ours);
	return 0;
}
