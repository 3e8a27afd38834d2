/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nfsappend bench [--seconds S] [--timeout S] DIR|URL */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

#define OWN_ERROR 125
#define SECONDS 40
#define LIMIT_S 10
#define LEAST_MS 50

static const char usage[] =
	"usage: nfsappend bench [--seconds S] [--timeout S] DIR|nfs://URL\n";

static const char help[] =
	"\n"
	"Appends small records to a temporary file in DIR, a directory of a "
	"kernel\n"
	"NFS mount, or on the server that URL names, in several ways, and says "
	"what\n"
	"nfsappend would gain there and which --sharing to choose.\n"
	"\n"
	"  --seconds S  about how long it takes (default 40)\n"
	"  --timeout S  how long to wait for the server (default 10)\n"
	"\n"
	"At most 2 MB at a time are in the file, which is removed at the "
	"end.\n";

static int bad_usage(const char *what, const char *value)
{
	fprintf(stderr, "nfsappend bench: %s%s%s; %s", what,
		value != NULL ? ": " : "", value != NULL ? value : "", usage);
	return OWN_ERROR;
}

/* 1 to most; 0: no such number. */
static unsigned number(const char *text, unsigned most)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && v <= most
		       ? (unsigned)v
		       : 0;
}

/* Host segments of ours alone, so that nothing of this is left behind. */
static bool make_runtime(struct bench *b)
{
	static const char *const places[] = {"/dev/shm", "/tmp"};

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(b->runtime, sizeof b->runtime,
			"%s/nfsappend-bench-XXXXXX", places[i]);
		if (mkdtemp(b->runtime) != NULL)
			return true;
	}
	b->runtime[0] = '\0';
	return false;
}

/* Local, and without folders in it. */
static void remove_runtime(const struct bench *b)
{
	DIR *dir = b->runtime[0] != '\0' ? opendir(b->runtime) : NULL;
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	if (b->runtime[0] != '\0')
		rmdir(b->runtime);
}

static void progress(const struct bench *b, enum bench_way way, bool many)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[Kround %u of %d: %s, %d writer%s",
			b->rounds + 1, b->planned, bench_way_names[way],
			many ? BENCH_WRITERS : 1, many ? "s" : "");
}

static void end_progress(void)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K");
}

/* What is to be run, a way with one writer or with many, in another order each
 * round: no way always comes behind the same one. */
static unsigned order_runs(const struct bench *b, unsigned *runs)
{
	unsigned n = 0, all[2 * BENCH_WAYS];

	for (unsigned many = 0; many < 2; many++)
		for (unsigned way = 0; way < BENCH_WAYS; way++)
			if (b->left_out[way][0] == '\0')
				all[n++] = 2 * way + many;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = (i + b->rounds * n / b->planned) % n;

		runs[i] = all[b->rounds % 2 == 1 ? n - 1 - at : at];
	}
	return n;
}

/* All ways once. BENCH_FAILED: nothing works. */
static enum bench_end one_round(struct bench *b)
{
	unsigned working = 0, runs[2 * BENCH_WAYS], n = order_runs(b, runs);

	for (unsigned i = 0; i < n; i++) {
		enum bench_way way = runs[i] / 2;
		bool many = runs[i] % 2;
		enum bench_end end;

		/* Since the round began. */
		if (b->left_out[way][0] != '\0')
			continue;
		progress(b, way, many);
		end = bench_run(b, way, many, &b->runs[way][many][b->rounds],
			b->left_out[way], sizeof b->left_out[way]);
		if (end == BENCH_INTERRUPTED || end == BENCH_TOO_LONG)
			return end;
		working += end == BENCH_DONE;
	}
	return working > 0 ? BENCH_DONE : BENCH_FAILED;
}

