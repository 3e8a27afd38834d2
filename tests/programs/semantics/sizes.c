/* Writes of 0 bytes to COUNT bytes, by write and by writev. */
#include "semantics.h"
#include <sys/uio.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	long max = count_of(argc, argv, 3 << 20);
	static const long sizes[] = {0, 1, 2, 63, 511, 512, 513, 4095, 4096,
		4097, 8192, 32768, 65535, 65536, 65537, 131072, 262144, 1000000,
		1048575, 1048576, 1048577, 2097152, 4194305, 16777216, 33554433,
		67108864};
	unsigned int state = 1;
	int log = open_log(dir, "log", 0);
	char *block = malloc(max);

	for (long i = 0; i < max; i++) {
		state = state * 1103515245 + 12345;
		block[i] = state >> 24;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct iovec iov[3];

		if (sizes[i] > max)
			continue;
		note("size %ld", sizes[i]);
		note_call("write", write(log, block, sizes[i]));
		note_call("offset", position(log));
		if (sizes[i] < 3 || sizes[i] > max / 2)
			continue;
		iov[0].iov_base = block + 1;
		iov[0].iov_len = 1;
		iov[1].iov_base = block + max / 2;
		iov[1].iov_len = sizes[i] - 2;
		iov[2].iov_base = block;
		iov[2].iov_len = 1;
		note_call("writev", writev(log, iov, 3));
	}
	free(block);
	return 0;
}
