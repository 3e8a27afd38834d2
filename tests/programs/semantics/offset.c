/* lseek right after open and around each write. */
#include "semantics.h"

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log, second;

	seed(dir, "log", "0123456789\n");
	log = open_log(dir, "log", 0);
	note_call("after open", position(log));
	note_call("end", lseek(log, 0, SEEK_END));
	note_call("set", lseek(log, 4, SEEK_SET));
	append(log, "one\n");
	note_call("after a write", position(log));
	note_call("set", lseek(log, 1, SEEK_SET));
	note_call("after set", position(log));
	append(log, "two\n");
	note_call("after a write", position(log));
	note_call("far behind the end", lseek(log, 1000, SEEK_SET));
	append(log, "no hole\n");
	note_call("after a write", position(log));
	note_call("from the end", lseek(log, -3, SEEK_END));
	note_call("relative", lseek(log, -2, SEEK_CUR));
	note_call("before the start", lseek(log, -1, SEEK_SET));
	note_call("before the start", lseek(log, -1000, SEEK_CUR));
	note_call("bad whence", lseek(log, 0, 77));
	note_call("unchanged", position(log));
	note_call("lseek64", lseek64(log, 1L << 40, SEEK_SET));
	second = open_log(dir, "log", 0);
	append(second, "by another descriptor\n");
	note_call("its own offset", position(second));
	note_call("end seen by the first", lseek(log, 0, SEEK_END));
	append(log, "three\n");
	note_call("behind it", position(log));
	note_call("zero bytes", write(log, "", 0));
	note_call("set", lseek(log, 0, SEEK_SET));
	note_call("zero bytes", write(log, "", 0));
	note_call("unchanged by them", position(log));
	return 0;
}
