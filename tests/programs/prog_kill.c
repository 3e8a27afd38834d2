/* prog_kill FILE: appends one record and kills itself the moment that write
   has returned: no destructor, no close, no flush runs. */
#include "prog.h"
#include <signal.h>

int main(int argc, char **argv)
{
	static const char record[] = "acknowledged\n";
	int fd;

	if (argc < 2)
		return 2;
	fd = open_append(argv[1]);
	if (write(fd, record, sizeof(record) - 1) == sizeof(record) - 1)
		kill(getpid(), SIGKILL);
	fail("write");
}
