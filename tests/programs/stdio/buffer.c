/*
 * Buffering.  Two streams or descriptors on one file show by their order when
 * bytes left the buffer.
 */
#include "battery.h"

#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int marker_fd;

static void mark(const char *text)
{
	if (write(marker_fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("write");
}

static FILE *marked_stream(const char *dir)
{
	marker_fd =
		open(path_in(dir, "log"), O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (marker_fd < 0)
		die("open");
	return stream_in(dir, "log", "a");
}

static int run_unbuffered(const char *dir)
{
	FILE *f = marked_stream(dir);

	note_call("setvbuf", setvbuf(f, NULL, _IONBF, 0));
	for (int i = 0; i < 10; i++) {
		fprintf(f, "%d %s ", i, "stream");
		mark("marker\n");
		fputc('c', f);
		mark("m");
		fputs("puts", f);
		mark("\n");
	}
	note_call("fclose", fclose(f));
	return 0;
}

static int run_line_buffered(const char *dir)
{
	FILE *f = marked_stream(dir);

	note_call("setvbuf", setvbuf(f, NULL, _IOLBF, 0));
	for (int i = 0; i < 10; i++) {
		fprintf(f, "half ");
		mark("marker ");
		fprintf(f, "line\nrest");
		mark("marker ");
	}
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fully_buffered(const char *dir)
{
	FILE *f = marked_stream(dir);

	note_call("setvbuf", setvbuf(f, NULL, _IOFBF, 256));
	for (int i = 0; i < 100; i++) {
		fprintf(f, "line %d of the stream\n", i);
		mark("marker\n");
	}
	note_call("fclose", fclose(f));
	return 0;
}

static int run_own_buffer(const char *dir)
{
	static char buffer[100];
	FILE *f = marked_stream(dir);

	note_call("setvbuf", setvbuf(f, buffer, _IOFBF, sizeof(buffer)));
	for (int i = 0; i < 50; i++) {
		fprintf(f, "line %d in our buffer\n", i);
		mark("marker\n");
	}
	fwrite("exactly as long as the buffer: 0123456789012345678901234567890"
	       "12345678901234567890123456789012345678",
		1, 100, f);
	mark("marker\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_setbuf(const char *dir)
{
	static char buffer[BUFSIZ], small[64];
	FILE *f = marked_stream(dir);

	setbuf(f, buffer);
	fprintf(f, "setbuf\n");
	mark("marker\n");
	note_call("fclose", fclose(f));
	f = stream_in(dir, "log", "a");
	setbuffer(f, small, sizeof(small));
	for (int i = 0; i < 20; i++) {
		fprintf(f, "setbuffer %d\n", i);
		mark("marker\n");
	}
	note_call("fclose", fclose(f));
	f = stream_in(dir, "log", "a");
	setlinebuf(f);
	fprintf(f, "setlinebuf\n");
	mark("marker\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_buffer_change(const char *dir)
{
	FILE *f = marked_stream(dir);

	fprintf(f, "buffered ");
	mark("marker\n");
	setvbuf(f, NULL, _IONBF, 0);
	fprintf(f, "unbuffered ");
	mark("marker\n");
	setvbuf(f, NULL, _IOLBF, 0);
	fprintf(f, "line\n");
	mark("marker\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_stderr_default(const char *dir)
{
	marker_fd =
		open(path_in(dir, "log"), O_WRONLY | O_APPEND | O_CREAT, 0644);
	redirect(2, dir, "log");
	fprintf(stderr, "%s is %d ", "unbuffered", 1);
	mark("marker\n");
	fputs("stderr ", stderr);
	mark("marker\n");
	setvbuf(stderr, NULL, _IOFBF, 4096);
	fprintf(stderr, "now buffered ");
	mark("marker\n");
	return 0;
}

static int run_fflush_all(const char *dir)
{
	FILE *a = marked_stream(dir), *b = stream_in(dir, "other", "a");

	fprintf(a, "first ");
	fprintf(b, "second\n");
	note("pending %zu %zu", __fpending(a), __fpending(b));
	note_call("fflush", fflush(NULL));
	mark("marker\n");
	fprintf(a, "third\n");
	_flushlbf();
	mark("marker\n");
	note_call("fclose", fclose(a));
	note_call("fclose", fclose(b));
	return 0;
}

static int run_fpurge(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fprintf(f, "kept\n");
	fflush(f);
	fprintf(f, "dropped\n");
	__fpurge(f);
	fprintf(f, "kept too\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_two_streams(const char *dir)
{
	FILE *a = stream_in(dir, "log", "a"), *b = stream_in(dir, "log", "a");

	for (int i = 0; i < 20; i++) {
		fprintf(a, "a %d\n", i);
		fprintf(b, "b %d\n", i);
		fflush(i % 2 ? a : b);
	}
	note_call("fclose", fclose(b));
	note_call("fclose", fclose(a));
	return 0;
}

static int run_stream_and_write(const char *dir)
{
	FILE *f = marked_stream(dir);

	for (int i = 0; i < 20; i++) {
		fprintf(f, "stream %d\n", i);
		fflush(f);
		dprintf(fileno(f), "descriptor %d\n", i);
	}
	note_call("fclose", fclose(f));
	return 0;
}

const struct battery_case battery_buffer[] = {
	{"unbuffered", run_unbuffered, 0},
	{"line-buffered", run_line_buffered, 0},
	{"fully-buffered", run_fully_buffered, 0},
	{"own-buffer", run_own_buffer, 0},
	{"setbuf", run_setbuf, 0},
	{"buffer-change", run_buffer_change, 0},
	{"stderr-default", run_stderr_default, 0},
	{"fflush-all", run_fflush_all, 0},
	{"fpurge", run_fpurge, 0},
	{"two-streams", run_two_streams, 0},
	{"stream-and-write", run_stream_and_write, 0},
	{NULL, NULL, 0},
};
