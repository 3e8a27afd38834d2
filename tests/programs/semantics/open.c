/* Flags, modes and refusals of open. */
#include "semantics.h"

static const char *directory;

static void try(const char *what, const char *name, int flags, mode_t mode)
{
	int fd = open(path_in(directory, name), flags, mode);
	struct stat st;

	if (fd < 0) {
		note("%s: %s", what, strerror(errno));
		return;
	}
	if (fstat(fd, &st))
		die("fstat");
	note("%s: mode %o size %ld cloexec %d", what, st.st_mode,
		(long)st.st_size, fcntl(fd, F_GETFD));
	append(fd, "%s\n", what);
	close(fd);
}

int main(int argc, char **argv)
{
	const int flags = O_WRONLY | O_APPEND;
	volatile int hidden = flags;
	char dots[4096];
	int fd;

	directory = dir_of(argc, argv);
	umask(027);
	try("absent", "log", flags, 0);
	try("created", "log", flags | O_CREAT, 0666);
	try("there", "log", flags | O_CREAT, 0600);
	try("without O_CREAT", "log", flags, 0);
	try("exclusive", "log", flags | O_CREAT | O_EXCL, 0666);
	try("exclusive, new", "new", flags | O_CREAT | O_EXCL, 0640);
	try("all bits", "bits", flags | O_CREAT, 0777);
	umask(0);
	try("no umask", "open", flags | O_CREAT, 0606);
	try("close-on-exec", "log", flags | O_CLOEXEC, 0);
	try("truncated", "log", flags | O_TRUNC, 0);
	try("sync", "log", flags | O_SYNC, 0);
	try("not blocking", "log", flags | O_NONBLOCK | O_NOCTTY, 0);
	try("no follow", "log", flags | O_NOFOLLOW, 0);
	snprintf(
		dots, sizeof(dots), "../%s/./log", strrchr(directory, '/') + 1);
	try("dot dot", dots, flags, 0);
	try("dots in the path", ".//./log", flags, 0);
	try("trailing slash", "log/", flags, 0);
	try("below a file", "log/x", flags | O_CREAT, 0644);
	try("as a directory", "log", flags | O_DIRECTORY, 0);
	try("a directory", ".", flags, 0);
	try("missing directory", "a/b/c", flags | O_CREAT, 0644);
	fd = open(path_in(directory, "log"), hidden);
	append(fd, "by __open_2\n");
	fd = open64(path_in(directory, "log"), flags);
	append(fd, "by open64\n");
	fd = openat(AT_FDCWD, path_in(directory, "log"), flags);
	append(fd, "by openat\n");
	fd = openat64(-1, path_in(directory, "log"), flags);
	append(fd, "by openat64, absolute\n");
	fd = openat(AT_FDCWD, path_in(directory, "log"), hidden);
	append(fd, "by __openat_2\n");
	note_call("NULL", open(argv[argc], flags));
	note_call("empty", open("", flags));
	return 0;
}
