/* SIGALRM all the time: no append is cut short; COUNT appends. */
#include "semantics.h"
#include <signal.h>
#include <sys/time.h>

static void handler(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 200);
	struct sigaction action = {.sa_handler = handler};
	struct itimerval every = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
	char block[20000];
	FILE *f;
	int log = open_log(dir, "log", 0);

	memset(block, 's', sizeof(block));
	block[sizeof(block) - 1] = '\n';
	for (int restart = 0; restart < 2; restart++) {
		action.sa_flags = restart ? SA_RESTART : 0;
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		for (long i = 0; i < count; i++) {
			append(log, "append %ld\n", i);
			if (write(log, block, sizeof(block)) !=
				(ssize_t)sizeof(block))
				die("write");
		}
		f = fopen(path_in(dir, "log"), "a");
		if (!f)
			die("fopen");
		for (long i = 0; i < count; i++)
			if (fprintf(f, "stdio %ld\n", i) < 0 || fflush(f))
				die("fprintf");
		fclose(f);
		setitimer(ITIMER_REAL, &off, NULL);
	}
	return 0;
}
