#include "control.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "loop.h"
#include "xdr.h"

struct reader {
	int fd;
	bool answers; /* a socket: the answer goes back the same way */
	struct watch *watch;
	struct buf in;
	command_fn *fn;
};

static void answer(int fd, const char *text, size_t len)
{
	/* A client that does not read its answer must not stop the server. */
	if (send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		warn("control socket");
}

static bool blank(const char *line)
{
	line += strspn(line, " \t\r");
	return !*line || *line == '#';
}

static void run_line(struct reader *r, char *line)
{
	const char *bad;
	char *text = NULL, *copy;
	size_t len = 0;
	FILE *out;

	if (blank(line))
		return;
	copy = strdup(line);
	out = open_memstream(&text, &len);
	if (!copy || !out)
		err(1, "control");
	bad = r->fn(line, out);
	if (bad)
		fprintf(out, "error: %s: %s\n", bad, copy);
	else if (r->answers)
		fputs("ok\n", out);
	fclose(out);
	if (r->answers)
		answer(r->fd, text, len);
	else
		fwrite(text, 1, len, stderr);
	free(text);
	free(copy);
}

static void close_reader(struct reader *r)
{
	watch_del(r->watch);
	close(r->fd);
	buf_free(&r->in);
	free(r);
}

static void on_readable(void *arg, short revents)
{
	struct reader *r = arg;
	char chunk[4096], *end;
	ssize_t n = read(r->fd, chunk, sizeof(chunk));

	(void)revents;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close_reader(r);
		return;
	}
	buf_add(&r->in, chunk, n);
	while ((end = memchr(r->in.v, '\n', r->in.len))) {
		*end = 0;
		run_line(r, (char *)r->in.v);
		buf_drop(&r->in, end + 1 - (char *)r->in.v);
	}
}

static void read_from(int fd, bool answers, command_fn *fn)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (!r)
		err(1, "control");
	r->fd = fd;
	r->answers = answers;
	r->fn = fn;
	r->watch = watch_add(fd, POLLIN, on_readable, r);
}

int control_file(const char *path, command_fn *fn)
{
	FILE *f = fopen(path, "r");
	char *line = NULL, *copy;
	const char *bad;
	size_t size = 0;
	int number = 0, failed = 0;

	if (!f)
		err(1, "%s", path);
	while (getline(&line, &size, f) >= 0) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (blank(line))
			continue;
		copy = strdup(line);
		bad = fn(line, stderr);
		if (bad)
			warnx("%s:%d: %s: %s", path, number, bad, copy);
		failed += !!bad;
		free(copy);
	}
	free(line);
	fclose(f);
	return failed;
}

void control_stdin(command_fn *fn)
{
	read_from(0, false, fn);
}

void control_fifo(const char *path, command_fn *fn)
{
	int fd;

	if (mkfifo(path, 0600) && errno != EEXIST)
		err(1, "%s", path);
	/* O_RDWR: the FIFO never reads as ended between two writers. */
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	read_from(fd, false, fn);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(a.sun_path))
		errx(1, "%s: longer than %zu bytes", path,
			sizeof(a.sun_path) - 1);
	strcpy(a.sun_path, path);
	return a;
}

struct listener {
	int fd;
	command_fn *fn;
};

static void on_connect(void *arg, short revents)
{
	struct listener *l = arg;
	int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);

	(void)revents;
	if (fd >= 0)
		read_from(fd, true, l->fn);
}

void control_socket(const char *path, command_fn *fn)
{
	struct sockaddr_un a = address_of(path);
	static struct listener l;

	l.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	l.fn = fn;
	unlink(path);
	if (l.fd < 0 || bind(l.fd, (struct sockaddr *)&a, sizeof(a)) ||
		listen(l.fd, 16))
		err(1, "%s", path);
	watch_add(l.fd, POLLIN, on_connect, &l);
}

int control_send(const char *path, int n, char **lines)
{
	struct sockaddr_un a = address_of(path);
	int i, bad = 0, fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err(1, "%s", path);
	f = fdopen(fd, "r");
	for (i = 0; i < n; i++) {
		if (blank(lines[i]))
			continue;
		if (dprintf(fd, "%s\n", lines[i]) < 0)
			err(1, "%s", path);
		for (;;) {
			if (getline(&line, &size, f) < 0)
				errx(1, "%s: closed without an answer", path);
			if (!strcmp(line, "ok\n"))
				break;
			fputs(line, stdout);
			if (!strncmp(line, "error: ", 7)) {
				bad = 1;
				break;
			}
		}
	}
	free(line);
	fclose(f);
	return bad;
}
