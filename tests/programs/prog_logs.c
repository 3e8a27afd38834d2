/* prog_logs DIRECTORY FILES THREADS COUNT: opens FILES logs and keeps them
   open; THREADS threads append COUNT records each, to one log after the other.
   Says what the process has then. */
#include "prog.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

static int *fds;
static long files, count;

static void *write_records(void *arg)
{
	char record[64];

	for (long i = 0; i < count; i++) {
		int n = snprintf(record, sizeof record, "%04ld %06ld\n",
			(long)arg, i);

		append(fds[((long)arg * 7 + i) % files], record, (size_t)n);
	}
	return NULL;
}

static long status_kb(const char *field)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, field, strlen(field)))
			kb = atol(line + strlen(field));
	if (f)
		fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	long threads = argc > 3 ? atol(argv[3]) : 0;
	long sockets = 0, descriptors = 0;
	pthread_t ids[1000];
	struct dirent *e;
	char path[4096];
	struct stat st;
	DIR *d;

	if (argc != 5 || threads < 1 || threads > 1000)
		return 2;
	files = atol(argv[2]);
	count = atol(argv[4]);
	fds = calloc((size_t)files, sizeof *fds);
	for (long i = 0; i < files; i++) {
		snprintf(path, sizeof path, "%s/%04ld", argv[1], i);
		fds[i] = open_append(path);
	}
	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, write_records, (void *)i))
			fail("pthread_create");
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	d = opendir("/proc/self/fd");
	while (d && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
		if (e->d_name[0] == '.' || stat(path, &st) < 0)
			continue;
		descriptors++;
		sockets += S_ISSOCK(st.st_mode) != 0;
	}
	printf("descriptors %ld connections %ld resident_kb %ld\n",
		descriptors, sockets, status_kb("VmRSS:"));
	return 0;
}
