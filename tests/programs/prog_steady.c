/* prog_steady FILE NAME PROGRESS STOP [SIZE]: appends records "NAME NUMBER
   ...", of SIZE bytes (100), numbered from 0, each by one write, until there
   is a file STOP. How many were acknowledged stands at any time in PROGRESS,
   as a number of 8 digits. At the end "acknowledged N"; the first error ends
   the program. */
#include "prog.h"

int main(int argc, char **argv)
{
	size_t size = argc > 5 ? strtoul(argv[5], NULL, 10) : 100;
	char *record = malloc(size + 1), number[32];
	int fd, progress;
	long i;

	if (argc < 5 || size < strlen(argv[2]) + 12 || !record)
		return 2;
	progress = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	fd = open_append(argv[1]);
	for (i = 0; access(argv[4], F_OK) != 0; i++) {
		memset(record, 'a' + i % 26, size);
		record[snprintf(record, size, "%s %08ld", argv[2], i)] = ' ';
		record[size - 1] = '\n';
		append(fd, record, size);
		snprintf(number, sizeof number, "%08ld\n", i + 1);
		if (pwrite(progress, number, 9, 0) != 9)
			fail("pwrite");
	}
	if (close(fd) < 0)
		fail("close");
	printf("acknowledged %ld\n", i);
	return 0;
}
