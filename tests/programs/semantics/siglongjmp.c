/* siglongjmp out of a handler while appends are on their way. */
#include "semantics.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf again;
static volatile sig_atomic_t armed;

static void handler(int signal)
{
	(void)signal;
	if (armed)
		siglongjmp(again, 1);
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 200);
	struct sigaction action = {.sa_handler = handler};
	struct itimerval every = {{0, 700}, {0, 700}}, off = {{0, 0}, {0, 0}};
	static volatile long number;
	static int log;

	log = open_log(dir, "log", 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (number < count) {
		ssize_t done;

		if (sigsetjmp(again, 1)) {
			/* Nobody knows whether it was written. */
			armed = 0;
			note("unknown 1 %ld", number);
			number++;
			continue;
		}
		armed = 1;
		done = append_record(log, 1, number);
		armed = 0;
		if (done != RECORD_SIZE)
			die("write");
		number++;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	append_record(log, 2, 0);
	note("acked 1 %ld", count);
	note("acked 2 1");
	return 0;
}
