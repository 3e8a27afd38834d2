/*
 * A growable buffer and the XDR of RFC 4506, as far as ONC RPC, MOUNT, NFSv3
 * and NFSv4.0 need it. Everything on the wire is big-endian; values here are
 * in host order.
 */
#ifndef SERVER_XDR_H
#define SERVER_XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *v; /* owned */
	size_t len, cap;
};

void buf_add(struct buf *b, const void *data, size_t len);
void buf_drop(struct buf *b, size_t len); /* takes len bytes off the front */
void buf_free(struct buf *b);

/* Reads out of memory that the caller keeps. After the first short read
 * `bad` is set, and every later get returns zero. */
struct xdr {
	const uint8_t *p;
	size_t left;
	bool bad;
};

uint32_t get_u32(struct xdr *x);
uint64_t get_u64(struct xdr *x);
const uint8_t *get_fixed(struct xdr *x, size_t len);
/* Variable opaque or string; NULL and bad when it is longer than max. */
const uint8_t *get_opaque(struct xdr *x, uint32_t *len, uint32_t max);
/* A string as a C string; bad when it holds a NUL or does not fit. */
void get_string(struct xdr *x, char *out, size_t size);

void put_u32(struct buf *b, uint32_t v);
void put_u64(struct buf *b, uint64_t v);
void put_fixed(struct buf *b, const void *v, size_t len);
void put_opaque(struct buf *b, const void *v, size_t len);
void put_string(struct buf *b, const char *s);
void set_u32(struct buf *b, size_t at, uint32_t v);

#endif
