/* prog_lines FILE: appends each line of standard input by one write and
   answers with the result on standard output: a test decides what happens in
   between. */
#include "prog.h"

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int fd;

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = open_append(argv[1]);
	puts("opened");
	while ((length = getline(&line, &size, stdin)) > 0)
		report("write", write(fd, line, length));
	report("close", close(fd));
	return 0;
}
