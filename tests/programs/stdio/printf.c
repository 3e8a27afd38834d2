/* The printf and put families on narrow streams, and dprintf. */
#include "battery.h"

#include <printf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void call_vprintf(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note_call("vprintf", vprintf(format, ap));
	va_end(ap);
}

static void call_vfprintf(FILE *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note_call("vfprintf", vfprintf(f, format, ap));
	va_end(ap);
}

static void call_vdprintf(int fd, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	note_call("vdprintf", vdprintf(fd, format, ap));
	va_end(ap);
}

static int run_printf(const char *dir)
{
	redirect(1, dir, "log");
	for (int i = 0; i < 100; i++)
		printf("printf %d %s %5.2f\n", i, "text", i / 3.0);
	return 0;
}

static int run_printf_positional(const char *dir)
{
	redirect(1, dir, "log");
	note_call("printf", printf("%2$s %1$d %3$*4$d|\n", 1, "two", 3, 8));
	return 0;
}

static int run_printf_long(const char *dir)
{
	size_t size = 300000;
	char *text = malloc(size + 1);

	memset(text, 'x', size);
	text[size] = 0;
	redirect(1, dir, "log");
	note_call("printf", printf("%s|%*d|\n", text, 70000, 7));
	free(text);
	return 0;
}

static int run_vprintf(const char *dir)
{
	redirect(1, dir, "log");
	call_vprintf("vprintf %d %c\n", 42, 'c');
	return 0;
}

static int run_fprintf(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 1000; i++)
		fprintf(f, "fprintf %06d %s\n", i, "0123456789");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_vfprintf(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	call_vfprintf(f, "vfprintf %s %ld\n", "text", 1L << 40);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_dprintf(const char *dir)
{
	int fd = open(path_in(dir, "log"), O_WRONLY | O_APPEND | O_CREAT, 0644);

	for (int i = 0; i < 20; i++)
		note_call("dprintf", dprintf(fd, "dprintf %d %s\n", i, "text"));
	note_call("dprintf", dprintf(fd, "%*d\n", 20000, 1));
	note_call("close", close(fd));
	note_call("dprintf", dprintf(fd, "to a closed descriptor\n"));
	return 0;
}

static int run_vdprintf(const char *dir)
{
	redirect(2, dir, "log");
	call_vdprintf(2, "vdprintf %d %s\n", 7, "text");
	return 0;
}

static int run_puts(const char *dir)
{
	redirect(1, dir, "log");
	for (int i = 0; i < 500; i++)
		puts("a line by puts");
	return 0;
}

static int run_fputs(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fputs("a line by fputs\n", f);
	fputs("", f);
	fputs("and one without its end", f);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_putc(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 9000; i++)
		putc(i % 64 == 63 ? '\n' : 'a' + i % 26, f);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_putchar(const char *dir)
{
	redirect(1, dir, "log");
	for (int i = 0; i < 256; i++)
		putchar(i);
	return 0;
}

static int run_fputc(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 256; i++)
		fputc(i, f);
	putw(0x64636261, f);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fwrite(const char *dir)
{
	static const char binary[] = "a\0b\0\377\r\n";
	FILE *f = stream_in(dir, "log", "a");

	note_call("fwrite", fwrite(binary, 1, sizeof(binary), f));
	note_call("fwrite", fwrite(binary, 3, 2, f));
	note_call("fwrite", fwrite(binary, 0, 7, f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fwrite_large(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	size_t size = (3 << 20) + 17;
	char *block = malloc(size);

	for (size_t i = 0; i < size; i++)
		block[i] = "0123456789abcdef"[i * 7 / 5 % 16];
	fputs("before\n", f);
	note_call("fwrite", fwrite(block, 1, size, f));
	fputs("\nafter\n", f);
	note_call("fclose", fclose(f));
	free(block);
	return 0;
}

static int run_unlocked(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	putc_unlocked('a', f);
	fputc_unlocked('b', f);
	fputs_unlocked(" fputs_unlocked\n", f);
	note_call("fwrite_unlocked", fwrite_unlocked("fwrite\n", 1, 7, f));
	note_call("fflush_unlocked", fflush_unlocked(f));
	redirect(1, dir, "log");
	putchar_unlocked('c');
	putchar_unlocked('\n');
	note_call("fclose", fclose(f));
	return 0;
}

static int print_pair(
	FILE *f, const struct printf_info *info, const void *const *args)
{
	const int *pair = *(const int *const *)args[0];

	(void)info;
	return fprintf(f, "<%d,%d>", pair[0], pair[1]);
}

static int pair_size(
	const struct printf_info *info, size_t n, int *types, int *size)
{
	(void)info;
	(void)size;
	if (n > 0)
		types[0] = PA_POINTER;
	return 1;
}

static int run_printf_registered(const char *dir)
{
	int pair[2] = {3, 4};
	const char *format = "pair %Y\n";

	register_printf_specifier('Y', print_pair, pair_size);
	redirect(1, dir, "log");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	note_call("printf", printf(format, pair));
#pragma GCC diagnostic pop
	return 0;
}

/* A FILE that is no file keeps its bytes while others are written. */
static int run_memory_streams(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	char fixed[32] = "", *grown = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&grown, &length);
	FILE *fixed_stream = fmemopen(fixed, sizeof(fixed), "w");

	fprintf(memory, "in memory");
	fprintf(f, "in the log\n");
	fprintf(fixed_stream, "fixed");
	fclose(memory);
	fclose(fixed_stream);
	note("open_memstream %zu %s, fmemopen %s", length, grown, fixed);
	note_call("fclose", fclose(f));
	free(grown);
	return 0;
}

static ssize_t cookie_write(void *cookie, const char *data, size_t size)
{
	note("cookie got %zu bytes", size);
	return fwrite(data, 1, size, cookie) == size ? (ssize_t)size : 0;
}

static int run_fopencookie(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	cookie_io_functions_t io = {.write = cookie_write};
	FILE *cookie = fopencookie(f, "a", io);

	fprintf(cookie, "through a cookie\n");
	note_call("fclose", fclose(cookie));
	note_call("fclose", fclose(f));
	return 0;
}

const struct battery_case battery_printf[] = {
	{"printf", run_printf, 0},
	{"printf-positional", run_printf_positional, 0},
	{"printf-long", run_printf_long, 0},
	{"printf-registered", run_printf_registered, 0},
	{"vprintf", run_vprintf, 0},
	{"fprintf", run_fprintf, 0},
	{"vfprintf", run_vfprintf, 0},
	{"dprintf", run_dprintf, 0},
	{"vdprintf", run_vdprintf, 0},
	{"puts", run_puts, 0},
	{"fputs", run_fputs, 0},
	{"putc", run_putc, 0},
	{"putchar", run_putchar, 0},
	{"fputc", run_fputc, 0},
	{"fwrite", run_fwrite, 0},
	{"fwrite-large", run_fwrite_large, 0},
	{"unlocked", run_unlocked, 0},
	{"memory-streams", run_memory_streams, 0},
	{"fopencookie", run_fopencookie, 0},
	{NULL, NULL, 0},
};
