/* F_GETFL and F_SETFL: O_APPEND is cleared and set again. */
#include "semantics.h"

static void show(const char *what, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	note("%s: access %d append %d nonblock %d sync %d", what,
		flags & O_ACCMODE, !!(flags & O_APPEND), !!(flags & O_NONBLOCK),
		!!(flags & O_DSYNC));
}

static void change(int fd, int clear, int set)
{
	int flags = fcntl(fd, F_GETFL);

	note_call("F_SETFL", fcntl(fd, F_SETFL, (flags & ~clear) | set));
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log, copy, sync;

	seed(dir, "log", "0123456789\n");
	log = open_log(dir, "log", 0);
	copy = dup(log);
	show("opened", log);
	change(log, 0, O_NONBLOCK);
	show("not blocking", copy);
	append(copy, "not blocking\n");
	change(log, O_NONBLOCK, 0);

	change(log, O_APPEND, 0);
	show("cleared", log);
	show("cleared, by dup", copy);
	note_call("seek", lseek(log, 2, SEEK_SET));
	append(copy, "xx");
	note_call("offset", position(log));
	append(log, "yy");
	note_call("offset", position(copy));

	change(copy, 0, O_APPEND);
	show("set again", log);
	append(log, "appended\n");
	note_call("offset", position(copy));

	sync = open_log(dir, "log", O_SYNC);
	show("opened O_SYNC", sync);
	append(sync, "sync\n");
	note_call(
		"F_GETFL of a closed one", (close(sync), fcntl(sync, F_GETFL)));
	return 0;
}
