/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nfsappend bench: what a user's own server and directory would gain. All that
 * touches the directory or the server is done by children that are ended when
 * they take too long; this process only waits, and tidies up.
 */
#ifndef NFSAPPEND_BENCH_BENCH_H
#define NFSAPPEND_BENCH_BENCH_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/mounts.h"

#define BENCH_RECORD 100    /* bytes */
#define BENCH_RECORDS 20000 /* of one run at most: 2 MB */
#define BENCH_WRITERS 16    /* of the runs with many */
#define BENCH_ROUNDS 3
#define BENCH_ROUND_MS 1000 /* of one run at most */

enum bench_way {
	BENCH_BUFFERED, /* the kernel's client, nothing asked for */
	BENCH_SYNC,	/* with O_SYNC */
	BENCH_FLOCK,	/* with O_SYNC, and flock() around each */
	BENCH_SINGLE,	/* nfsappend --sharing ... */
	BENCH_GUARDED,
	BENCH_LOCKED,
	BENCH_WAYS,
};
extern const char *const bench_way_names[BENCH_WAYS];

/* One run. */
struct bench_figures {
	double records_s, p50_us;
	uint64_t records, lost; /* lost: acknowledged, and not in the file */
};

/* What is measured, and what came of it. */
struct bench {
	/* A directory of a kernel mount, or a name that stands for url. */
	char directory[PATH_MAX];
	const char *url; /* NULL: a mount */
	struct nfsappend_mount mount;
	struct nfsappend_target target;
	double rtt_us; /* of a NULL call; 0: unknown, see no_rtt */
	char no_rtt[128];
	char runtime[64];    /* host segments of the children, ours alone */
	char file[PATH_MAX]; /* there may be such a file; "": none */
	unsigned files;	     /* made so far */
	unsigned run_ms, limit_s;
	/* Why a way was left out; "" if it was not. */
	char left_out[BENCH_WAYS][512];
	char said[512];	 /* by the library, the first time */
	unsigned planned, rounds; /* to do, and done */
	/* [0]: one writer, [1]: BENCH_WRITERS. */
	struct bench_figures runs[BENCH_WAYS][2][BENCH_ROUNDS];
};

/* child.c */

enum bench_end {
	BENCH_DONE,
	BENCH_FAILED,	   /* its output says why */
	BENCH_TOO_LONG,	   /* ended by us */
	BENCH_INTERRUPTED, /* a signal asks us to end: bench_signal */
};
extern int bench_signal;
int64_t bench_now_ms(void); /* CLOCK_MONOTONIC */

bool bench_children_start(void);
/* Runs work(arg) in a child, whose exit status is what it returns, for limit_s
 * seconds at most. What it printed, both streams, goes to output. Nothing of it
 * runs afterwards but what hangs in the kernel. tidying: signals are no reason
 * to end. */
enum bench_end bench_child(int (*work)(void *), void *arg, unsigned limit_s,
	bool tidying, char *output, size_t room);

/* target.c: what DIR or URL stands for. false: why says so, in a sentence. */
bool bench_target(struct bench *, const char *name, char *why, size_t room);
/* Round trip of a NULL call. */
void bench_ping(struct bench *);

/* run.c */

/* One run of a way; its file is there no more afterwards. */
enum bench_end bench_run(struct bench *, enum bench_way, bool many,
	struct bench_figures *, char *why, size_t room);
/* What an interrupted run has left. false: it may still be there. */
bool bench_tidy(struct bench *);

/* writer.c: the program of a run, "--append HOW FILE WRITERS MS", which makes
 * FILE, and "--remove FILE". */
int bench_writer(int argc, char **argv);

/* report.c */
void bench_report(const struct bench *);

#endif
