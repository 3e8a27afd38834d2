/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/mounts.h"
#include "core/process.h"

#define NFS_PORT 2049
#define XFER_MAX (1 << 20) /* as the module's, and what a segment stages */
#define CACHED 16
#define FRESH_NS INT64_C(1000000000)
#define TEXT_MAX (1 << 20)

/* Ids and devices are used again after umount: believed for a second. */
static struct cached {
	int64_t read; /* CLOCK_MONOTONIC ns; 0: empty */
	uint64_t id, dev;
	bool nfs;
	struct nfsappend_mount mount;
} *cache; /* of CACHED; under lock */
static unsigned next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void after_fork(void)
{
	/* A thread of the parent may have been writing to it. */
	if (pthread_mutex_trylock(&lock) != 0)
		cache = NULL;
	pthread_mutex_init(&lock, NULL);
}

void nfsappend_mounts_start(void)
{
	nfsappend_process_on_child(after_fork);
}

/* "\040" and its like, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
			s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
			s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				(s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* The value of an option; NULL: not there. "" for one without a value. */
static const char *option(const char *options, const char *name,
	char *out, size_t room)
{
	size_t n = strlen(name);

	for (const char *s = options; *s != '\0';) {
		size_t len = strcspn(s, ",");
		size_t value = len > n ? len - n - 1 : 0;

		if (len >= n && strncmp(s, name, n) == 0 &&
			(len == n || s[n] == '=') && value < room) {
			memcpy(out, s + n + (len > n), value);
			out[value] = '\0';
			return out;
		}
		s += len + (s[len] == ',');
	}
	return NULL;
}

static unsigned long number(const char *options, const char *name,
	unsigned long otherwise)
{
	char value[24];

	return option(options, name, value, sizeof value) != NULL
		? strtoul(value, NULL, 10)
		: otherwise;
}

static uint32_t transfer(unsigned long size)
{
	return size < 512 ? 512 : size > XFER_MAX ? XFER_MAX : (uint32_t)size;
}

static bool read_address(const char *text, unsigned port,
	struct sockaddr_in6 *out)
{
	struct in_addr v4;

	memset(out, 0, sizeof *out);
	out->sin6_family = AF_INET6;
	out->sin6_port = htons((uint16_t)port);
	if (inet_pton(AF_INET, text, &v4) == 1) {
		out->sin6_addr.s6_addr[10] = out->sin6_addr.s6_addr[11] = 0xff;
		memcpy(&out->sin6_addr.s6_addr[12], &v4, 4);
		return true;
	}
	return inet_pton(AF_INET6, text, &out->sin6_addr) == 1;
}

/* The server's path in "host:/path", "[v6]:/path". */
static const char *path_of_source(const char *source)
{
	const char *s = source[0] == '[' ? strstr(source, "]:") : NULL;

	s = strchr(s != NULL ? s + 1 : source, ':');
	return s != NULL && s[1] == '/' ? s + 1 : "/";
}

static void read_options(struct nfsappend_mount *m, const char *source,
	const char *options)
{
	char value[256];
	const char *path = path_of_source(source);
	unsigned port = (unsigned)number(options, "port", NFS_PORT);

	if (option(options, "vers", value, sizeof value) != NULL) {
		m->target.version = value[0] == '3'   ? 3
			: value[0] == '4' ? 4
					  : 0;
		if (value[0] == '4' && value[1] == '.')
			m->minor = (unsigned)(value[2] - '0');
	}
	m->target.mounted = 1;
	m->target.nfsport = (uint16_t)port;
	m->target.mountport = (uint16_t)number(options, "mountport", 0);
	m->target.timeo = m->timeo = (unsigned)number(options, "timeo", 600);
	m->retrans = (unsigned)number(options, "retrans", 2);
	m->soft = option(options, "soft", value, sizeof value) != NULL ||
		option(options, "softerr", value, sizeof value) != NULL;
	m->cto = option(options, "nocto", value, sizeof value) == NULL;
	m->local_lock = m->target.version == 3 &&
		(option(options, "nolock", value, sizeof value) != NULL ||
			(option(options, "local_lock", value, sizeof value) !=
					NULL &&
				strcmp(value, "none") != 0));
	strcpy(m->sec, "sys");
	option(options, "sec", m->sec, sizeof m->sec);
	m->sys = strcmp(m->sec, "sys") == 0 || strcmp(m->sec, "null") == 0;
	m->contact.wtmax = transfer(number(options, "wsize", 65536));
	m->contact.rtmax = transfer(number(options, "rsize", 65536));
	if (option(options, "addr", m->target.host, sizeof m->target.host) ==
			NULL ||
		!read_address(m->target.host, port, &m->contact.address) ||
		strlen(path) >= sizeof m->target.path)
		m->target.version = 0;
	else
		strcpy(m->target.path, path);
}

