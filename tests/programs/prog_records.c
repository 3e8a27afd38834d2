/* prog_records FILE COUNT [SIZE [NAME]]: COUNT records of SIZE bytes (100),
   "NAME NUMBER ...", each by one write. What was not written whole is told at
   once on standard output: "NUMBER ERRNO" or "NUMBER short N"; the program
   goes on. At the end "acknowledged N". */
#include "prog.h"

int main(int argc, char **argv)
{
	size_t size = argc > 3 ? strtoul(argv[3], NULL, 10) : 100;
	long count = argc > 2 ? atol(argv[2]) : 0, acknowledged = 0;
	const char *name = argc > 4 ? argv[4] : "r";
	char *record = malloc(size + 1);
	int fd;

	if (argc < 3 || size < strlen(name) + 12 || !record)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = open_append(argv[1]);
	for (long i = 0; i < count; i++) {
		ssize_t n;

		memset(record, 'a' + i % 26, size);
		record[snprintf(record, size, "%s %08ld", name, i)] = ' ';
		record[size - 1] = '\n';
		n = write(fd, record, size);
		if (n < 0)
			printf("%ld %s\n", i, error_name(errno));
		else if ((size_t)n != size)
			printf("%ld short %zd\n", i, n);
		else
			acknowledged++;
	}
	printf("acknowledged %ld\n", acknowledged);
	if (close(fd) < 0)
		fail("close");
	return 0;
}
