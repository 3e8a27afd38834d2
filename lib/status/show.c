/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table. All text in it comes from outside. */
#include "config.h"

#include <inttypes.h>
#include <pwd.h>

#include "core/json.h"
#include "status/show.h"

char *nfsappend_show_time(char out[16], uint64_t us)
{
	static const struct {
		uint64_t us;
		const char *unit;
	} units[] = {{UINT64_C(86400000000), "d"}, {UINT64_C(3600000000), "h"},
		{60000000, "min"}, {1000000, "s"}, {1000, "ms"}, {1, "us"}};
	unsigned i = 0;

	while (i < 5 && us < units[i].us)
		i++;
	if (us / units[i].us < 10 && units[i].us > 1)
		snprintf(out, 16, "%" PRIu64 ".%u%s", us / units[i].us,
			(unsigned)(us % units[i].us * 10 / units[i].us),
			units[i].unit);
	else if (i == 0 && us / units[0].us > 99999)
		snprintf(out, 16, ">99999d");
	else
		snprintf(out, 16, "%" PRIu64 "%s", us / units[i].us,
			units[i].unit);
	return out;
}

static void show_user(FILE *out, uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user != NULL)
		fprintf(out, "user %s", user->pw_name);
	else
		fprintf(out, "user %u", (unsigned)uid);
}

static unsigned running(const struct nfsappend_row *row)
{
	unsigned n = 0;

	for (unsigned i = 0; i < row->writer_count; i++)
		n += row->writers[i].state != NFSAPPEND_WRITER_GONE;
	return n;
}

static void show_writer(FILE *out, const struct nfsappend_writer *w)
{
	char command[sizeof w->command];

	fprintf(out, " %d", (int)w->pid);
	if (w->command[0] != '\0')
		fprintf(out, " %s",
			nfsappend_plain_text(
				command, sizeof command, w->command));
	if (w->state == NFSAPPEND_WRITER_STOPPED)
		fprintf(out, " (stopped%s)", w->leads ? ", sends" : "");
	else if (w->leads)
		fprintf(out, " (sends)");
}

static void show_writers(FILE *out, const struct nfsappend_row *row)
{
	unsigned there = running(row), gone = row->writer_count - there;
	const char *between = "";

	fprintf(out, "    writers:");
	for (unsigned i = 0; i < row->writer_count; i++) {
		if (row->writers[i].state == NFSAPPEND_WRITER_GONE)
			continue;
		fprintf(out, "%s", between);
		show_writer(out, &row->writers[i]);
		between = ",";
	}
	if (row->shown.crowded)
		fprintf(out, "%s and more", between);
	else if (there == 0)
		fprintf(out, " none now");
	if (gone > 0)
		fprintf(out, "; %u gone", gone);
	if (!row->shown.here && row->writer_count > 0)
		fprintf(out, " (numbers of another PID namespace)");
	fprintf(out, "\n");
}

static void show_file(FILE *out, const struct nfsappend_row *row)
{
	const struct nfsappend_shown *s = &row->shown;
	char size[24] = "?", mean[16] = "-", max[16] = "-", last[16] = "-";
	char path[sizeof s->path], server[sizeof s->server];

	if (s->size_known)
		snprintf(size, sizeof size, "%" PRIu64, s->size);
	if (s->batches > 0) {
		nfsappend_show_time(mean, s->mean_us);
		nfsappend_show_time(max, s->max_us);
	}
	if (s->last_ns >= 0)
		nfsappend_show_time(last, (uint64_t)s->last_ns / 1000);
	fprintf(out,
		"%12s %4u%c %5u %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		" %6s %6s %5" PRIu64 " %5" PRIu64 " %5" PRIu64 " %6s  %s\n",
		size, running(row), s->crowded ? '+' : ' ',
		s->queued + s->sending, s->appends, s->batches, s->rpcs, mean,
		max, s->conflicts, s->reconnects, s->errors, last,
		nfsappend_plain_text(path, sizeof path, s->path));
	fprintf(out, "    %s, %s, sharing %s, ",
		nfsappend_plain_text(server, sizeof server, s->server),
		s->protocol, s->sharing);
	show_user(out, row->uid);
	if (s->in_doubt)
		fprintf(out, "; a WRITE without an answer is to be settled by "
			     "the next append");
	fprintf(out, "\n");
	show_writers(out, row);
}

void nfsappend_show_table(FILE *out, const struct nfsappend_found *found)
{
	if (found->count > 0)
		fprintf(out, "%12s %5s %5s %9s %9s %9s %6s %6s %5s %5s %5s "
			     "%6s  %s\n",
			"SIZE", "PROCS", "QUEUE", "APPENDS", "BATCHES", "RPCS",
			"MEAN", "MAX", "CONFL", "RECON", "ERR", "LAST", "FILE");
	for (size_t i = 0; i < found->count; i++)
		show_file(out, found->rows[i]);
	for (size_t i = 0; i < found->note_count; i++) {
		char text[1024];

		fprintf(out, "%s\n",
			nfsappend_plain_text(
				text, sizeof text, found->notes[i]));
	}
}
