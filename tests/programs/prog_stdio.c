/* prog_stdio HOW FILE: a stream on FILE by fopen in mode HOW (a, a+, ae, ...),
   or by "freopen", "fdopen" or "wide". */
#include "prog.h"
#include <wchar.h>

static FILE *stream(const char *how, const char *path)
{
	if (!strcmp(how, "freopen"))
		return freopen(path, "a", stderr);
	if (!strcmp(how, "fdopen"))
		return fdopen(open_append(path), "a");
	if (!strcmp(how, "fopen64"))
		return fopen64(path, "a");
	return fopen(path, strcmp(how, "wide") ? how : "a");
}

int main(int argc, char **argv)
{
	FILE *f;

	if (argc < 3)
		return 2;
	f = stream(argv[1], argv[2]);
	if (!f)
		fail(argv[1]);
	if (!strcmp(argv[1], "wide")) {
		fwprintf(f, L"wide %d\n", 1);
		fputws(L"second\n", f);
	} else {
		fprintf(f, "%s %d\n", argv[1], 1);
		report("flush", fflush(f));
		report("tell", ftell(f));
		fputs("second\n", f);
		report("seek", fseek(f, 0, SEEK_SET));
		fputs("third\n", f);
	}
	report("error", ferror(f));
	report("close", fclose(f));
	return 0;
}
