/* Descriptors that root opened, used by nobody; root's file mode. */
#include "semantics.h"
#include <grp.h>

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int private, shared, own;
	struct stat st;
	pid_t pid;

	umask(022);
	private = open(
		path_in(dir, "private"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	shared = open_log(dir, "shared", 0);
	append(private, "root\n");
	if (seteuid(65534))
		die("seteuid");
	append(private, "effectively nobody\n");
	own = open(path_in(dir, "private"), O_WRONLY | O_APPEND);
	note_call("open of root's file", own < 0 ? -1 : 0);
	if (seteuid(0))
		die("seteuid");
	append(private, "root again\n");
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		die("setuid");
	append(private, "nobody, by root's descriptor\n");
	append(shared, "nobody, by root's descriptor\n");
	own = open(path_in(dir, "shared"), O_WRONLY | O_APPEND);
	note_call("open of root's file", own < 0 ? -1 : 0);
	own = open_log(dir, "own", 0);
	append(own, "nobody's own\n");
	if (fstat(own, &st))
		die("fstat");
	note("owner %d:%d mode %o", (int)st.st_uid, (int)st.st_gid, st.st_mode);
	pid = fork();
	if (!pid) {
		append(private, "nobody's child\n");
		_exit(0);
	}
	note_child(pid);
	append(private, "nobody, the last line\n");
	return 0;
}
