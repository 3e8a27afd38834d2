/* What has nothing to do, or goes on to the kernel as it is. */
#include "semantics.h"
#include <sys/file.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
	struct stat st;
	int log = open_log(dir, "log", 0), value;

	append(log, "line\n");
	note_call("fsync", fsync(log));
	note_call("fdatasync", fdatasync(log));
	note_call("syncfs", syncfs(log));
	note_call("sync_file_range", sync_file_range(log, 0, 0, 0));
	note_call(
		"posix_fadvise", posix_fadvise(log, 0, 0, POSIX_FADV_DONTNEED));
	note_call("isatty", isatty(log) ? 1 : -1);
	note_call("ioctl", ioctl(log, TIOCGWINSZ, &value));
	note_call("flock", flock(log, LOCK_EX | LOCK_NB));
	append(log, "locked by flock\n");
	note_call("unlock", flock(log, LOCK_UN));
	note_call("lockf", lockf(log, F_TLOCK, 0));
	append(log, "locked by lockf\n");
	note_call("unlock", lockf(log, F_ULOCK, 0));
	note_call("F_SETLK", fcntl(log, F_SETLK, &lock));
	append(log, "locked by F_SETLK\n");
	lock.l_type = F_UNLCK;
	note_call("F_SETLK", fcntl(log, F_SETLK, &lock));
	note_call("fchmod", fchmod(log, 0640));
	note_call("fchown", fchown(log, -1, -1));
	note_call("futimens", futimens(log, times));
	if (fstat(log, &st))
		die("fstat");
	note("mode %o mtime %ld", st.st_mode, (long)st.st_mtime);
	append(log, "end\n");
	note_call("close", close(log));
	note_call("fsync of a closed one", fsync(log));
	note_call("close again", close(log));
	return 0;
}
