/* COUNT times open, append, close: nothing grows. */
#include "semantics.h"
#include <dirent.h>

static int descriptors(void)
{
	DIR *fds = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(fds))
		count++;
	closedir(fds);
	return count;
}

static long resident(void)
{
	long pages[2] = {0, 0};
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || fscanf(statm, "%ld %ld", &pages[0], &pages[1]) != 2)
		die("statm");
	fclose(statm);
	return pages[1] * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 500), warm = count / 5;
	long memory = 0;
	int fds = 0;

	for (long i = 0; i < count; i++) {
		int log = open_log(dir, "log", 0), copy;

		append(log, "append %ld\n", i);
		copy = dup(log);
		close(log);
		close(copy);
		if (i == warm) {
			fds = descriptors();
			memory = resident();
		}
	}
	note("more descriptors: %d", descriptors() - fds);
	memory = resident() - memory;
	note("more memory: %s", memory <= 512 ? "no" : "yes");
	if (memory > 512)
		note("%ld KiB", memory);
	return 0;
}
