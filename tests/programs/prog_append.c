/* prog_append FILE COUNT [SIZE]: the append loop of FreeBSD's test. COUNT
   records of SIZE bytes (100), numbered from 0, each by one write. */
#include "prog.h"

int main(int argc, char **argv)
{
	size_t size = argc > 3 ? strtoul(argv[3], NULL, 10) : 100;
	long count = argc > 2 ? atol(argv[2]) : 0;
	char *record = malloc(size + 1);
	int fd;

	if (argc < 3 || size < 10 || !record)
		return 2;
	fd = open_append(argv[1]);
	for (long i = 0; i < count; i++) {
		memset(record, 'a' + i % 26, size);
		record[snprintf(record, size, "%08ld", i)] = ' ';
		record[size - 1] = '\n';
		append(fd, record, size);
	}
	if (close(fd) < 0)
		fail("close");
	return 0;
}
