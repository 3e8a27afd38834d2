/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "status/writers.h"

#define NAME 32 /* of a segment: hexadecimal digits */
#define CHAINS 1024

/* A process, looked at once a round: many segments may name it. */
struct process {
	struct process *next;
	pid_t pid;
	bool there, stopped;
	bool told; /* which segments it has mapped */
	char command[64];
	size_t count, room;
	char (*segments)[NAME];
};

static struct process *chains[CHAINS];

static FILE *open_of(pid_t pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
	return fopen(path, "re");
}

static void read_command(struct process *p)
{
	FILE *f = open_of(p->pid, "comm");

	if (f == NULL)
		return;
	if (fgets(p->command, sizeof p->command, f) != NULL)
		p->command[strcspn(p->command, "\n")] = '\0';
	fclose(f);
}

static void read_state(struct process *p)
{
	FILE *f = open_of(p->pid, "stat");
	char line[512];
	const char *state = NULL;

	if (f == NULL)
		return;
	if (fgets(line, sizeof line, f) != NULL)
		state = strrchr(line, ')'); /* behind the program's name */
	fclose(f);
	if (state == NULL || state[1] != ' ')
		return;
	p->there = strchr("ZXx", state[2]) == NULL;
	p->stopped = state[2] == 'T' || state[2] == 't';
}

/* The name of a segment at the end of a line of maps; NULL: none there. One
 * that has been replaced ends in " (deleted)". */
static const char *segment_in(const char *line)
{
	size_t n = strcspn(line, "\n");
	const char *name;

	if (n < NAME + 1)
		return NULL;
	name = line + n - NAME;
	return name[-1] == '/' && strspn(name, "0123456789abcdef") == NAME
		       ? name
		       : NULL;
}

static bool remember(struct process *p, const char *name)
{
	if (p->count == p->room) {
		size_t room = p->room != 0 ? 2 * p->room : 16;
		void *more = realloc(p->segments, room * NAME);

		if (more == NULL)
			return false;
		p->segments = more;
		p->room = room;
	}
	memcpy(p->segments[p->count++], name, NAME);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return memcmp(a, b, NAME);
}

static void read_maps(struct process *p)
{
	FILE *f = open_of(p->pid, "maps");
	char *line = NULL;
	size_t room = 0;

	if (f == NULL)
		return;
	errno = 0;
	p->told = true;
	while (p->told && getline(&line, &room, f) > 0) {
		const char *name = segment_in(line);

		if (name != NULL)
			p->told = remember(p, name);
	}
	p->told &= !ferror(f);
	free(line);
	fclose(f);
	if (p->count > 1)
		qsort(p->segments, p->count, NAME, by_name);
}

static struct process *process_of(pid_t pid)
{
	struct process **chain = &chains[(unsigned)pid % CHAINS], *p;

	for (p = *chain; p != NULL; p = p->next)
		if (p->pid == pid)
			return p;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return NULL;
	p->pid = pid;
	p->next = *chain;
	*chain = p;
	read_state(p);
	if (p->there) {
		read_command(p);
		read_maps(p);
	}
	return p;
}

static bool has_thread(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

void nfsappend_writer_look(pid_t pid, const char *segment, pid_t leader,
	struct nfsappend_writer *out)
{
	struct process *p = process_of(pid);

	memset(out, 0, sizeof *out);
	out->pid = pid;
	out->state = NFSAPPEND_WRITER_GONE;
	if (p == NULL || !p->there)
		return;
	if (p->told &&
		(p->count == 0 || bsearch(segment, p->segments, p->count, NAME,
					  by_name) == NULL))
		return;
	out->state = p->stopped ? NFSAPPEND_WRITER_STOPPED
				: NFSAPPEND_WRITER_RUNNING;
	snprintf(out->command, sizeof out->command, "%s", p->command);
	out->leads = leader > 0 && has_thread(pid, leader);
}

void nfsappend_writers_forget(void)
{
	for (unsigned i = 0; i < CHAINS; i++) {
		while (chains[i] != NULL) {
			struct process *p = chains[i];

			chains[i] = p->next;
			free(p->segments);
			free(p);
		}
	}
}
