/* prog_soak FILE FIRST THREADS STOP PAUSE_US: each of the threads, named w with
   numbers from FIRST on, appends numbered records, "NAME NUMBER ...", of 100
   bytes, until there is a file STOP. Each has a descriptor of its own, looks now and then
   whether FILE is still that one, and opens it anew when it is not, as a logger
   does whose file is rotated. At the end, for each, "NAME acknowledged N files
   M"; the first error but ESTALE ends the program. */
#include <pthread.h>
#include <sys/stat.h>

#include "prog.h"

#define LOOK 10 /* records */

static const char *path, *stop;
static useconds_t pause_us;
static pthread_mutex_t out = PTHREAD_MUTEX_INITIALIZER;

static int is_still(int fd)
{
	struct stat name, mine;

	return stat(path, &name) == 0 && fstat(fd, &mine) == 0 &&
		name.st_ino == mine.st_ino && name.st_dev == mine.st_dev;
}

static int anew(int fd)
{
	if (close(fd) < 0)
		fail("close");
	return open_append(path);
}

static void *run(void *arg)
{
	char record[101];
	int fd = open_append(path), files = 1;
	long i;

	for (i = 0; access(stop, F_OK) != 0; i++) {
		if (i % LOOK == 0 && !is_still(fd)) {
			fd = anew(fd);
			files++;
		}
		memset(record, 'a' + i % 26, 100);
		record[snprintf(record, 100, "w%ld %08ld", (long)arg, i)] = ' ';
		record[99] = '\n';
		/* NFSv4: the server has restarted, and the file has another
		   name by now. */
		while (write(fd, record, 100) != 100) {
			if (errno != ESTALE)
				fail("write");
			fd = anew(fd);
			files++;
		}
		usleep(pause_us);
	}
	if (close(fd) < 0)
		fail("close");
	pthread_mutex_lock(&out);
	printf("w%ld acknowledged %ld files %d\n", (long)arg, i, files);
	pthread_mutex_unlock(&out);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	long first, n;

	if (argc < 6)
		return 2;
	path = argv[1];
	first = strtol(argv[2], NULL, 10);
	n = strtol(argv[3], NULL, 10);
	stop = argv[4];
	pause_us = strtoul(argv[5], NULL, 10);
	if (n < 1 || n > 64)
		return 2;
	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(first + i)))
			fail("pthread_create");
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
