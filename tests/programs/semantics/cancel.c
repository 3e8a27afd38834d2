/* pthread_cancel of a thread that appends; COUNT threads. */
#include "semantics.h"
#include <pthread.h>
#include <sched.h>

struct writer {
	const char *dir;
	int number;
	volatile long acked;
};

static void *appender(void *arg)
{
	struct writer *writer = arg;
	int fd = open_log(writer->dir, "log", O_CLOEXEC);

	for (;;) {
		if (append_record(fd, writer->number, writer->acked) !=
			RECORD_SIZE)
			die("write");
		writer->acked++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 20);
	unsigned int state = 1;

	for (long i = 0; i < count; i++) {
		struct writer writer = {dir, i % 1000, 0};
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, NULL, appender, &writer))
			die("pthread_create");
		while (writer.acked < 2)
			sched_yield();
		state = state * 1103515245 + 12345;
		usleep((state >> 16) % 2000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != PTHREAD_CANCELED)
			die("not cancelled");
		/* The one it was writing may be there as well. */
		note("acked %ld %ld or one more", i % 1000, writer.acked);
	}
	return 0;
}
