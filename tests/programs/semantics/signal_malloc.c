/* A handler appends while the main code is in malloc; COUNT times. */
#include "semantics.h"
#include <signal.h>
#include <sys/time.h>

static int log_fd;
static long count;
static volatile sig_atomic_t written, failed;

static void handler(int signal)
{
	(void)signal;
	if (written >= count)
		return;
	if (append_record(log_fd, 1, written) != RECORD_SIZE)
		failed = 1;
	written++;
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct sigaction action = {.sa_handler = handler};
	struct itimerval every = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
	void *volatile blocks[64] = {NULL};
	FILE *null = fopen("/dev/null", "a");
	unsigned int state = 1;

	count = count_of(argc, argv, 200);
	log_fd = open_log(dir, "log", 0);
	append_record(log_fd, 0, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (written < count) {
		state = state * 1103515245 + 12345;
		free(blocks[state >> 26]);
		blocks[state >> 26] = malloc((state >> 8) % 100000);
		fprintf(null, "%u\n", state);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	note("failed %d", (int)failed);
	note("acked 0 1");
	note("acked 1 %ld", count);
	return 0;
}