/* Fields of a line, proc_pid_mountinfo(5): id parent major:minor root point
 * options optional... - type source options. */
bool nfsappend_mount_line(char *line, uint64_t id, uint64_t dev,
	struct nfsappend_mount *m)
{
	char *field[6], *end, *tail = strstr(line, " - ");
	uint64_t major, minor;
	const char *type, *source, *options;
	bool ours;

	if (tail == NULL)
		return false;
	*tail = '\0';
	for (int i = 0; i < 6; i++)
		if ((field[i] = strsep(&line, " ")) == NULL)
			return false;
	major = strtoul(field[2], &end, 10);
	minor = strtoul(end + (*end == ':'), NULL, 10);
	ours = (major << 32 | minor) == dev &&
		(id == 0 || strtoul(field[0], NULL, 10) == id);
	tail += 3;
	type = strsep(&tail, " ");
	source = tail != NULL ? strsep(&tail, " ") : NULL;
	options = tail;
	if (!ours || options == NULL ||
		(strcmp(type, "nfs") != 0 && strcmp(type, "nfs4") != 0) ||
		strlen(field[4]) >= sizeof m->point)
		return false;
	memset(m, 0, sizeof *m);
	unescape(field[4]);
	strcpy(m->point, field[4]);
	unescape((char *)source);
	read_options(m, source, options);
	return true;
}

/* The whole text, NUL-terminated; it is as long as it is in one go only. */
static char *read_mountinfo(void)
{
	char *text = nfsappend_pages(TEXT_MAX);
	long fd = sys_openat(AT_FDCWD, "/proc/self/mountinfo",
		O_RDONLY | O_CLOEXEC, 0);
	size_t n = 0;

	while (text != NULL && fd >= 0 && n < TEXT_MAX - 1) {
		long r = sys_read((int)fd, text + n, TEXT_MAX - 1 - n);

		if (r <= 0)
			break;
		n += (size_t)r;
	}
	if (fd >= 0)
		sys_close((int)fd);
	return text;
}

static bool look_up(uint64_t id, uint64_t dev, struct nfsappend_mount *m)
{
	char *text = read_mountinfo(), *at = text, *line;
	bool found = false;

	if (text == NULL)
		return false;
	while (!found && (line = strsep(&at, "\n")) != NULL)
		found = nfsappend_mount_line(line, id, dev, m);
	sys_munmap(text, TEXT_MAX);
	return found;
}

bool nfsappend_mount_find(const struct statx *stx, struct nfsappend_mount *m)
{
	uint64_t id = nfsappend_stx_mnt_id(stx), dev = nfsappend_stx_dev(stx);
	int64_t now = nfsappend_now();
	struct cached *c = NULL;
	bool nfs;

	/* Network file systems have no device of their own. */
	if (stx->stx_dev_major != 0)
		return false;
	pthread_mutex_lock(&lock);
	if (cache == NULL)
		cache = nfsappend_pages(CACHED * sizeof *cache);
	for (unsigned i = 0; cache != NULL && i < CACHED && c == NULL; i++)
		if (cache[i].read != 0 && cache[i].id == id &&
			cache[i].dev == dev)
			c = &cache[i];
	if (c == NULL && cache != NULL)
		c = &cache[next++ % CACHED];
	if (c == NULL) {
		pthread_mutex_unlock(&lock);
		return look_up(id, dev, m);
	}
	if (c->read == 0 || c->id != id || c->dev != dev ||
		now - c->read > FRESH_NS) {
		c->nfs = look_up(id, dev, &c->mount);
		c->id = id;
		c->dev = dev;
		c->read = now;
	}
	nfs = c->nfs;
	if (nfs)
		*m = c->mount;
	pthread_mutex_unlock(&lock);
	return nfs;
}
