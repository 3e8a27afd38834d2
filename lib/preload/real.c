/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looked up by hand, in the hash tables of the libraries behind ours: dlsym()
 * takes a lock that another thread may hold over a fork, calls malloc() for a
 * name that is not there, and a hook may be called from within an allocator's
 * own start (jemalloc reads a link then). It also costs ten times as much.
 */
#include "config.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "core/process.h"
#include "preload/real.h"

extern int __open(const char *, int, ...);
extern int __open64(const char *, int, ...);
extern ssize_t __write(int, const void *, size_t);
extern ssize_t __read(int, void *, size_t);
extern ssize_t __pwrite64(int, const void *, size_t, off64_t);
extern ssize_t __pread64(int, void *, size_t, off64_t);
extern int __close(int);
extern int __dup2(int, int);
extern int __fcntl(int, int, ...);
extern off_t __lseek(int, off_t, int);

/* Written before the first thread can be there, or with the same value. */
void *nfsappend_reals[NFSAPPEND_REALS] = {
#define REAL(name, alias) (void *)alias,
#include "preload/real.def"
#undef REAL
};

static const char *const names[] = {
#define REAL(name, alias) #name,
#include "preload/real.def"
#undef REAL
};

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* The objects that the program was started with, behind this one: never
 * unloaded. Set by the constructor. */
static const struct link_map *first, *last;

void nfsappend_reals_start(void)
{
	const struct link_map *l = _r_debug.r_map;

	while (l != NULL && l->l_ld != _DYNAMIC)
		l = l->l_next;
	first = l != NULL ? l->l_next : NULL;
	for (last = first; last != NULL && last->l_next != NULL;)
		last = last->l_next;
}

struct table { /* of an object; elf(5), and DT_GNU_HASH as ld.so reads it */
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint16_t *versions; /* NULL: none */
	const uint32_t *hash;
};

/* ld.so has added the base already, but for the vDSO. */
static const void *address(const struct link_map *l, ElfW(Addr) a)
{
	return (const void *)(a < l->l_addr ? a + l->l_addr : a);
}

static bool table_of(const struct link_map *l, struct table *t)
{
	memset(t, 0, sizeof *t);
	for (const ElfW(Dyn) *d = l->l_ld; d->d_tag != DT_NULL; d++) {
		const void *at = address(l, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			t->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			t->strings = at;
		else if (d->d_tag == DT_VERSYM)
			t->versions = at;
		else if (d->d_tag == DT_GNU_HASH)
			t->hash = at;
	}
	return t->symbols != NULL && t->strings != NULL && t->hash != NULL;
}

/* As dlsym() chooses: the default version, or one of none. */
static bool wanted(const struct table *t, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &t->symbols[i];

	return s->st_shndx != SHN_UNDEF && s->st_value != 0 &&
		ELF32_ST_BIND(s->st_info) != STB_LOCAL &&
		(t->versions == NULL || !(t->versions[i] & 0x8000) ||
			(t->versions[i] & 0x7fff) < 2) &&
		strcmp(t->strings + s->st_name, name) == 0;
}

static const ElfW(Sym) *find_in(const struct table *t, const char *name,
	uint32_t hash)
{
	const uint32_t nbuckets = t->hash[0], bias = t->hash[1];
	const uint32_t words = t->hash[2], shift = t->hash[3];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(t->hash + 4);
	const unsigned bits = 8 * sizeof *bloom;
	const uint32_t *buckets = (const uint32_t *)(bloom + words);
	const uint32_t *chain = buckets + nbuckets;
	ElfW(Addr) word;
	uint32_t i;

	if (nbuckets == 0 || words == 0)
		return NULL;
	word = bloom[hash / bits % words];
	if (!(word >> hash % bits & word >> (hash >> shift) % bits & 1))
		return NULL;
	i = buckets[hash % nbuckets];
	if (i < bias)
		return NULL;
	do {
		if ((chain[i - bias] | 1) == (hash | 1) && wanted(t, i, name))
			return &t->symbols[i];
	} while (!(chain[i++ - bias] & 1));
	return NULL;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* *known: that there is none is certain. */
static void *look_up(const char *name, bool *known)
{
	uint32_t hash = hash_of(name);

	*known = first != NULL;
	for (const struct link_map *l = first; l != NULL;
		l = l == last ? NULL : l->l_next) {
		const ElfW(Sym) *s;
		struct table t;

		if (!table_of(l, &t)) { /* with the old hash table only */
			*known = false;
			return NULL;
		}
		s = find_in(&t, name, hash);
		if (s == NULL)
			continue;
		if (ELF32_ST_TYPE(s->st_info) == STT_GNU_IFUNC) {
			*known = false;
			return NULL;
		}
		return (void *)(l->l_addr + s->st_value);
	}
	return NULL;
}

void *nfsappend_real_find(enum nfsappend_real_index i)
{
	bool known;
	void *f = look_up(names[i], &known);

	if (f == NULL && !known)
		f = dlsym(RTLD_NEXT, names[i]);
	if (f != NULL)
		nfsappend_reals[i] = f;
	return f;
}

void nfsappend_reals_find(void)
{
	bool known;

	look_up("", &known);
	for (int i = 0; i < NFSAPPEND_REALS; i++)
		if (nfsappend_reals[i] != NULL || !known)
			nfsappend_real_find(i);
}
