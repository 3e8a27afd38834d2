/* prog_crash free|stack|backtrace|asan: dies as its argument says, with what
   libc or a sanitizer has to say about it. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wfree-nonheap-object"

__attribute__((noinline)) static void smash(char *at, size_t n)
{
	memset(at, 'x', n);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char small[8];
	void *frames[8];
	char *block = malloc(16);

	if (strcmp(how, "free") == 0)
		free(block + 8);
	else if (strcmp(how, "stack") == 0)
		smash(small, 64);
	else if (strcmp(how, "backtrace") == 0)
		backtrace_symbols_fd(frames, backtrace(frames, 8), 2);
	else if (strcmp(how, "asan") == 0)
		smash(block, 17);
	return small[0] + block[0] == 'y';
}
