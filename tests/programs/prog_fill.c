/* prog_fill FILE SIZE: appends SIZE bytes at a time until a write fails, or
   until 16 MiB are in; says how many bytes were acknowledged, and the error. */
#include "prog.h"

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	long acknowledged = 0;
	char *data = malloc(size);
	ssize_t n;
	int fd;

	if (argc < 3 || !data)
		return 2;
	memset(data, 'f', size);
	fd = open_append(argv[1]);
	do {
		n = write(fd, data, size);
		if (n > 0)
			acknowledged += n;
	} while (n > 0 && acknowledged < 16 << 20);
	report("write", n);
	printf("acknowledged %ld\n", acknowledged);
	report("close", close(fd));
	return 0;
}
