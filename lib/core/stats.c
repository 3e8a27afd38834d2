/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "core/config_env.h"
#include "core/errname.h"
#include "core/file.h"
#include "core/json.h"
#include "core/log.h"
#include "core/stats.h"

#define LINE_MAX_BYTES (1 << 20)

static unsigned bucket(uint64_t us)
{
	unsigned b;

	if (us < 8)
		return (unsigned)us;
	unsigned top = 63 - (unsigned)__builtin_clzll(us);

	b = (top - 2) * 8 + (unsigned)(us >> (top - 3) & 7);
	return b < NFSAPPEND_BUCKETS ? b : NFSAPPEND_BUCKETS - 1;
}

/* The largest value that falls into the bucket. */
static uint64_t bucket_end(unsigned b)
{
	if (b < 8)
		return b;
	return ((UINT64_C(8) + b % 8 + 1) << (b / 8 - 1)) - 1;
}

void nfsappend_stats_latency(struct nfsappend_stats *s, uint64_t us)
{
	uint64_t max = atomic_load_explicit(&s->max_us, memory_order_relaxed);

	atomic_fetch_add_explicit(&s->latency[bucket(us)], 1,
		memory_order_relaxed);
	while (us > max && !atomic_compare_exchange_weak(&s->max_us, &max, us))
		;
}

uint64_t nfsappend_stats_percentile(const struct nfsappend_stats *s,
	unsigned percent)
{
	uint64_t total = 0, seen = 0, max = atomic_load(&s->max_us);

	for (unsigned b = 0; b < NFSAPPEND_BUCKETS; b++)
		total += atomic_load(&s->latency[b]);
	for (unsigned b = 0; b < NFSAPPEND_BUCKETS; b++) {
		seen += atomic_load(&s->latency[b]);
		if (total > 0 && seen * 100 >= total * percent)
			return bucket_end(b) < max ? bucket_end(b) : max;
	}
	return 0;
}

struct line {
	char *text;
	size_t n, files;
	bool any;
};

static void quoted(struct line *l, const char *s)
{
	l->n += nfsappend_json_quote(l->text + l->n, LINE_MAX_BYTES - l->n, s);
}

static void one_file(struct nfsappend_file *f, void *arg)
{
	static const char *const sharing[] = {"single", "guarded", "locked"};
	struct nfsappend_stats *s = &f->stats;
	struct line *l = arg;
	uint64_t max = atomic_load(&s->max_us);
	uint64_t p50 = nfsappend_stats_percentile(s, 50);
	uint64_t p99 = nfsappend_stats_percentile(s, 99);

	if (atomic_load(&s->rpcs) == 0 && atomic_load(&s->appends) == 0 &&
		atomic_load(&s->errors) == 0)
		return;
	l->any = true;
	if (l->n > LINE_MAX_BYTES - 16384)
		return; /* some hundreds of files; the rest goes untold */
	l->n += sprintf(l->text + l->n, "%s{\"path\":",
		l->files++ > 0 ? "," : "");
	quoted(l, f->path);
	l->n += sprintf(l->text + l->n, ",\"server\":");
	quoted(l, f->key.server->target.host);
	l->n += sprintf(l->text + l->n,
		",\"protocol\":\"%s\",\"sharing\":\"%s\"",
		nfsappend_file_by_kernel(f)		   ? "kernel"
		: f->key.server->target.version == 4 ? "v4.0"
						     : "v3",
		sharing[f->sharing]);

	const struct {
		const char *name;
		_Atomic uint64_t *value;
	} counters[] = {{"appends", &s->appends}, {"bytes", &s->bytes},
		{"rpcs", &s->rpcs}, {"write_rpcs", &s->write_rpcs},
		{"lookup_rpcs", &s->lookup_rpcs},
		{"batched_max", &s->batched_max}, {"retries", &s->retries},
		{"conflicts", &s->conflicts}, {"reconnects", &s->reconnects},
		{"errors", &s->errors}};

	for (unsigned i = 0; i < sizeof counters / sizeof *counters; i++)
		l->n += sprintf(l->text + l->n, ",\"%s\":%llu",
			counters[i].name,
			(unsigned long long)atomic_exchange(counters[i].value,
				0));
	l->n += sprintf(l->text + l->n,
		",\"p50_us\":%llu,\"p99_us\":%llu,\"max_us\":%llu}",
		(unsigned long long)p50, (unsigned long long)p99,
		(unsigned long long)max);
	atomic_store(&s->max_us, 0);
	for (unsigned b = 0; b < NFSAPPEND_BUCKETS; b++)
		atomic_store_explicit(&s->latency[b], 0,
			memory_order_relaxed);
}

void nfsappend_stats_write(void)
{
	struct nfsappend_guard guard;
	struct line l = {0};
	int r;

	if (nfsappend_config.stats == NULL)
		return;
	nfsappend_guard_enter(&guard);
	l.text = nfsappend_pages(LINE_MAX_BYTES);
	if (l.text == NULL)
		goto out;
	l.n = sprintf(l.text, "{\"pid\":%d,\"command\":", (int)sys_getpid());
	quoted(&l, nfsappend_program());
	l.n += sprintf(l.text + l.n, ",\"files\":[");
	nfsappend_file_each(one_file, &l);
	l.n += sprintf(l.text + l.n, "]}\n");
	if (l.any) {
		r = nfsappend_write_line(nfsappend_config.stats, l.text, l.n);
		if (r < 0)
			nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_STATS,
				"NFSAPPEND_STATS=%s: the statistics cannot be "
				"written there: %s",
				nfsappend_config.stats,
				nfsappend_strerror(-r));
	}
	sys_munmap(l.text, LINE_MAX_BYTES);
out:
	nfsappend_guard_leave(&guard);
}
