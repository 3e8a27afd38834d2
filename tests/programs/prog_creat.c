/* prog_creat CALL FILE: creat and creat64, which have no O_APPEND: what they
   open is never ours, but where it is under a mapped directory it must not
   come to be on the local disk either. */
#include "prog.h"

int main(int argc, char **argv)
{
	int fd;

	if (argc < 3)
		return 2;
	fd = !strcmp(argv[1], "creat64") ? creat64(argv[2], 0644)
					 : creat(argv[2], 0644);
	if (fd < 0)
		fail(argv[1]);
	report("write", write(fd, "new\n", 4));
	report("close", close(fd));
	return 0;
}
