/*
 * append-compound: the floor of an append under a lock. A bare TCP socket that
 * sends what nfsappend sends in sharing mode locked, encoded beforehand:
 *
 *   PUTFH, LOCK, GETATTR(size), VERIFY(size), WRITE(FILE_SYNC4), LOCKU
 *
 * (RFC 7530), as the only writer of the file; seqids, sizes and offsets are
 * filled in.
 *
 * On an URL nfs://ADDRESS/EXPORT/FILE?version=4&nfsport=N.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "loop.h"
#include "rpc.h"

#define NFS_PROGRAM 100003
#define WRITE_LT 2
#define MUTEX_OFFSET 0x7ffffffffffffffeull
#define FILE_SYNC 2
#define SIZE_BIT (1u << 4)

enum { PUTFH = 22, LOCK = 12, GETATTR = 9, VERIFY = 37, WRITE = 38, LOCKU = 14,
	OPEN = 18, OPEN_CONFIRM = 20, SETCLIENTID = 35,
	SETCLIENTID_CONFIRM = 36, PUTROOTFH = 24, LOOKUP = 15, GETFH = 10 };

struct stateid {
	uint32_t seqid;
	uint8_t other[12];
};

struct way {
	char address[64], directory[1024];
	const char *file;
	unsigned port;
	int fd;
	uint32_t xid, seqid, lock_seqid;
	uint64_t clientid, end;
	uint8_t fh[128];
	uint32_t fh_len;
	struct stateid open, lock;
	struct message head; /* up to the bytes */
	struct message tail; /* behind them */
	/* Where the words that change are. */
	size_t lock_at, seqid_at, size_at, write_at, offset_at, len_at;
	size_t unlock_seqid_at, unlock_at;
};

static void put64(struct message *m, uint64_t v)
{
	put(m, (uint32_t)(v >> 32));
	put(m, (uint32_t)v);
}

static uint64_t get64(struct message *m)
{
	uint64_t high = get(m);

	return high << 32 | get(m);
}

static void put_raw(struct message *m, const void *p, size_t n)
{
	memcpy(m->data + m->at, p, n);
	m->at += n;
}

static void put_stateid(struct message *m, const struct stateid *s)
{
	put(m, s->seqid);
	put_raw(m, s->other, sizeof s->other);
}

static void get_stateid(struct message *m, struct stateid *s)
{
	s->seqid = get(m);
	memcpy(s->other, m->data + m->at, sizeof s->other);
	m->at += sizeof s->other;
}

static void begin(struct way *way, struct message *m, unsigned ops)
{
	rpc_begin(m, ++way->xid, NFS_PROGRAM, 4, 1);
	put(m, 0); /* tag */
	put(m, 0); /* minor version */
	put(m, ops);
}

/* Sends it; the reply stands behind the number of results. */
static void compound(struct way *way, struct message *m, const char *what)
{
	call(way->fd, m, way->xid, what);
	m->at += (get(m) + 3) & ~3u; /* tag */
	get(m);
}

static void result(struct message *m, uint32_t op, const char *what)
{
	if (get(m) != op || get(m) != 0)
		die("%s: not as expected", what);
}

static void set_client(struct way *way)
{
	struct message m;
	char id[64];
	uint8_t confirm[8];
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	begin(way, &m, 1);
	put(&m, SETCLIENTID);
	put64(&m, (uint64_t)t.tv_sec << 30 | (uint64_t)t.tv_nsec);
	put_bytes(&m, id, (size_t)snprintf(id, sizeof id, "bench %d %lld %ld",
				  (int)getpid(), (long long)t.tv_sec,
				  t.tv_nsec));
	put(&m, 0);
	put_bytes(&m, "tcp", 3);
	put_bytes(&m, "0.0.0.0.0.0", 11);
	put(&m, 0);
	compound(way, &m, "SETCLIENTID");
	result(&m, SETCLIENTID, "SETCLIENTID");
	way->clientid = get64(&m);
	memcpy(confirm, m.data + m.at, 8);
	begin(way, &m, 1);
	put(&m, SETCLIENTID_CONFIRM);
	put64(&m, way->clientid);
	put_raw(&m, confirm, 8);
	compound(way, &m, "SETCLIENTID_CONFIRM");
}

