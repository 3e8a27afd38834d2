/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of lib/core/process.c, log.c and cwd.c: memory that is given back after
 * each input, and messages that are put together and thrown away. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cwd.h"
#include "core/log.h"
#include "core/process.h"
#include "pages.h"

#define BLOCKS 256

static void *blocks[BLOCKS];
static unsigned n;

void *nfsappend_pages(size_t size)
{
	if (n == BLOCKS)
		abort();
	return blocks[n++] = calloc(1, size);
}

void fuzz_free_pages(void)
{
	while (n > 0)
		free(blocks[--n]);
}

void nfsappend_log(int level, int id, const char *fmt, ...)
{
	char line[2048];
	va_list ap;

	(void)level;
	(void)id;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
}

void nfsappend_log_configure(enum nfsappend_level level, const char *file)
{
	if (level > NFSAPPEND_DEBUG || (file != NULL && file[0] != '/'))
		abort();
}

/* Absolute paths only: nobody asks where we are. */
bool nfsappend_cwd_mapped(void)
{
	return false;
}

int nfsappend_cwd_path(char *out, size_t room)
{
	(void)out;
	(void)room;
	return -ENOENT;
}
