/* Children forked while other threads append; COUNT children. */
#include "semantics.h"
#include <pthread.h>

static int log_fd;
static volatile int stop;

/* Goes on until the last child is gone, but not beyond 1,000 records. */
static void *appender(void *arg)
{
	long number;

	for (number = 0; number < 1000 && !stop; number++)
		if (append_record(log_fd, (int)(long)arg, number) !=
			RECORD_SIZE)
			die("write");
	note("acked %ld %ld", (long)arg, number);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 20);
	pthread_t threads[4];

	log_fd = open_log(dir, "log", 0);
	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, appender, (void *)i))
			die("pthread_create");
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid) {
			int own = open_log(dir, "log", 0);

			if (append_record(log_fd, 100 + i, 0) != RECORD_SIZE)
				_exit(1);
			if (append_record(own, 100 + i, 1) != RECORD_SIZE)
				_exit(2);
			_exit(0);
		}
		note_child(pid);
		note("acked %ld 2", 100 + i);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
