/* prog_stderr_reused LOG DATA: standard error is closed, DATA gets its number,
   and then appends to LOG fail. Whatever anybody says about that must not be
   in DATA. Waits for a line of input between the open and the write of LOG. */
#include "prog.h"

int main(int argc, char **argv)
{
	int log, data;

	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	log = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0644);
	report("log", log < 0 ? -1 : 0);
	close(2);
	data = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	report("data", data);
	if (getchar() < 0)
		return 2;
	append(data, "before\n", 7);
	report("write", write(log, "lost\n", 5));
	close(log);
	log = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0644);
	report("log again", log < 0 ? -1 : 0);
	append(data, "after\n", 6);
	return close(data) < 0;
}
