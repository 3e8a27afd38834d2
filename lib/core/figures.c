/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdio.h>

#include "core/figures.h"

void nfsappend_figures_name(struct nfsappend_figures *f, const char *path,
	const char *server, uint32_t version, uint32_t mounted)
{
	uint32_t named = NFSAPPEND_UNNAMED;

	if (!atomic_compare_exchange_strong(&f->named, &named, NFSAPPEND_NAMING))
		return;
	snprintf(f->path, sizeof f->path, "%s", path);
	snprintf(f->server, sizeof f->server, "%s", server);
	f->version = version;
	f->mounted = mounted;
	atomic_store_explicit(&f->named, NFSAPPEND_NAMED, memory_order_release);
}
