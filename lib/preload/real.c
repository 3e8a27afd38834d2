/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <dlfcn.h>
#include <fcntl.h>
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

void *nfsappend_real_find(enum nfsappend_real_index i)
{
	void *f = dlsym(RTLD_NEXT, names[i]);

	if (f != NULL)
		nfsappend_reals[i] = f;
	return f;
}

void nfsappend_reals_find(bool all)
{
	for (int i = 0; i < NFSAPPEND_REALS; i++)
		if (all || nfsappend_reals[i] != NULL)
			nfsappend_real_find(i);
}