/* Of one component only: exports of the bench have no deeper path. */
static void open_file(struct way *way)
{
	struct message m;
	uint32_t flags, words;

	begin(way, &m, 4);
	put(&m, PUTROOTFH);
	put(&m, LOOKUP);
	put_bytes(&m, way->directory, strlen(way->directory));
	put(&m, OPEN);
	put(&m, way->seqid++);
	put(&m, 2); /* access: write */
	put(&m, 0);
	put64(&m, way->clientid);
	put_bytes(&m, "bench", 5);
	put(&m, 1); /* create, UNCHECKED, mode 0644 */
	put(&m, 0);
	put(&m, 2);
	put(&m, 0);
	put(&m, 1 << 1);
	put(&m, 4);
	put(&m, 0644);
	put(&m, 0); /* CLAIM_NULL */
	put_bytes(&m, way->file, strlen(way->file));
	put(&m, GETFH);
	compound(way, &m, "OPEN");
	result(&m, PUTROOTFH, "PUTROOTFH");
	result(&m, LOOKUP, "LOOKUP");
	result(&m, OPEN, "OPEN");
	get_stateid(&m, &way->open);
	m.at += 4 + 8 + 8; /* change_info4 */
	flags = get(&m);
	for (words = get(&m); words > 0; words--)
		get(&m);
	if (get(&m) != 0)
		die("OPEN: a delegation");
	result(&m, GETFH, "GETFH");
	way->fh_len = get(&m);
	if (way->fh_len > sizeof way->fh)
		die("a long handle");
	memcpy(way->fh, m.data + m.at, way->fh_len);
	if (!(flags & 2))
		return;
	begin(way, &m, 2);
	put(&m, PUTFH);
	put_bytes(&m, way->fh, way->fh_len);
	put(&m, OPEN_CONFIRM);
	put_stateid(&m, &way->open);
	put(&m, way->seqid++);
	compound(way, &m, "OPEN_CONFIRM");
	result(&m, PUTFH, "PUTFH");
	result(&m, OPEN_CONFIRM, "OPEN_CONFIRM");
	get_stateid(&m, &way->open);
}

static void put_range(struct message *m)
{
	put64(m, MUTEX_OFFSET);
	put64(m, 1);
}

/* The lock owner's first: LOCK, then the size, then LOCKU. */
static void lock_first(struct way *way)
{
	struct message m;

	begin(way, &m, 3);
	put(&m, PUTFH);
	put_bytes(&m, way->fh, way->fh_len);
	put(&m, LOCK);
	put(&m, WRITE_LT);
	put(&m, 0);
	put_range(&m);
	put(&m, 1);
	put(&m, way->seqid++);
	put_stateid(&m, &way->open);
	put(&m, way->lock_seqid++);
	put64(&m, way->clientid);
	put_bytes(&m, "bench", 5);
	put(&m, GETATTR);
	put(&m, 1);
	put(&m, SIZE_BIT);
	compound(way, &m, "LOCK");
	result(&m, PUTFH, "PUTFH");
	result(&m, LOCK, "LOCK");
	get_stateid(&m, &way->lock);
	result(&m, GETATTR, "GETATTR");
	m.at += 4 * (1 + get(&m)); /* bitmap, length */
	way->end = get64(&m);
	begin(way, &m, 2);
	put(&m, PUTFH);
	put_bytes(&m, way->fh, way->fh_len);
	put(&m, LOCKU);
	put(&m, WRITE_LT);
	put(&m, way->lock_seqid++);
	put_stateid(&m, &way->lock);
	put_range(&m);
	compound(way, &m, "LOCKU");
	result(&m, PUTFH, "PUTFH");
	result(&m, LOCKU, "LOCKU");
	get_stateid(&m, &way->lock);
}

