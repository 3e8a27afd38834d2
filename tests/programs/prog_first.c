/* prog_first FILE COUNT: COUNT threads whose first call of all, and the
   process's, is open(); each appends a line. */
#include "prog.h"
#include <pthread.h>

static pthread_barrier_t together;
static const char *path;

static void *worker(void *arg)
{
	int fd;

	(void)arg;
	pthread_barrier_wait(&together);
	fd = open_append(path);
	append(fd, "first\n", 6);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t threads[64];

	if (count < 1 || count > 64)
		return 2;
	path = argv[1];
	pthread_barrier_init(&together, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
