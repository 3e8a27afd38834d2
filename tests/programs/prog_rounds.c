/* prog_rounds FILE COUNT [sync]: COUNT times open for appending (with O_SYNC),
   one record of 100 bytes, close. */
#include "prog.h"

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	char record[101];

	for (long i = 0; i < count; i++) {
		int fd = open(argv[1],
			O_WRONLY | O_APPEND | (argc > 3 ? O_SYNC : 0));

		memset(record, 'a' + (int)(i % 26), 100);
		record[snprintf(record, 100, "rounds%ld %08ld", (long)getpid(),
			i)] = ' ';
		record[99] = '\n';
		if (fd < 0 || write(fd, record, 100) != 100 || close(fd) != 0)
			return 1;
	}
	return 0;
}
