/* 16 threads: by one descriptor, by one file, by a file each. */
#include "semantics.h"
#include <pthread.h>

static const char *directory;
static long count;
static int shared;

static void *by_one_descriptor(void *arg)
{
	for (long i = 0; i < count; i++)
		if (append_record(shared, (long)arg, i) != RECORD_SIZE)
			die("write");
	return NULL;
}

static void append_to(const char *name, int writer)
{
	int fd;

	fd = open(name, O_WRONLY | O_APPEND | O_CREAT, 0644);
	if (fd < 0)
		die("open");
	for (long i = 0; i < count; i++)
		if (append_record(fd, writer, i) != RECORD_SIZE)
			die("write");
	close(fd);
}

static void *by_one_file(void *arg)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/one", directory);
	append_to(path, (long)arg);
	return NULL;
}

static void *by_own_file(void *arg)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/file-%ld", directory, (long)arg);
	append_to(path, (long)arg);
	return NULL;
}

static void run(void *(*body)(void *))
{
	pthread_t threads[16];

	for (long i = 0; i < 16; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)i))
			die("pthread_create");
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	directory = dir_of(argc, argv);
	count = count_of(argc, argv, 20);
	shared = open_log(directory, "shared", 0);
	run(by_one_descriptor);
	note_call("offset", position(shared));
	run(by_one_file);
	run(by_own_file);
	return 0;
}