static void plan(struct bench *b, unsigned seconds)
{
	unsigned runs = 0;

	for (enum bench_way way = 0; way < BENCH_SINGLE && b->url != NULL;
		way++)
		strcpy(b->left_out[way], "no mount");
	if (b->target.version == 3)
		strcpy(b->left_out[BENCH_LOCKED],
			"NFSv3 has no lock that an append could take");
	if (b->url == NULL && b->mount.local_lock)
		strcpy(b->left_out[BENCH_FLOCK],
			"flock() does not reach the server on this mount "
			"(nolock)");
	for (enum bench_way way = 0; way < BENCH_WAYS; way++)
		runs += b->left_out[way][0] == '\0' ? 2 : 0;
	b->planned = BENCH_ROUNDS;
	if (seconds * 1000 / (runs * BENCH_ROUNDS) < LEAST_MS)
		b->planned = 1;
	b->run_ms = seconds * 1000 / (runs * b->planned);
	if (b->run_ms > BENCH_ROUND_MS)
		b->run_ms = BENCH_ROUND_MS;
	if (b->run_ms < LEAST_MS)
		b->run_ms = LEAST_MS;
}

static void say_what(const struct bench *b)
{
	if (b->url != NULL) {
		printf("%s, by NFSv%u\n", b->url, b->target.version);
		return;
	}
	printf("%s: %s on %s, mounted by NFSv%u", b->directory,
		b->mount.target.path, b->mount.target.host,
		b->mount.target.version);
	if (b->mount.target.version == 4)
		printf(".%u; nfsappend speaks NFSv4.0 beside it",
			b->mount.minor);
	putchar('\n');
}

static const char *first_reason(const struct bench *b)
{
	for (enum bench_way way = BENCH_SINGLE; way < BENCH_WAYS; way++)
		if (b->left_out[way][0] != '\0' &&
			!(way == BENCH_LOCKED && b->target.version == 3))
			return b->left_out[way];
	return "no way of appending works";
}

static int measure(struct bench *b, unsigned seconds)
{
	enum bench_end end = BENCH_DONE;

	plan(b, seconds);
	say_what(b);
	fflush(stdout);
	bench_ping(b);
	while (bench_signal == 0 && b->rounds < b->planned) {
		end = one_round(b);
		if (end != BENCH_DONE)
			break;
		b->rounds++;
	}
	end_progress();
	if (bench_signal != 0) {
		fprintf(stderr, "nfsappend bench: interrupted\n");
		return 128 + bench_signal;
	}
	if (end != BENCH_DONE) {
		fprintf(stderr, "nfsappend bench: %s: %s\n",
			b->url != NULL ? b->url : b->directory,
			end == BENCH_TOO_LONG
				? "the server does not answer in time"
				: first_reason(b));
		return 1;
	}
	bench_report(b);
	for (enum bench_way way = BENCH_SINGLE; way < BENCH_WAYS; way++)
		if (b->left_out[way][0] == '\0')
			return 0;
	fprintf(stderr, "nfsappend bench: nfsappend does not work there: %s\n",
		first_reason(b));
	return 1;
}

int main(int argc, char **argv)
{
	static struct bench b = {.limit_s = LIMIT_S};
	unsigned seconds = SECONDS;
	const char *name = NULL;
	char why[PATH_MAX + 256] = "";
	int status;

	if ((argc == 6 && strcmp(argv[1], "--append") == 0) ||
		(argc == 3 && strcmp(argv[1], "--remove") == 0))
		return bench_writer(argc, argv);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			printf("%s%s", usage, help);
			return 0;
		}
		if (strcmp(argv[i], "--seconds") == 0 ||
			strcmp(argv[i], "--timeout") == 0) {
			unsigned v =
				i + 1 < argc ? number(argv[i + 1], 3600) : 0;

			if (v == 0)
				return bad_usage(argv[i],
					"needs a number of seconds, 1 to 3600");
			*(argv[i][2] == 's' ? &seconds : &b.limit_s) = v;
			i++;
		} else if (argv[i][0] == '-') {
			return bad_usage("unknown option", argv[i]);
		} else if (name != NULL) {
			return bad_usage("one DIR or URL only", NULL);
		} else {
			name = argv[i];
		}
	}
	if (name == NULL)
		return bad_usage("no DIR or URL given", NULL);
	if (!bench_children_start() || !make_runtime(&b)) {
		fprintf(stderr, "nfsappend bench: %m\n");
		return OWN_ERROR;
	}
	if (bench_target(&b, name, why, sizeof why)) {
		status = measure(&b, seconds);
		bench_tidy(&b);
	} else {
		end_progress();
		if (bench_signal == 0)
			fprintf(stderr, "nfsappend bench: %s\n", why);
		status = bench_signal != 0 ? 128 + bench_signal : OWN_ERROR;
	}
	remove_runtime(&b);
	return status;
}
