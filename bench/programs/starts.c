/*
 * starts COUNT PROGRAM [VARIABLES]...: ns from posix_spawn() to the end of
 * PROGRAM, for each set of environment variables (NAME=VALUE, separated by
 * newlines; "" for none). The sets take turns, so noise meets them alike.
 * One line a start: the set's number, ns.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define SETS 16
#define VARIABLES 16

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(int argc, char **argv)
{
	static char *sets[SETS][VARIABLES + 1];
	char *args[] = {argc > 2 ? argv[2] : NULL, NULL};
	int nsets = argc - 3;

	if (nsets < 1 || nsets > SETS)
		return 2;
	for (int s = 0; s < nsets; s++) {
		int n = 0;

		for (char *v = strtok(argv[s + 3], "\n"); v && n < VARIABLES;
			v = strtok(NULL, "\n"))
			sets[s][n++] = v;
	}
	for (long i = 0; i < atol(argv[1]) * nsets; i++) {
		int s = (int)(i % nsets), status;
		long before = now(), after;
		pid_t pid;

		if (posix_spawn(&pid, args[0], NULL, NULL, args, sets[s]) ||
			waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
		after = now();
		printf("%d %ld\n", s, after - before);
	}
	return 0;
}
