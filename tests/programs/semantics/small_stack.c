/* Appends from a handler on an alternate stack of 8 KiB (SIGSTKSZ of old) and
   from a thread with 16 KiB, the least there is: each with a page behind it
   that faults. */
#include "semantics.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

static int log_fd;

static void *guarded_stack(size_t size)
{
	char *p = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE))
		die("stack");
	return p + 4096;
}

static void handler(int signal)
{
	(void)signal;
	append(log_fd, "from a handler\n");
}

static void *thread(void *unused)
{
	append(log_fd, "from a thread\n");
	return unused;
}

int main(int argc, char **argv)
{
	const size_t small = 8192, smallest = 16384;
	stack_t stack = {.ss_sp = guarded_stack(small), .ss_size = small};
	struct sigaction action = {
		.sa_handler = handler, .sa_flags = SA_ONSTACK};
	pthread_attr_t attr;
	pthread_t t;

	log_fd = open_log(dir_of(argc, argv), "log", 0);
	append(log_fd, "first\n");
	/* Some processors' registers alone need more. */
	if (sigaltstack(&stack, NULL))
		note("no alternate stack of that size");
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, guarded_stack(smallest), smallest) ||
		pthread_create(&t, &attr, thread, NULL))
		die("pthread_create");
	pthread_join(t, NULL);
	return 0;
}
