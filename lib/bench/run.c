/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of one way: the program that appends, and what it says. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"

#define MADE "made\n" /* writer.c: there is a file now */
#define LIBRARY PKGLIBDIR "/libnfsappend.so"

const char *const bench_way_names[BENCH_WAYS] = {
	[BENCH_BUFFERED] = "kernel, buffered",
	[BENCH_SYNC] = "kernel, O_SYNC",
	[BENCH_FLOCK] = "kernel, O_SYNC, flock",
	[BENCH_SINGLE] = "nfsappend single",
	[BENCH_GUARDED] = "nfsappend guarded",
	[BENCH_LOCKED] = "nfsappend locked",
};

static const char *const how[BENCH_WAYS] = {
	"buffered", "sync", "flock", "sync", "sync", "sync"};
static const char *const sharing[BENCH_WAYS] = {
	NULL, NULL, NULL, "single", "guarded", "locked"};

extern char **environ;

struct order {
	const struct bench *bench;
	const char *sharing; /* NULL: without the library */
	const char *how;     /* NULL: remove the file */
	bool many;
	unsigned ms;
};

/* Nothing of the user's configuration, or of a library that we run under. */
static void clear_environment(void)
{
	char name[64];
	char **e = environ;

	while (*e != NULL) {
		size_t n = strcspn(*e, "=");

		if (strncmp(*e, "NFSAPPEND_", 10) == 0 && n < sizeof name) {
			memcpy(name, *e, n);
			name[n] = '\0';
			unsetenv(name);
			e = environ;
		} else {
			e++;
		}
	}
	unsetenv("LD_PRELOAD");
}

static void set_environment(const struct bench *b, const char *mode)
{
	char map[PATH_MAX + 2048], seconds[16];

	clear_environment();
	if (mode == NULL)
		return;
	if (b->url != NULL) {
		snprintf(map, sizeof map, "%s=%s", b->directory, b->url);
		setenv("NFSAPPEND_MAP", map, 1);
	} else {
		setenv("NFSAPPEND_PATHS", b->directory, 1);
	}
	/* The kernel in our place would be measured under our name. */
	setenv("NFSAPPEND_FALLBACK", "fail", 1);
	setenv("NFSAPPEND_SHARING", mode, 1);
	setenv("NFSAPPEND_RUNTIME", b->runtime, 1);
	snprintf(seconds, sizeof seconds, "%u", b->limit_s);
	setenv("NFSAPPEND_TIMEOUT", seconds, 1);
	setenv("LD_PRELOAD", LIBRARY, 1);
}

static int start(void *arg)
{
	const struct order *o = arg;
	char ms[16], writers[16], file[PATH_MAX], self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *append[] = {"nfsappend-bench", "--append", (char *)o->how, file,
		writers, ms, NULL};
	char *remove[] = {"nfsappend-bench", "--remove", file, NULL};

	snprintf(file, sizeof file, "%s", o->bench->file);
	snprintf(writers, sizeof writers, "%d", o->many ? BENCH_WRITERS : 1);
	snprintf(ms, sizeof ms, "%u", o->ms);
	set_environment(o->bench, o->sharing);
	self[n > 0 ? n : 0] = '\0';
	execv(self, o->how != NULL ? append : remove);
	printf("%m\n");
	fflush(stdout);
	return 1;
}

/* What a message of the library says, or else the first line. "": nothing. */
static void words_of(const char *output, char *why, size_t room)
{
	const char *message = strstr(output, "nfsappend: ");

	if (message != NULL) {
		/* Program and pid are none of the user's. */
		output = message + strcspn(message, "]\n");
		output += strspn(output, "]: ");
	} else if (strncmp(output, MADE, sizeof MADE - 1) == 0) {
		output += sizeof MADE - 1;
	}
	snprintf(why, room, "%.*s", (int)strcspn(output, "\n"), output);
}

enum bench_end bench_run(struct bench *b, enum bench_way way, bool many,
	struct bench_figures *f, char *why, size_t room)
{
	struct order o = {b, sharing[way], how[way], many, b->run_ms};
	char output[8192], host[64] = "";
	unsigned long long records;
	long long lost;
	const char *result;
	int64_t began = bench_now_ms();
	enum bench_end end;
	int n;

	/* A file of its own: sharing mode single would believe an old size. */
	gethostname(host, sizeof host - 1);
	n = snprintf(b->file, sizeof b->file, "%s/.nfsappend-bench-%s-%d-%u",
		b->directory, host, (int)getpid(), ++b->files);
	if (n >= (int)sizeof b->file) {
		b->file[0] = '\0';
		snprintf(why, room, "the path is too long");
		return BENCH_FAILED;
	}
	end = bench_child(start, &o, b->limit_s + b->run_ms / 1000 + 1, false,
		output, sizeof output);
	result = strstr(output, "result ");
	if (end == BENCH_DONE &&
		(result == NULL || sscanf(result, "result %lf %lf %llu %lld",
					   &f->records_s, &f->p50_us, &records,
					   &lost) != 4))
		end = BENCH_FAILED;
	if (end == BENCH_DONE) {
		f->records = records;
		f->lost = lost > 0 ? (uint64_t)lost : 0;
		b->file[0] = '\0';
		if (strstr(output, "nfsappend: ") != NULL && b->said[0] == '\0')
			words_of(output, b->said, sizeof b->said);
		return end;
	}
	if (end == BENCH_FAILED) {
		words_of(output, why, room);
		if (*why == '\0')
			snprintf(why, room, "it ended without a word");
		if (strncmp(output, MADE, sizeof MADE - 1) != 0)
			b->file[0] = '\0';
		/* All that comes would take as long. */
		if (bench_now_ms() - began >= b->limit_s * INT64_C(1000) - 500)
			end = BENCH_TOO_LONG;
	} else if (end == BENCH_TOO_LONG) {
		snprintf(why, room, "no end within %u s",
			b->limit_s + b->run_ms / 1000 + 1);
	}
	if (end != BENCH_INTERRUPTED)
		bench_tidy(b);
	return end;
}

bool bench_tidy(struct bench *b)
{
	struct order o = {
		.bench = b, .sharing = b->url != NULL ? "guarded" : NULL};
	char output[1024];
	enum bench_end end;

	if (b->file[0] == '\0')
		return true;
	/* Twice: a CREATE may have been on its way when its sender was
	 * killed. */
	end = bench_child(start, &o, b->limit_s, true, output, sizeof output);
	if (end == BENCH_DONE) {
		usleep(100000);
		bench_child(start, &o, b->limit_s, true, output, sizeof output);
		b->file[0] = '\0';
		return true;
	}
	fprintf(stderr, "nfsappend bench: %s may be left%s%s; remove it\n",
		b->url != NULL ? strrchr(b->file, '/') + 1 : b->file,
		b->url != NULL ? " under " : "", b->url != NULL ? b->url : "");
	b->file[0] = '\0';
	return false;
}
