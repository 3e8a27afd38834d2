/* fopen and fdopen: modes and their flags. */
#include "battery.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void note_flags(FILE *f)
{
	int flags = fcntl(fileno(f), F_GETFL);

	note("access %d append %d cloexec %d", flags & O_ACCMODE,
		!!(flags & O_APPEND), fcntl(fileno(f), F_GETFD));
}

static int append_with_mode(const char *dir, const char *mode)
{
	FILE *f;

	seed(dir, "log", "seed\n");
	f = stream_in(dir, "log", mode);
	note_flags(f);
	note_call("fprintf", fprintf(f, "mode %s\n", mode));
	note_call("fflush", fflush(f));
	fprintf(f, "after the flush\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_a(const char *dir)
{
	return append_with_mode(dir, "a");
}

static int run_ab(const char *dir)
{
	return append_with_mode(dir, "ab");
}

static int run_ae(const char *dir)
{
	return append_with_mode(dir, "ae");
}

static int run_ac(const char *dir)
{
	return append_with_mode(dir, "ac");
}

static int run_am(const char *dir)
{
	return append_with_mode(dir, "am");
}

static int run_ace_plus(const char *dir)
{
	return append_with_mode(dir, "a+ce");
}

static int run_ax(const char *dir)
{
	FILE *f = stream_in(dir, "log", "ax");

	fprintf(f, "new\n");
	note_call("fclose", fclose(f));
	f = fopen(path_in(dir, "log"), "ax");
	note("existing: %s", f ? "opened" : strerror(errno));
	return 0;
}

static int run_a_plus(const char *dir)
{
	char line[64];
	FILE *f;

	seed(dir, "log", "one\ntwo\n");
	f = stream_in(dir, "log", "a+");
	note_flags(f);
	note("read %s", fgets(line, sizeof(line), f) ? line : "nothing");
	fseek(f, 0, SEEK_CUR);
	fprintf(f, "three\n");
	note_call("fflush", fflush(f));
	rewind(f);
	while (fgets(line, sizeof(line), f))
		note("read back %s", line);
	note_call("feof", feof(f));
	fseek(f, 0, SEEK_SET);
	fprintf(f, "four\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_fopen64(const char *dir)
{
	FILE *f = fopen64(path_in(dir, "log"), "a");

	note_call("fprintf", fprintf(f, "fopen64\n"));
	note_call("fclose", fclose(f));
	return 0;
}

static int run_umask(const char *dir)
{
	struct stat st;
	FILE *f;

	umask(027);
	f = stream_in(dir, "log", "a");
	fprintf(f, "umask\n");
	fflush(f);
	if (fstat(fileno(f), &st))
		die("fstat");
	note("mode %o size %ld links %d", st.st_mode, (long)st.st_size,
		(int)st.st_nlink);
	note_call("fclose", fclose(f));
	return 0;
}

static int run_missing_directory(const char *dir)
{
	FILE *f = fopen(path_in(dir, "no/such/log"), "a");

	note("missing directory: %s", f ? "opened" : strerror(errno));
	f = fopen(path_in(dir, "."), "a");
	note("a directory: %s", f ? "opened" : strerror(errno));
	f = fopen(path_in(dir, "log"), "q");
	note("bad mode: %s", f ? "opened" : strerror(errno));
	return 0;
}

static int fdopen_with(const char *dir, int flags, const char *mode)
{
	int fd;
	FILE *f;

	seed(dir, "log", "seed\n");
	fd = open(path_in(dir, "log"), flags | O_APPEND);
	if (fd < 0)
		die("open");
	f = fdopen(fd, mode);
	note("fdopen %s", f ? "opened" : strerror(errno));
	if (!f)
		return 0;
	note_flags(f);
	note_call("ftell", ftell(f));
	fprintf(f, "fdopen %s\n", mode);
	note_call("fflush", fflush(f));
	note_call("ftell", ftell(f));
	note_call("fclose", fclose(f));
	note_call("close again", close(fd));
	return 0;
}

static int run_fdopen_a(const char *dir)
{
	return fdopen_with(dir, O_WRONLY, "a");
}

static int run_fdopen_w(const char *dir)
{
	return fdopen_with(dir, O_WRONLY, "w");
}

static int run_fdopen_a_plus(const char *dir)
{
	return fdopen_with(dir, O_RDWR, "a+");
}

static int run_fdopen_refused(const char *dir)
{
	return fdopen_with(dir, O_WRONLY, "a+");
}

/* fdopen(.., "a") turns O_APPEND on by F_SETFL. */
static int run_fdopen_sets_append(const char *dir)
{
	int fd, flags;
	FILE *f;

	seed(dir, "log", "seed\n");
	fd = open(path_in(dir, "log"), O_WRONLY | O_APPEND);
	flags = fcntl(fd, F_GETFL);
	note_call("F_SETFL", fcntl(fd, F_SETFL, flags & ~O_APPEND));
	f = fdopen(fd, "a");
	if (!f)
		die("fdopen");
	note_flags(f);
	fprintf(f, "appended\n");
	note_call("fclose", fclose(f));
	return 0;
}

static int run_many_streams(const char *dir)
{
	FILE *f[40];
	char name[16];

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "log-%02d", i);
		f[i] = stream_in(dir, name, "a");
	}
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 40; i++)
			fprintf(f[i], "stream %d round %d\n", i, round);
	note_call("fcloseall", fcloseall());
	return 0;
}

static int run_open_close_cycles(const char *dir)
{
	for (int i = 0; i < 50; i++) {
		FILE *f = stream_in(dir, i % 3 ? "log" : "other", "a");

		fprintf(f, "cycle %d\n", i);
		if (fclose(f))
			die("fclose");
		f = local_stream();
		fprintf(f, "local %d", i);
		note_local(f);
	}
	return 0;
}

const struct battery_case battery_open[] = {
	{"fopen-a", run_a, 0},
	{"fopen-ab", run_ab, 0},
	{"fopen-ae", run_ae, 0},
	{"fopen-ac", run_ac, 0},
	{"fopen-am", run_am, 0},
	{"fopen-ax", run_ax, 0},
	{"fopen-a+", run_a_plus, 0},
	{"fopen-a+ce", run_ace_plus, 0},
	{"fopen64", run_fopen64, 0},
	{"fopen-umask", run_umask, 0},
	{"fopen-errors", run_missing_directory, 0},
	{"fdopen-a", run_fdopen_a, 0},
	{"fdopen-w", run_fdopen_w, 0},
	{"fdopen-a+", run_fdopen_a_plus, 0},
	{"fdopen-refused", run_fdopen_refused, 0},
	{"fdopen-sets-append", run_fdopen_sets_append, 0},
	{"many-streams", run_many_streams, 0},
	{"open-close-cycles", run_open_close_cycles, 0},
	{NULL, NULL, 0},
};
