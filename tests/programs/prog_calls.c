/* prog_calls FLAGS FILE [MODE]: opens FILE, writes "line\n", closes, and says
   what each call returned, or its errno. FLAGS are letters: a O_APPEND,
   c O_CREAT, x O_EXCL, t O_TRUNC, e O_CLOEXEC, d O_DIRECTORY, n O_NOFOLLOW,
   r O_RDWR instead of O_WRONLY. */
#include "prog.h"

int main(int argc, char **argv)
{
	static const char letters[] = "acxtedn";
	static const int bits[] = {O_APPEND, O_CREAT, O_EXCL, O_TRUNC,
		O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW};
	int flags = O_WRONLY, fd;

	if (argc < 3)
		return 2;
	for (const char *c = argv[1]; *c; c++) {
		const char *letter = strchr(letters, *c);

		if (*c == 'r')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		else if (letter)
			flags |= bits[letter - letters];
		else
			return 2;
	}
	fd = open(argv[2], flags, argc > 3 ? strtol(argv[3], NULL, 8) : 0644);
	if (fd < 0)
		fail("open");
	puts("open ok");
	printf("cloexec %d\n", !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	report("write", write(fd, "line\n", 5));
	report("close", close(fd));
	return 0;
}