static void encode(struct way *way)
{
	struct message *m = &way->head;

	begin(way, m, 6);
	put(m, PUTFH);
	put_bytes(m, way->fh, way->fh_len);
	put(m, LOCK);
	put(m, WRITE_LT);
	put(m, 0);
	put_range(m);
	put(m, 0);
	way->lock_at = m->at;
	put_stateid(m, &way->lock);
	way->seqid_at = m->at;
	put(m, 0);
	put(m, GETATTR);
	put(m, 1);
	put(m, SIZE_BIT);
	put(m, VERIFY);
	put(m, 1);
	put(m, SIZE_BIT);
	put(m, 8);
	way->size_at = m->at;
	put64(m, 0);
	put(m, WRITE);
	way->write_at = m->at;
	put_stateid(m, &way->lock);
	way->offset_at = m->at;
	put64(m, 0);
	put(m, FILE_SYNC);
	way->len_at = m->at;
	put(m, 0);

	m = &way->tail;
	m->at = 0;
	put(m, LOCKU);
	put(m, WRITE_LT);
	way->unlock_seqid_at = m->at;
	put(m, 0);
	way->unlock_at = m->at;
	put_stateid(m, &way->lock);
	put_range(m);
}

static void parse(struct way *way, const char *url)
{
	char *file, *arguments;

	if (sscanf(url, "nfs://%63[^/]/%1023s", way->address, way->directory) != 2)
		die("%s: not an URL", url);
	arguments = strchr(way->directory, '?');
	if (arguments == NULL ||
		sscanf(arguments, "?version=4&nfsport=%u", &way->port) != 1)
		die("%s: no port", url);
	*arguments = '\0';
	file = strrchr(way->directory, '/');
	if (file == NULL)
		die("%s: no file", url);
	*file = '\0';
	way->file = file + 1;
}

struct way *way_begin(const char *target, struct shared *shared)
{
	struct way *way = calloc(1, sizeof *way);

	(void)shared;
	way->xid = (uint32_t)getpid() << 16;
	way->seqid = 1;
	parse(way, target);
	way->fd = connect_to(way->address, way->port);
	set_client(way);
	open_file(way);
	lock_first(way);
	encode(way);
	return way;
}

void way_open(struct way *way)
{
	(void)way;
}

static void set(struct message *m, size_t at, uint32_t word)
{
	word = htonl(word);
	memcpy(m->data + at, &word, 4);
}

static void set64(struct message *m, size_t at, uint64_t v)
{
	set(m, at, (uint32_t)(v >> 32));
	set(m, at + 4, (uint32_t)v);
}

static void check(struct way *way, struct message *m, size_t size)
{
	check_reply(m, way->xid, "the compound");
	m->at += (get(m) + 3) & ~3u;
	get(m);
	result(m, PUTFH, "PUTFH");
	result(m, LOCK, "LOCK");
	m->at += 16;
	result(m, GETATTR, "GETATTR");
	m->at += 4 * (1 + get(m)) + 8;
	result(m, VERIFY, "VERIFY");
	result(m, WRITE, "WRITE");
	if (get(m) != size || get(m) != FILE_SYNC)
		die("WRITE: short, or not FILE_SYNC");
	m->at += 8;
	result(m, LOCKU, "LOCKU");
	get_stateid(m, &way->lock);
}

void way_append(struct way *way, const void *record, size_t size)
{
	static const char zeros[4];
	struct message *m = &way->head, reply;
	size_t padding = -size & 3;
	struct iovec iov[] = {{m->data, m->at}, {(void *)record, size},
		{(void *)zeros, padding}, {way->tail.data, way->tail.at}};

	set(m, 0, (uint32_t)(m->at - 4 + size + padding + way->tail.at) |
			  LAST_FRAGMENT);
	set(m, 4, ++way->xid);
	set(m, way->lock_at, way->lock.seqid);
	set(m, way->seqid_at, way->lock_seqid);
	set64(m, way->size_at, way->end);
	set(m, way->write_at, way->lock.seqid + 1);
	set64(m, way->offset_at, way->end);
	set(m, way->len_at, (uint32_t)size);
	set(&way->tail, way->unlock_seqid_at, way->lock_seqid + 1);
	set(&way->tail, way->unlock_at, way->lock.seqid + 1);
	if (padding == 0) {
		iov[2] = iov[3];
		send_all(way->fd, iov, 3);
	} else {
		send_all(way->fd, iov, 4);
	}
	receive(way->fd, &reply);
	check(way, &reply, size);
	way->lock_seqid += 2;
	way->end += size;
}

void way_close(struct way *way)
{
	(void)way;
}
