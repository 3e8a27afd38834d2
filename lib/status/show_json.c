/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <inttypes.h>

#include "core/json.h"
#include "status/show.h"

static void text(FILE *out, const char *name, const char *value)
{
	char quoted[NFSAPPEND_JSON_ROOM(1024)];

	nfsappend_json_quote(quoted, sizeof quoted, value);
	fprintf(out, "\"%s\":%s,", name, quoted);
}

static void number(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, "\"%s\":%" PRIu64 ",", name, value);
}

static void show_writers(FILE *out, const struct nfsappend_row *row)
{
	static const char *const states[] = {
		"running", "stopped", "gone", "unknown"};

	fprintf(out, "\"writers\":[");
	for (unsigned i = 0; i < row->writer_count; i++) {
		const struct nfsappend_writer *w = &row->writers[i];

		fprintf(out, "%s{", i > 0 ? "," : "");
		text(out, "command", w->command);
		fprintf(out, "\"pid\":%d,\"state\":\"%s\",\"sends\":%s}",
			(int)w->pid, states[w->state],
			w->leads ? "true" : "false");
	}
	fprintf(out, "],\"more_writers\":%s,",
		row->shown.crowded ? "true" : "false");
}

/* [[us, count], ...]: so many took less than us, and not less than the one
 * before; of the last one us is null. */
static void show_times(FILE *out, const struct nfsappend_shown *s)
{
	const char *between = "";

	fprintf(out, "\"times\":[");
	for (unsigned b = 0; b < NFSAPPEND_FIGURES_BUCKETS; b++) {
		if (s->took_us[b] == 0)
			continue;
		if (b == NFSAPPEND_FIGURES_BUCKETS - 1)
			fprintf(out, "%s[null,%" PRIu32 "]", between,
				s->took_us[b]);
		else
			fprintf(out, "%s[%" PRIu64 ",%" PRIu32 "]", between,
				UINT64_C(1) << b, s->took_us[b]);
		between = ",";
	}
	fprintf(out, "]");
}

static void show_file(FILE *out, const struct nfsappend_row *row)
{
	const struct nfsappend_shown *s = &row->shown;

	fprintf(out, "{");
	text(out, "path", s->path);
	text(out, "server", s->server);
	text(out, "protocol", s->protocol);
	text(out, "sharing", s->sharing);
	number(out, "uid", row->uid);
	text(out, "segment", row->segment);
	if (s->size_known)
		number(out, "size", s->size);
	else
		fprintf(out, "\"size\":null,");
	fprintf(out, "\"in_doubt\":%s,", s->in_doubt ? "true" : "false");
	show_writers(out, row);
	number(out, "queued", s->queued);
	number(out, "sending", s->sending);
	number(out, "appends", s->appends);
	number(out, "bytes", s->bytes);
	number(out, "rpcs", s->rpcs);
	number(out, "write_rpcs", s->write_rpcs);
	number(out, "lookup_rpcs", s->lookup_rpcs);
	number(out, "batches", s->batches);
	number(out, "batched_max", s->batched_max);
	number(out, "retries", s->retries);
	number(out, "conflicts", s->conflicts);
	number(out, "reconnects", s->reconnects);
	number(out, "errors", s->errors);
	number(out, "age_s", (uint64_t)s->age_ns / 1000000000);
	if (s->last_ns >= 0)
		number(out, "last_s", (uint64_t)s->last_ns / 1000000000);
	else
		fprintf(out, "\"last_s\":null,");
	number(out, "mean_us", s->mean_us);
	number(out, "max_us", s->max_us);
	show_times(out, s);
	fprintf(out, "}");
}

void nfsappend_show_json(FILE *out, const struct nfsappend_found *found)
{
	char quoted[NFSAPPEND_JSON_ROOM(1024)];

	fprintf(out, "{\"files\":[");
	for (size_t i = 0; i < found->count; i++) {
		fprintf(out, "%s", i > 0 ? "," : "");
		show_file(out, found->rows[i]);
	}
	fprintf(out, "],\"notes\":[");
	for (size_t i = 0; i < found->note_count; i++) {
		nfsappend_json_quote(quoted, sizeof quoted, found->notes[i]);
		fprintf(out, "%s%s", i > 0 ? "," : "", quoted);
	}
	fprintf(out, "]}\n");
}
