/* prog_open CALL FILE: opens FILE for appending by the named libc function and
   writes the function's name. CALL@DIR makes an at-call relative to DIR. */
#include "prog.h"

/* What a program compiled with _FORTIFY_SOURCE calls. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

int main(int argc, char **argv)
{
	const int existing = O_WRONLY | O_APPEND, flags = existing | O_CREAT;
	int fd = -1, at = AT_FDCWD;
	char *call, *folder, line[64];
	const char *path;

	if (argc < 3)
		return 2;
	call = argv[1];
	path = argv[2];
	folder = strchr(call, '@');
	if (folder) {
		*folder++ = '\0';
		at = open(folder, O_RDONLY | O_DIRECTORY);
		if (at < 0)
			fail("open directory");
	}
	if (!strcmp(call, "open"))
		fd = open(path, flags, 0644);
	else if (!strcmp(call, "open64"))
		fd = open64(path, flags, 0644);
	else if (!strcmp(call, "openat"))
		fd = openat(at, path, flags, 0644);
	else if (!strcmp(call, "openat64"))
		fd = openat64(at, path, flags, 0644);
	else if (!strcmp(call, "__open_2"))
		fd = __open_2(path, existing);
	else if (!strcmp(call, "__open64_2"))
		fd = __open64_2(path, existing);
	else if (!strcmp(call, "__openat_2"))
		fd = __openat_2(at, path, existing);
	else if (!strcmp(call, "__openat64_2"))
		fd = __openat64_2(at, path, existing);
	else
		return 2;
	if (fd < 0)
		fail(call);
	append(fd, line, snprintf(line, sizeof(line), "%s\n", call));
	return close(fd) < 0;
}
