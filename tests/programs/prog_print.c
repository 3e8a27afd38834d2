/* prog_print [BUFFERING]: prints through stdio only, on the standard output
   that it was given; BUFFERING is full, line or none. */
#include "prog.h"
#include <wchar.h>

int main(int argc, char **argv)
{
	const char *buffering = argc > 1 ? argv[1] : "default";

	if (!strcmp(buffering, "full"))
		setvbuf(stdout, NULL, _IOFBF, 4096);
	else if (!strcmp(buffering, "line"))
		setvbuf(stdout, NULL, _IOLBF, 4096);
	else if (!strcmp(buffering, "none"))
		setvbuf(stdout, NULL, _IONBF, 0);
	printf("printf %d\n", 42);
	puts("puts");
	putchar('c');
	putchar('\n');
	fwrite("fwrite\n", 1, 7, stdout);
	fputs("fputs\n", stdout);
	for (int i = 0; i < 2000; i++)
		printf("%d,", i);
	putchar('\n');
	fflush(stdout);
	dprintf(1, "dprintf %s\n", buffering);
	printf("at exit\n");
	return 0;
}
