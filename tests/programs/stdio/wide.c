/* Wide streams: they have a vtable of their own in glibc. */
#include "battery.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

static void call_vfwprintf(FILE *f, const wchar_t *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note_call("vfwprintf", vfwprintf(f, format, ap));
	va_end(ap);
}

static int run_fwprintf(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 1000; i++)
		fwprintf(f, L"wide %d \u00e4\u20ac %ls\n", i, L"\U0001f40d");
	call_vfwprintf(f, L"vfwprintf %d\n", 5);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_wprintf(const char *dir)
{
	redirect(1, dir, "log");
	note_call("wprintf", wprintf(L"wprintf %ls %d\n", L"\u03bb", 1));
	putwchar(L'\u00df');
	putwc(L'\n', stdout);
	return 0;
}

static int run_fputws(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 3000; i++)
		fputws(L"fputws \u2713\n", f);
	fputwc(L'\u2026', f);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_wide_unlocked(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fputwc_unlocked(L'\u00e9', f);
	putwc_unlocked(L'!', f);
	fputws_unlocked(L" unlocked\n", f);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_wide_orientation(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	note_call("fwide", fwide(f, 0));
	fputws(L"wide first\n", f);
	note("wide: %d, narrow print %d", fwide(f, 0) > 0,
		fprintf(f, "narrow\n"));
	note_call("fclose", fclose(f));
	f = stream_in(dir, "log", "a");
	fputs("narrow first\n", f);
	note("narrow: %d, wide print %d", fwide(f, 0) < 0,
		fwprintf(f, L"wide\n"));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_wide_unbuffered(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	setvbuf(f, NULL, _IONBF, 0);
	fwprintf(f, L"unbuffered %lc %d\n", L'\u00fc', 3);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_wide_position(const char *dir)
{
	FILE *f;

	seed(dir, "log", "\303\244 seed\n");
	f = stream_in(dir, "log", "a+");
	fwprintf(f, L"\u20ac one\n");
	note_call("ftell", ftell(f));
	note_call("fseek", fseek(f, 0, SEEK_SET));
	note("fgetwc %x", (unsigned int)fgetwc(f));
	note_call("fseek", fseek(f, 0, SEEK_CUR));
	fwprintf(f, L"\u20ac two\n");
	note_call("fflush", fflush(f));
	note_call("ftell", ftell(f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_ccs_utf8(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a,ccs=UTF-8");

	fwprintf(f, L"ccs \u00e4\u20ac\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_ccs_latin1(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a,ccs=ISO-8859-1");

	fwprintf(f, L"latin \u00e4\u00f6\n");
	note_call("unmappable", fwprintf(f, L"\u20ac\n") < 0 ? 0 : 1);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_wide_perror(const char *dir)
{
	redirect(2, dir, "log");
	fwprintf(stderr, L"wide stderr \u00e4\n");
	errno = ENOENT;
	perror("perror");
	return 0;
}

static int run_wide_freopen(const char *dir)
{
	redirect(1, dir, "log");
	wprintf(L"wide \u00e4\n");
	if (!freopen(path_in(dir, "log"), "a", stdout))
		die("freopen");
	note("orientation %d", fwide(stdout, 0));
	printf("narrow\n");
	if (!freopen(path_in(dir, "other"), "a", stdout))
		die("freopen");
	wprintf(L"wide again \u00e4\n");
	return 0;
}

const struct battery_case battery_wide[] = {
	{"fwprintf", run_fwprintf, 0},
	{"wprintf", run_wprintf, 0},
	{"fputws", run_fputws, 0},
	{"wide-unlocked", run_wide_unlocked, 0},
	{"wide-orientation", run_wide_orientation, 0},
	{"wide-unbuffered", run_wide_unbuffered, 0},
	{"wide-position", run_wide_position, 0},
	{"ccs-utf8", run_ccs_utf8, 0},
	{"ccs-latin1", run_ccs_latin1, 0},
	{"wide-perror", run_wide_perror, 0},
	{"wide-freopen", run_wide_freopen, 0},
	{NULL, NULL, 0},
};
