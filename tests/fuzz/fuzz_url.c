/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* URLs, as they stand in NFSAPPEND_MAP. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfsappend_target *t = malloc(sizeof *t);
	char *url = malloc(size + 1), *why = malloc(200);

	memcpy(url, data, size);
	url[size] = '\0';
	memset(why, 'x', 200);
	if (nfsappend_url_parse(url, t, why, 200) != 0) {
		if (memchr(why, '\0', 200) == NULL)
			abort();
	} else if (memchr(t->host, '\0', sizeof t->host) == NULL ||
		   t->host[0] == '\0' || t->path[0] != '/' ||
		   memchr(t->path, '\0', sizeof t->path) == NULL ||
		   (t->version != 3 && t->version != 4) || t->timeo > 36000) {
		abort();
	}
	free(why);
	free(url);
	free(t);
	return 0;
}
