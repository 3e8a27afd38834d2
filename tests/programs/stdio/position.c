/* Where a stream thinks that it is. */
#include "battery.h"

#include <sys/stat.h>
#include <unistd.h>

static int run_ftell(const char *dir)
{
	FILE *f;

	seed(dir, "log", "0123456789");
	f = stream_in(dir, "log", "a");
	note_call("ftell after fopen", ftell(f));
	fprintf(f, "abc");
	note_call("ftell with a full buffer", ftell(f));
	fflush(f);
	note_call("ftell after fflush", ftell(f));
	note_call("ftello", ftello(f));
	fprintf(f, "d");
	note_call("lseek", lseek(fileno(f), 0, SEEK_CUR));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fseek(const char *dir)
{
	FILE *f;

	seed(dir, "log", "0123456789");
	f = stream_in(dir, "log", "a");
	note_call("SEEK_SET", fseek(f, 3, SEEK_SET));
	note_call("ftell", ftell(f));
	fprintf(f, "at the end all the same");
	fflush(f);
	note_call("ftell", ftell(f));
	note_call("SEEK_END", fseek(f, -4, SEEK_END));
	note_call("ftell", ftell(f));
	fprintf(f, "!");
	note_call("SEEK_CUR", fseek(f, 0, SEEK_CUR));
	note_call("ftell", ftell(f));
	note_call("before the start", fseek(f, -99, SEEK_SET));
	note_call("fseeko", fseeko(f, 5, SEEK_SET));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_rewind(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	for (int i = 0; i < 5; i++) {
		fprintf(f, "line %d\n", i);
		rewind(f);
		note_call("ftell", ftell(f));
	}
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fgetpos(const char *dir)
{
	FILE *f;
	fpos_t start;

	seed(dir, "log", "seed\n");
	f = stream_in(dir, "log", "a+");
	note_call("fgetpos", fgetpos(f, &start));
	fprintf(f, "one\n");
	note_call("fsetpos", fsetpos(f, &start));
	fprintf(f, "two\n");
	note_call("fsetpos", fsetpos(f, &start));
	note("first byte %c", fgetc(f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_read_write_turns(const char *dir)
{
	char word[32];
	FILE *f;

	seed(dir, "log", "alpha beta gamma\n");
	f = stream_in(dir, "log", "a+");
	for (int i = 0; i < 3; i++) {
		note_call("fseek", fseek(f, i * 6, SEEK_SET));
		if (fscanf(f, "%31s", word) != 1)
			die("fscanf");
		note("word %s at %ld", word, ftell(f));
		fseek(f, 0, SEEK_END);
		fprintf(f, "%s again\n", word);
	}
	note_call("fclose", fclose(f));
	return 0;
}

static int run_other_writer(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fprintf(f, "one\n");
	fflush(f);
	seed(dir, "log", "by another descriptor\n");
	note_call("ftell", ftell(f));
	fprintf(f, "two\n");
	fflush(f);
	note_call("ftell", ftell(f));
	note_call("fseek", fseek(f, 0, SEEK_END));
	note_call("ftell", ftell(f));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_size(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");
	struct stat st;

	for (int i = 0; i < 5; i++) {
		fprintf(f, "line %d\n", i);
		fflush(f);
		if (fstat(fileno(f), &st))
			die("fstat");
		note("size %ld regular %d", (long)st.st_size,
			S_ISREG(st.st_mode));
	}
	note_call("fclose", fclose(f));
	return 0;
}

static int run_ftruncate(const char *dir)
{
	FILE *f = stream_in(dir, "log", "a");

	fprintf(f, "0123456789");
	fflush(f);
	note_call("ftruncate", ftruncate(fileno(f), 4));
	fprintf(f, "|end\n");
	note_call("fflush", fflush(f));
	note_call("lseek", lseek(fileno(f), 0, SEEK_END));
	note_call("fclose", fclose(f));
	return 0;
}

const struct battery_case battery_position[] = {
	{"ftell", run_ftell, 0},
	{"fseek", run_fseek, 0},
	{"rewind", run_rewind, 0},
	{"fgetpos", run_fgetpos, 0},
	{"read-write-turns", run_read_write_turns, 0},
	{"other-writer", run_other_writer, 0},
	{"stream-size", run_size, 0},
	{"stream-ftruncate", run_ftruncate, 0},
	{NULL, NULL, 0},
};
