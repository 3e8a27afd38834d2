/* 8 processes append to one file at the same time. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long count = count_of(argc, argv, 50);
	int log = open_log(dir, "log", 0);
	pid_t pids[8];

	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		/* Half of them by what they inherited. */
		if (i % 2)
			log = open_log(dir, "log", 0);
		for (long n = 0; n < count; n++)
			if (append_record(log, i, n) != RECORD_SIZE)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 8; i++)
		note_child(pids[i]);
	note_call("end", lseek(log, 0, SEEK_END));
	return 0;
}
