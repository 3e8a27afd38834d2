/*
 * prog_inherited NAME COUNT [FD]: COUNT records of 100 bytes, as prog_host's,
 * to descriptor FD (1), which it has from its parent, one write(2) each.
 * Built static too: then no shim can be in it. A write that fails ends it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	int fd = argc > 3 ? atoi(argv[3]) : 1;
	char record[101];

	if (argc < 3)
		return 2;
	for (long i = 0; i < count; i++) {
		memset(record, 'a' + (int)(i % 26), 100);
		record[snprintf(record, 100, "%s %08ld", argv[1], i)] = ' ';
		record[99] = '\n';
		if (write(fd, record, 100) != 100)
			return 1;
	}
	return 0;
}
