/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The environment: one variable a line. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_env.h"
#include "core/path.h"
#include "pages.h"

#define VARIABLES 16

static void check(void)
{
	const struct nfsappend_config *c = &nfsappend_config;

	if (c->timeout_s > 86400 ||
		c->sharing > NFSAPPEND_SHARING_LOCKED)
		abort();
	for (unsigned i = 0; i < c->nmaps; i++) {
		const struct nfsappend_map *m = &c->maps[i];

		if (strlen(m->dir) != m->len || m->dir[0] != '/' ||
			m->len < 2 || m->dir[m->len - 1] == '/')
			abort();
		if (i > 0 && c->maps[i - 1].len < m->len)
			abort();
		/* A directory belongs to its own map. */
		if (nfsappend_path_match(m->dir) != m)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *envp[VARIABLES + 1], *line;
	unsigned n = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	for (line = strtok(text, "\n"); line != NULL && n < VARIABLES;
		line = strtok(NULL, "\n"))
		envp[n++] = line;
	envp[n] = NULL;
	memset(&nfsappend_config, 0, sizeof nfsappend_config);
	if (nfsappend_config_read(envp) == 0)
		check();
	fuzz_free_pages();
	free(text);
	return 0;
}
