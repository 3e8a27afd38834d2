/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nfsappend-status: the sub-command of that name; see nfsappend(1). */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "status/show.h"

#define INTERVAL 2     /* s */
#define INTERVAL_MAX 86400

/* Exit status. */
enum { SHOWN, NOTHING, TROUBLE, BAD_USAGE = 125 };

static const char usage[] =
	"usage: nfsappend status [--json] [--watch[=SECONDS]]\n"
	"\n"
	"The files that programs of this user append to through nfsappend; for\n"
	"root, those of all users. What the columns mean is told in nfsappend(1).\n"
	"\n"
	"  --json             one JSON object, with everything that is known\n"
	"  --watch[=SECONDS]  again every 2 seconds, or so many, until a signal\n"
	"                     ends it; with --json a line each time\n"
	"\n"
	"Exit status: 0 files were shown, 1 there are none, 2 an error,\n"
	"125 a bad option.\n";

static void bad_usage(const char *what, const char *why)
{
	fprintf(stderr, "nfsappend status: %s: %s; see nfsappend status --help\n",
		what, why);
	exit(BAD_USAGE);
}

static unsigned seconds(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || n == 0 ||
		n > INTERVAL_MAX)
		bad_usage(text, "not a number of seconds from 1 to 86400");
	return (unsigned)n;
}

static int show(bool json, bool clear)
{
	const char *runtime = getenv("NFSAPPEND_RUNTIME");
	struct nfsappend_found found;
	int status;

	if (runtime != NULL && runtime[0] != '/')
		runtime = NULL; /* nor do the programs use it (N101) */
	nfsappend_status_find(runtime, &found);
	if (clear)
		fputs("\033[H\033[2J", stdout);
	if (json)
		nfsappend_show_json(stdout, &found);
	else
		nfsappend_show_table(stdout, &found);
	status = found.failed ? TROUBLE : found.count > 0 ? SHOWN : NOTHING;
	nfsappend_status_forget(&found);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "nfsappend status: standard output: %s\n",
			strerror(errno));
		status = TROUBLE;
		exit(status);
	}
	return status;
}

int main(int argc, char **argv)
{
	unsigned interval = 0;
	bool json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
		} else if (strcmp(argv[i], "--watch") == 0) {
			interval = INTERVAL;
		} else if (strncmp(argv[i], "--watch=", 8) == 0) {
			interval = seconds(argv[i] + 8);
		} else if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return SHOWN;
		} else {
			bad_usage(argv[i], argv[i][0] == '-'
					? "unknown option"
					: "no argument is expected");
		}
	}
	while (interval > 0) {
		show(json, !json && isatty(STDOUT_FILENO));
		sleep(interval);
	}
	return show(json, false);
}
