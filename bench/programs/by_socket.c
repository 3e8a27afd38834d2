/*
 * append-socket: the floor. A bare TCP socket that sends one WRITE FILE_SYNC
 * (RFC 1813 3.3.7), encoded beforehand, at a time: send(), recv(). Nobody
 * guards the end of the file: workers take turns by a counter in memory.
 * With -r each record is a LOOKUP and a WRITE, what close-to-open needs.
 *
 * On an URL nfs://ADDRESS/EXPORT/FILE?nfsport=N&mountport=N.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"
#include "rpc.h"

#define NFS_PROGRAM 100003
#define MOUNT_PROGRAM 100005
#define MNT 1
#define LOOKUP 3
#define WRITE 7
#define CREATE 8
#define FILE_SYNC 2

struct handle {
	uint32_t len;
	uint8_t data[64];
};

struct way {
	struct shared *shared;
	char address[64], export[1024];
	const char *file;
	unsigned nfsport, mountport;
	int fd;
	uint32_t xid;
	struct handle directory, handle;
	struct message write; /* all but the bytes that it writes */
	size_t offset_at, size_at;
};

static void get_handle(struct message *m, struct handle *h)
{
	h->len = get(m);
	if (h->len > sizeof h->data || m->at + h->len > m->len)
		die("a reply has no handle");
	memcpy(h->data, m->data + m->at, h->len);
	m->at += (h->len + 3) & ~3u;
}

static void parse(struct way *way, const char *url)
{
	char *file, *arguments;

	if (sscanf(url, "nfs://%63[^/]%1023s", way->address, way->export) != 2)
		die("%s: not an URL", url);
	arguments = strchr(way->export, '?');
	if (arguments == NULL || sscanf(arguments, "?nfsport=%u&mountport=%u",
					 &way->nfsport, &way->mountport) != 2)
		die("%s: no ports", url);
	*arguments = '\0';
	file = strrchr(way->export, '/');
	*file = '\0';
	way->file = file + 1;
}

static void mount_export(struct way *way)
{
	int fd = connect_to(way->address, way->mountport);
	struct message m;

	rpc_begin(&m, ++way->xid, MOUNT_PROGRAM, 3, MNT);
	put_bytes(&m, way->export, strlen(way->export));
	call(fd, &m, way->xid, "MNT");
	get_handle(&m, &way->directory);
	close(fd);
}

static void begin_in_directory(
	struct way *way, struct message *m, uint32_t procedure)
{
	rpc_begin(m, ++way->xid, NFS_PROGRAM, 3, procedure);
	put_bytes(m, way->directory.data, way->directory.len);
	put_bytes(m, way->file, strlen(way->file));
}

static void create(struct way *way)
{
	struct message m;

	begin_in_directory(way, &m, CREATE);
	put(&m, 0); /* UNCHECKED; mode 0644, nothing else set */
	put(&m, 1);
	put(&m, 0644);
	for (int i = 0; i < 5; i++)
		put(&m, 0);
	call(way->fd, &m, way->xid, "CREATE");
	if (get(&m) != 1)
		die("CREATE: no handle");
	get_handle(&m, &way->handle);
}

static void lookup(struct way *way)
{
	struct message m;

	begin_in_directory(way, &m, LOOKUP);
	call(way->fd, &m, way->xid, "LOOKUP");
	get_handle(&m, &way->handle);
}

struct way *way_begin(const char *target, struct shared *shared)
{
	struct way *way = calloc(1, sizeof *way);
	struct message *m = &way->write;

	way->shared = shared;
	way->xid = (uint32_t)getpid() << 16;
	parse(way, target);
	mount_export(way);
	way->fd = connect_to(way->address, way->nfsport);
	create(way);
	rpc_begin(m, ++way->xid, NFS_PROGRAM, 3, WRITE);
	put_bytes(m, way->handle.data, way->handle.len);
	way->offset_at = m->at;
	put(m, 0);
	put(m, 0);
	way->size_at = m->at;
	put(m, 0);
	put(m, FILE_SYNC);
	put(m, 0);
	return way;
}

/* The first of an open/append/close. */
void way_open(struct way *way)
{
	static _Thread_local bool again;

	if (again)
		lookup(way);
	again = true;
}

void way_append(struct way *way, const void *record, size_t size)
{
	static const char zeros[4];
	uint64_t offset = __atomic_fetch_add(
		(uint64_t *)&way->shared->end, size, __ATOMIC_RELAXED);
	struct message *m = &way->write, reply;
	size_t end = m->at, padding = -size & 3;
	struct iovec iov[] = {{m->data, end}, {(void *)record, size},
		{(void *)zeros, padding}};

	m->at = 0;
	put(m, (uint32_t)(end - 4 + size + padding) | LAST_FRAGMENT);
	put(m, ++way->xid);
	m->at = way->offset_at;
	put(m, (uint32_t)(offset >> 32));
	put(m, (uint32_t)offset);
	m->at = way->size_at;
	put(m, (uint32_t)size);
	m->at += 4;
	put(m, (uint32_t)size);
	m->at = end;
	send_all(way->fd, iov, padding > 0 ? 3 : 2);
	receive(way->fd, &reply);
	check_reply(&reply, way->xid, "WRITE");
	if (get(&reply) == 1)
		reply.at += 24; /* wcc_data: before */
	if (get(&reply) == 1)
		reply.at += 84;
	if (get(&reply) != size || get(&reply) != FILE_SYNC)
		die("WRITE: short, or not FILE_SYNC");
}

void way_close(struct way *way)
{
	(void)way;
}
