/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was found, in a table and in plain words. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define UNSTEADY 30 /* percent */

/* What becomes of a record. */
static const struct {
	const char *crash, *machines;
} promises[BENCH_WAYS] = {
	[BENCH_BUFFERED] = {"lost", "overwritten"},
	[BENCH_SYNC] = {"kept", "overwritten"},
	[BENCH_FLOCK] = {"kept", "kept"},
	[BENCH_SINGLE] = {"kept", "overwritten"},
	[BENCH_GUARDED] = {"kept", "kept but in the same moment"},
	[BENCH_LOCKED] = {"kept", "kept"},
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(
	const struct bench *b, enum bench_way way, int many, bool time)
{
	double v[BENCH_ROUNDS];

	for (unsigned i = 0; i < b->rounds; i++)
		v[i] = time ? b->runs[way][many][i].p50_us
			    : b->runs[way][many][i].records_s;
	qsort(v, b->rounds, sizeof *v, ascending);
	return b->rounds % 2 == 1
		       ? v[b->rounds / 2]
		       : (v[b->rounds / 2 - 1] + v[b->rounds / 2]) / 2;
}

static double rate(const struct bench *b, enum bench_way way, int many)
{
	return median(b, way, many, false);
}

static bool have(const struct bench *b, enum bench_way way)
{
	return b->left_out[way][0] == '\0';
}

/* "1.32 ms" */
static const char *in_words(double us, char text[static 16])
{
	if (us < 1000)
		snprintf(text, 16, "%.0f us", us);
	else
		snprintf(text, 16, us < 10000 ? "%.2f ms" : "%.1f ms",
			us / 1000);
	return text;
}

/* The largest distance of a run to its median, in percent. */
static double spread(const struct bench *b)
{
	double worst = 0;

	for (enum bench_way way = 0; way < BENCH_WAYS; way++) {
		if (!have(b, way))
			continue;
		for (int many = 0; many < 2; many++)
			for (unsigned i = 0; i < b->rounds; i++) {
				double m = rate(b, way, many);
				double d = b->runs[way][many][i].records_s - m;

				d = m > 0 ? 100 * (d < 0 ? -d : d) / m : 0;
				worst = d > worst ? d : worst;
			}
	}
	return worst;
}

static void table(const struct bench *b)
{
	char one[16], many[16];

	printf("%-22s %21s  %21s  records after a crash here,\n", "",
		"1 writer     ", "16 writers     ");
	printf("%-22s %10s %10s  %10s %10s  and beside other machines'\n", "",
		"records/s", "each", "records/s", "each");
	for (enum bench_way way = 0; way < BENCH_WAYS; way++) {
		if (!have(b, way))
			continue;
		printf("%-22s %10.0f %10s  %10.0f %10s  %s, %s\n",
			bench_way_names[way], rate(b, way, 0),
			in_words(median(b, way, 0, true), one), rate(b, way, 1),
			in_words(median(b, way, 1, true), many),
			promises[way].crash, promises[way].machines);
	}
	for (enum bench_way way = 0; way < BENCH_WAYS; way++)
		if (!have(b, way) && strcmp(b->left_out[way], "no mount") != 0)
			printf("%-22s left out: %s\n", bench_way_names[way],
				b->left_out[way]);
}

static void where_time_goes(const struct bench *b)
{
	char a[16], c[16], d[16];
	double lone;

	if (!have(b, BENCH_SINGLE))
		return;
	lone = median(b, BENCH_SINGLE, 0, true);
	if (b->rtt_us <= 0) {
		printf("\nThe round trip to the server could not be measured: "
		       "%s.\n",
			b->no_rtt);
		return;
	}
	printf("\nA round trip to the server takes %s. A lone durable append "
	       "takes %s:\n",
		in_words(b->rtt_us, a), in_words(lone, c));
	if (b->rtt_us >= lone)
		printf("no more than the way there and back; the server's "
		       "storage costs nothing here.\n");
	else
		printf("%.0f %% of it is the way there and back, %.0f %% (%s) "
		       "is "
		       "the server's write to\nstable storage, and our own "
		       "work.\n",
			100 * b->rtt_us / lone, 100 - 100 * b->rtt_us / lone,
			in_words(lone - b->rtt_us, d));
}

static void versus(const struct bench *b, enum bench_way ours,
	enum bench_way theirs, int many)
{
	double x = rate(b, ours, many), y = rate(b, theirs, many);

	if (!have(b, ours) || !have(b, theirs) || x <= 0 || y <= 0)
		return;
	printf("- %s, %s beside %s: %.0f records a second instead of %.0f",
		many ? "16 writers" : "one writer", bench_way_names[ours],
		bench_way_names[theirs], x, y);
	if (x > y * 1.05)
		printf(", %.1f times as many.\n", x / y);
	else if (x < y / 1.05)
		printf(": SLOWER, %.1f times as few.\n", y / x);
	else
		printf(", the same.\n");
}

static void gain(const struct bench *b)
{
	char a[16], c[16];

	puts("\nWhat nfsappend would gain, with nothing changed in the "
	     "program:");
	if (b->url != NULL) {
		printf("- no kernel mount to compare with: name the directory "
		       "of "
		       "one to see the kernel's\n  figures beside these.\n");
	} else {
		versus(b, BENCH_SINGLE, BENCH_SYNC, 0);
		versus(b, BENCH_SINGLE, BENCH_SYNC, 1);
		versus(b, BENCH_LOCKED, BENCH_FLOCK, 0);
		versus(b, BENCH_LOCKED, BENCH_FLOCK, 1);
	}
	if (have(b, BENCH_SINGLE) && rate(b, BENCH_SINGLE, 0) > 0)
		printf("- 16 writers share the server's writes: %.1f times the "
		       "records of one writer.\n",
			rate(b, BENCH_SINGLE, 1) / rate(b, BENCH_SINGLE, 0));
	if (have(b, BENCH_BUFFERED) && have(b, BENCH_SINGLE))
		printf("- buffered appends are faster (%s each) than durable "
		       "ones "
		       "(%s), and a crash of\n  this machine or an error of "
		       "the "
		       "server loses them.\n",
			in_words(median(b, BENCH_BUFFERED, 0, true), a),
			in_words(median(b, BENCH_SINGLE, 0, true), c));
}

static void choose(const struct bench *b)
{
	puts("\nWhich --sharing:");
	if (have(b, BENCH_LOCKED)) {
		printf("- locked (what auto takes by NFSv4): several machines, "
		       "users or containers append to\n  the same file");
		if (have(b, BENCH_SINGLE) && rate(b, BENCH_SINGLE, 0) > 0)
			printf("; %.0f %% of single's speed with one writer, "
			       "%.0f %% with 16",
				100 * rate(b, BENCH_LOCKED, 0) /
					rate(b, BENCH_SINGLE, 0),
				100 * rate(b, BENCH_LOCKED, 1) /
					rate(b, BENCH_SINGLE, 1));
		puts(".");
	} else {
		puts("- guarded (what auto takes by NFSv3): others append too, "
		     "but "
		     "seldom in the same moment.");
		puts("- locked, for writers on several machines, needs NFSv4: "
		     "add "
		     "version=4 to the URL, or mount\n  with vers=4.2, and "
		     "bench "
		     "that.");
	}
	puts("- single: all writers of the file are one user's on this "
	     "machine. Nothing is faster.");
}

static void losses(const struct bench *b)
{
	for (enum bench_way way = 0; way < BENCH_WAYS; way++) {
		uint64_t lost = 0, of = 0;

		for (int many = 0; have(b, way) && many < 2; many++)
			for (unsigned i = 0; i < b->rounds; i++) {
				lost += b->runs[way][many][i].lost;
				of += b->runs[way][many][i].records;
			}
		if (lost > 0)
			printf("\nMISSING: %llu of %llu records of \"%s\" were "
			       "acknowledged and were not in the file.\n",
				(unsigned long long)lost,
				(unsigned long long)of, bench_way_names[way]);
	}
}

void bench_report(const struct bench *b)
{
	bool ours = have(b, BENCH_SINGLE) || have(b, BENCH_GUARDED) ||
		    have(b, BENCH_LOCKED);

	printf("Records of %d bytes to one file, runs of %.2f s", BENCH_RECORD,
		b->run_ms / 1000.0);
	if (b->rounds > 1)
		printf("; medians of %u rounds, a run is at most\n%.0f %% away "
		       "from its median",
			b->rounds, spread(b));
	puts(".\n");
	table(b);
	if (b->said[0] != '\0')
		printf("nfsappend said: %s\n", b->said);
	if (spread(b) > UNSTEADY)
		puts("The figures vary a lot: machine, network or server are "
		     "busy "
		     "with something else.");
	if (!ours)
		return;
	where_time_goes(b);
	gain(b);
	choose(b);
	losses(b);
}
