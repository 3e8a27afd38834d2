/* prog_group [-p PROCESSES] [-t THREADS] [-c COUNT] [-k KILLS] [-s SEED]
   [-g GO] [-il] FILE SERVED: PROCESSES (1) of THREADS (1) each, which were exec'ed and open
   FILE themselves, append COUNT records (10) by each thread; KILLS of the
   processes are killed while the others write. -i: all records are the same,
   -l: some are longer than others by far; -g: says "ready" when all have
   opened it, and they begin when there is a file GO. Then reads SERVED, the same file
   where the server has it, and says what it found:
     killed K amid M acknowledged A begun B found F lost L twice T late O torn X
   amid: of the kills, those that fell while others were writing. */
#include "prog.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WRITERS 1024
#define LONGEST 9000

struct notes {
	struct {
		_Atomic unsigned begun, ended;
	} of[WRITERS];
	unsigned count, threads, identical, longs;
	_Atomic unsigned ready, go, failed;
};

static struct notes *notes;
static const char *file;

static size_t record(unsigned writer, unsigned number, char *out)
{
	unsigned x = writer * 7919 + number * 104729;
	size_t len = 24 + x % 100;
	int n;

	if (notes->identical)
		return (size_t)sprintf(out, "the same for all\n");
	if (notes->longs && x % 7 == 0)
		len = 1900 + x % 7000;
	n = sprintf(out, "%04u %06u ", writer, number);
	for (size_t i = (size_t)n; i < len - 1; i++)
		out[i] = (char)('a' + (writer + number + i) % 26);
	out[len - 1] = '\n';
	return len;
}

static void *write_records(void *arg)
{
	unsigned writer = (unsigned)(uintptr_t)arg;
	int fd = open_append(file);
	char buf[LONGEST];

	notes->ready++;
	while (!notes->go)
		usleep(500);
	for (unsigned i = 0; i < notes->count; i++) {
		size_t len = record(writer, i, buf);

		notes->of[writer].begun = i + 1;
		if (write(fd, buf, len) != (ssize_t)len) {
			fprintf(stderr, "writer %u: %s\n", writer,
				strerror(errno));
			notes->failed++;
			return NULL;
		}
		notes->of[writer].ended = i + 1;
	}
	close(fd);
	return NULL;
}

static void run_process(unsigned process)
{
	pthread_t ids[WRITERS];

	for (unsigned i = 1; i < notes->threads; i++)
		if (pthread_create(&ids[i], NULL, write_records,
			    (void *)(uintptr_t)(process * notes->threads +
				    i)) != 0)
			fail("pthread_create");
	write_records((void *)(uintptr_t)(process * notes->threads));
	for (unsigned i = 1; i < notes->threads; i++)
		pthread_join(ids[i], NULL);
}

/* More of the records are to come than of this process. */
static int others_write(unsigned writers, unsigned process)
{
	for (unsigned w = 0; w < writers; w++)
		if (w / notes->threads != process &&
			notes->of[w].ended < notes->count &&
			notes->of[w].begun > 0)
			return 1;
	return 0;
}

static void check(const char *served, unsigned writers, unsigned killed,
	unsigned amid)
{
	static unsigned next[WRITERS];
	unsigned long acked = 0, begun = 0, found = 0, lost = 0, twice = 0,
		      late = 0, torn = 0;
	char want[LONGEST];
	FILE *f = fopen(served, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (f == NULL)
		fail("fopen");
	for (unsigned w = 0; w < writers; w++) {
		acked += notes->of[w].ended;
		begun += notes->of[w].begun;
	}
	while ((n = getline(&line, &room, f)) > 0) {
		unsigned w = 0, number = 0;

		found++;
		if (!notes->identical &&
			(sscanf(line, "%4u %6u ", &w, &number) != 2 ||
				w >= writers)) {
			torn++;
			continue;
		}
		if ((size_t)n != record(w, number, want) ||
			memcmp(line, want, (size_t)n) != 0) {
			torn++;
			continue;
		}
		if (notes->identical)
			continue;
		if (number >= notes->of[w].begun)
			torn++; /* never written */
		if (number < next[w])
			twice++;
		else if (number > next[w])
			late++;
		next[w] = number + 1;
	}
	fclose(f);
	if (notes->identical) {
		lost = found < acked ? acked - found : 0;
		twice = found > begun ? found - begun : 0;
	}
	for (unsigned w = 0; w < writers && !notes->identical; w++)
		if (next[w] < notes->of[w].ended)
			lost += notes->of[w].ended - next[w];
	printf("killed %u amid %u acknowledged %lu begun %lu found %lu "
	       "lost %lu twice %lu late %lu torn %lu\n",
		killed, amid, acked, begun, found, lost, twice, late, torn);
}

int main(int argc, char **argv)
{
	unsigned processes = 1, kills = 0, killed = 0, amid = 0, seed = 1;
	struct notes n = {.count = 10, .threads = 1};
	pid_t pids[WRITERS];
	const char *go = NULL;
	int memory, option;

	if (argc == 5 && !strcmp(argv[1], "child")) {
		notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE,
			MAP_SHARED, atoi(argv[2]), 0);
		file = argv[4];
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_process((unsigned)atoi(argv[3]));
		return 0;
	}
	while ((option = getopt(argc, argv, "p:t:c:k:s:g:il")) > 0) {
		switch (option) {
		case 'p':
			processes = (unsigned)atoi(optarg);
			break;
		case 't':
			n.threads = (unsigned)atoi(optarg);
			break;
		case 'c':
			n.count = (unsigned)atoi(optarg);
			break;
		case 'k':
			kills = (unsigned)atoi(optarg);
			break;
		case 's':
			seed = (unsigned)atoi(optarg);
			break;
		case 'g':
			go = optarg;
			break;
		case 'i':
			n.identical = 1;
			break;
		case 'l':
			n.longs = 1;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || n.threads == 0 ||
		processes * n.threads > WRITERS)
		return 2;
	file = argv[optind];
	memory = memfd_create("notes", 0);
	if (memory < 0 || ftruncate(memory, sizeof n) < 0)
		fail("memfd_create");
	notes = mmap(NULL, sizeof n, PROT_READ | PROT_WRITE, MAP_SHARED,
		memory, 0);
	memcpy(notes, &n, sizeof n);
	for (unsigned i = 0; i < processes; i++) {
		char number[12], fd[12];

		snprintf(number, sizeof number, "%u", i);
		snprintf(fd, sizeof fd, "%d", memory);
		pids[i] = fork();
		if (pids[i] < 0)
			fail("fork");
		if (pids[i] == 0) {
			execl("/proc/self/exe", argv[0], "child", fd, number,
				file, (char *)NULL);
			fail("exec");
		}
	}
	while (notes->ready < processes * n.threads)
		if (waitpid(-1, NULL, WNOHANG) > 0)
			return 98; /* one could not even open */
		else
			usleep(1000);
	if (go != NULL) {
		puts("ready");
		fflush(stdout);
		while (access(go, F_OK) != 0)
			usleep(10000);
	}
	srandom(seed);
	notes->go = 1;
	for (unsigned i = 0; i < kills; i++) {
		unsigned victim = i * (processes / kills);

		usleep((useconds_t)random() % 4000);
		kill(pids[victim], SIGKILL);
		amid += others_write(processes * n.threads, victim) != 0;
	}
	for (unsigned i = 0; i < processes; i++) {
		int status = 0;

		waitpid(pids[i], &status, 0);
		killed += WIFSIGNALED(status);
	}
	check(argv[optind + 1], processes * n.threads, killed, amid);
	return notes->failed != 0;
}
