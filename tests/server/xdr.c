#include "xdr.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (b->len + len > b->cap) {
		size_t cap = b->cap ? b->cap : 512;

		while (cap < b->len + len)
			cap *= 2;
		b->v = realloc(b->v, cap);
		if (!b->v)
			err(1, "memory for %zu bytes", cap);
		b->cap = cap;
	}
	if (len)
		memcpy(b->v + b->len, data, len);
	b->len += len;
}

void buf_drop(struct buf *b, size_t len)
{
	if (!len)
		return;
	b->len -= len;
	memmove(b->v, b->v + len, b->len);
}

void buf_free(struct buf *b)
{
	free(b->v);
	*b = (struct buf){0};
}

const uint8_t *get_fixed(struct xdr *x, size_t len)
{
	size_t padded = len + (-len & 3);
	const uint8_t *p = x->p;

	if (x->bad || padded < len || padded > x->left) {
		x->bad = true;
		return NULL;
	}
	x->p += padded;
	x->left -= padded;
	return p;
}

uint32_t get_u32(struct xdr *x)
{
	const uint8_t *p = get_fixed(x, 4);

	if (!p)
		return 0;
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

uint64_t get_u64(struct xdr *x)
{
	uint64_t high = get_u32(x);

	return high << 32 | get_u32(x);
}

const uint8_t *get_opaque(struct xdr *x, uint32_t *len, uint32_t max)
{
	const uint8_t *p;

	*len = get_u32(x);
	if (*len > max)
		x->bad = true;
	p = get_fixed(x, *len);
	if (!p)
		*len = 0;
	return p;
}

void get_string(struct xdr *x, char *out, size_t size)
{
	uint32_t len;
	const uint8_t *p = get_opaque(x, &len, size - 1);

	if (p && len && memchr(p, 0, len)) {
		x->bad = true;
		len = 0;
	}
	if (p && len)
		memcpy(out, p, len);
	out[len] = 0;
}

void put_u32(struct buf *b, uint32_t v)
{
	uint8_t p[4] = {v >> 24, v >> 16, v >> 8, v};

	buf_add(b, p, sizeof(p));
}

void put_u64(struct buf *b, uint64_t v)
{
	put_u32(b, v >> 32);
	put_u32(b, v);
}

void put_fixed(struct buf *b, const void *v, size_t len)
{
	static const uint8_t zero[3];

	buf_add(b, v, len);
	buf_add(b, zero, -len & 3);
}

void put_opaque(struct buf *b, const void *v, size_t len)
{
	put_u32(b, len);
	put_fixed(b, v, len);
}

void put_string(struct buf *b, const char *s)
{
	put_opaque(b, s, strlen(s));
}

void set_u32(struct buf *b, size_t at, uint32_t v)
{
	uint8_t p[4] = {v >> 24, v >> 16, v >> 8, v};

	memcpy(b->v + at, p, sizeof(p));
}
