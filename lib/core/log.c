/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/log.h"
#include "core/mounted.h"
#include "core/placeholder.h"
#include "core/process.h"

#define LINE 1024
/* At most BURST messages of one identifier in WINDOW seconds. */
#define BURST 10
#define WINDOW 60
#define RATES 64 /* more than there are identifiers */

/* Immutable after start. */
static enum nfsappend_level log_level = NFSAPPEND_WARN;
static const char *log_file;
static bool had_stderr;
static struct statx stderr_was;

static struct {
	_Atomic int id;
	_Atomic int64_t since; /* s */
	_Atomic unsigned count;
} rates[RATES];

static char program[16]; /* TASK_COMM_LEN; written once */

static bool stderr_now(struct statx *stx)
{
	return sys_statx(2, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		       STATX_TYPE | STATX_INO, stx) == 0;
}

void nfsappend_log_start(void)
{
	had_stderr = stderr_now(&stderr_was);
}

void nfsappend_log_configure(enum nfsappend_level level, const char *file)
{
	log_level = level;
	log_file = file;
}

bool nfsappend_log_wanted(enum nfsappend_level level)
{
	return level <= log_level;
}

const char *nfsappend_program(void)
{
	if (program[0] == '\0') {
		char comm[16] = "?";
		long fd = sys_openat(AT_FDCWD, "/proc/self/comm",
			O_RDONLY | O_CLOEXEC, 0);

		if (fd >= 0) {
			long n = sys_read(fd, comm, sizeof comm - 1);

			if (n > 0)
				comm[n - (comm[n - 1] == '\n')] = '\0';
			sys_close(fd);
		}
		memcpy(program, comm, sizeof program);
	}
	return program;
}

/* fd 2 is the file that the program was started with, not one of ours, and
 * takes a line now. */
static bool stderr_usable(void)
{
	struct statx stx;
	struct pollfd p = {.fd = 2, .events = POLLOUT};
	struct timespec none = {0, 0};

	return had_stderr && stderr_now(&stx) &&
		stx.stx_ino == stderr_was.stx_ino &&
		stx.stx_dev_major == stderr_was.stx_dev_major &&
		stx.stx_dev_minor == stderr_was.stx_dev_minor &&
		!nfsappend_placeholder_marked(2) &&
		!nfsappend_mounted_named(2) &&
		/* Not a pipe without a reader: SIGPIPE would be our doing. */
		sys_ppoll(&p, 1, &none, NULL) == 1 && p.revents == POLLOUT;
}

static void to_syslog(const char *line, size_t n)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX,
		.sun_path = "/dev/log"};
	char datagram[LINE + 8] = "<28>"; /* LOG_DAEMON | LOG_WARNING */
	long fd = nfsappend_sys(SYS_socket, AF_UNIX,
		SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);

	if (fd < 0)
		return;
	if (n > LINE)
		n = LINE;
	memcpy(datagram + 4, line, n);
	nfsappend_sys(SYS_sendto, fd, (long)datagram, n + 4,
		MSG_NOSIGNAL | MSG_DONTWAIT, (long)&sun, sizeof sun);
	sys_close(fd);
}

/* Not where RLIMIT_FSIZE would end the program (SIGXFSZ) for a line of ours. */
static long write_within_limit(int fd, const char *line, size_t n)
{
	struct rlimit limit;
	struct statx stx;

	if (sys_getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
		limit.rlim_cur != RLIM_INFINITY &&
		sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			STATX_TYPE | STATX_SIZE, &stx) == 0 &&
		S_ISREG(stx.stx_mode) && stx.stx_size + n > limit.rlim_cur)
		return -EFBIG;
	return sys_write(fd, line, n);
}

int nfsappend_write_line(const char *file, const char *line, size_t n)
{
	if (file == NULL || strcmp(file, "stderr") == 0) {
		if (!stderr_usable())
			return -EBADF;
		long r = write_within_limit(2, line, n);

		return r < 0 ? (int)r : 0;
	}
	/* Opened for each line: no descriptor of ours for a program to close,
	 * and a log file may be rotated. */
	long fd = sys_openat(AT_FDCWD, file,
		O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
			O_NONBLOCK,
		0666);

	if (fd < 0)
		return (int)fd;
	long r = write_within_limit((int)fd, line, n);

	sys_close(fd);
	return r < 0 ? (int)r : 0;
}

/* true: say it; *last is set on the last one before silence. */
static bool within_rate(int id, bool *last)
{
	int64_t now = nfsappend_now() / INT64_C(1000000000);

	*last = false;
	for (int i = 0; i < RATES; i++) {
		int free_slot = 0;

		if (atomic_load(&rates[i].id) != id &&
			!atomic_compare_exchange_strong(&rates[i].id,
				&free_slot, id) &&
			free_slot != id)
			continue;
		int64_t since = atomic_load(&rates[i].since);

		if (since == 0 || now - since >= WINDOW) {
			atomic_store(&rates[i].since, now);
			atomic_store(&rates[i].count, 0);
		}
		unsigned n = atomic_fetch_add(&rates[i].count, 1) + 1;

		*last = n == BURST;
		return n <= BURST;
	}
	return true;
}

void nfsappend_log(int level, int id, const char *fmt, ...)
{
	struct nfsappend_guard guard;
	char line[LINE];
	bool last = false;
	va_list ap;
	int n, m;

	if (level > (int)log_level)
		return;
	nfsappend_guard_enter(&guard);
	if (level < NFSAPPEND_DEBUG && !within_rate(id, &last))
		goto out;
	n = snprintf(line, sizeof line, "nfsappend: %s[%d]: ",
		nfsappend_program(), (int)sys_getpid());
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof line - n - 80, fmt, ap);
	va_end(ap);
	if (m > 0)
		n += m < (int)sizeof line - n - 80 ? m
						   : (int)sizeof line - n - 81;
	for (int i = 0; i < n; i++) /* names come from outside */
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	n += snprintf(line + n, sizeof line - n, " [N%d]%s\n", id,
		level < NFSAPPEND_DEBUG && last
			? " (more of these are not shown for a minute)"
			: "");
	if (nfsappend_write_line(log_file, line, n) != 0)
		to_syslog(line, n);
out:
	nfsappend_guard_leave(&guard);
}
