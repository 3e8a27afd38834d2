/*
 * stdio-battery CASE DIR: runs one case.  stdio-battery --list: their names,
 * exceptions with a second word.
 */
#include "battery.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int notes_fd = -1;

static const struct battery_case *const tables[] = {
#ifdef BATTERY_CXX
	battery_cxx,
#else
	battery_printf,
	battery_wide,
	battery_buffer,
	battery_open,
	battery_reopen,
	battery_position,
	battery_message,
	battery_process,
	battery_error,
#endif
};

void die(const char *what)
{
	note("%s: %s", what, strerror(errno));
	_exit(99);
}

void note(const char *format, ...)
{
	char line[4096];
	va_list ap;
	int saved = errno, length;

	va_start(ap, format);
	length = vsnprintf(line, sizeof(line) - 1, format, ap);
	va_end(ap);
	if (length < 0 || (size_t)length >= sizeof(line) - 1)
		_exit(98);
	line[length++] = '\n';
	if (write(notes_fd, line, length) != length)
		_exit(98);
	errno = saved;
}

void note_call(const char *what, long ret)
{
	if (ret < 0)
		note("%s %ld (%s)", what, ret, strerror(errno));
	else
		note("%s %ld", what, ret);
}

const char *path_in(const char *dir, const char *name)
{
	static char paths[8][4096];
	static unsigned int next;
	char *path = paths[next++ % 8];

	if (snprintf(path, sizeof(paths[0]), "%s/%s", dir, name) >=
		(int)sizeof(paths[0]))
		_exit(98);
	return path;
}

FILE *stream_in(const char *dir, const char *name, const char *mode)
{
	FILE *stream = fopen(path_in(dir, name), mode);

	if (!stream)
		die("fopen");
	return stream;
}

void redirect(int fd, const char *dir, const char *name)
{
	int file =
		open(path_in(dir, name), O_WRONLY | O_APPEND | O_CREAT, 0666);

	if (file < 0)
		die("open");
	if (file == fd)
		return;
	if (dup2(file, fd) != fd)
		die("dup2");
	close(file);
}

FILE *local_stream(void)
{
	FILE *local = tmpfile();

	if (!local)
		die("tmpfile");
	return local;
}

void note_local(FILE *local)
{
	char text[2048];
	size_t length;

	fflush(local);
	rewind(local);
	length = fread(text, 1, sizeof(text) - 1, local);
	text[length] = 0;
	note("local file: %s", text);
	fclose(local);
}

void note_child(pid_t pid)
{
	int status;

	if (pid < 0)
		die("fork");
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (WIFEXITED(status))
		note("child exited %d", WEXITSTATUS(status));
	else
		note("child killed by %d", WTERMSIG(status));
}

void seed(const char *dir, const char *name, const char *text)
{
	int fd = open(path_in(dir, name), O_WRONLY | O_APPEND | O_CREAT, 0666);

	if (fd < 0)
		die("seed");
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("seed");
	if (close(fd))
		die("seed");
}

static void list(void)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct battery_case *c = tables[t]; c->name; c++)
			printf("%s%s\n", c->name,
				c->exception ? " exception" : "");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: %s CASE DIR | --list\n", argv[0]);
		return 2;
	}
	notes_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
	if (notes_fd < 0 || !setlocale(LC_ALL, "C.UTF-8"))
		return 98;
	/* Diagnostics begin with a name that does not tell the directory. */
	program_invocation_name = program_invocation_short_name;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct battery_case *c = tables[t]; c->name; c++)
			if (!strcmp(c->name, argv[1]))
				return c->run(argv[2]);
	fprintf(stderr, "%s: no case %s\n", argv[0], argv[1]);
	return 77;
}
