/* prog_replace LOG OTHER: dup2 of another file onto the log's number, and the
   log's number closed and used again: what follows belongs to OTHER. */
#include "prog.h"

int main(int argc, char **argv)
{
	int log, other, again;

	if (argc < 3)
		return 2;
	log = open_append(argv[1]);
	append(log, "log 1\n", 6);
	other = open_append(argv[2]);
	if (dup2(other, log) != log)
		fail("dup2");
	append(log, "other 1\n", 8);
	close(log);
	close(other);
	log = open_append(argv[1]);
	append(log, "log 2\n", 6);
	close(log);
	again = open_append(argv[2]);
	printf("same number %d\n", again == log);
	append(again, "other 2\n", 8);
	return close(again) < 0;
}
