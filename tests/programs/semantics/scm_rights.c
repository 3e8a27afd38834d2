/* Descriptors passed over a Unix socket. */
#include "semantics.h"
#include <sys/socket.h>

static void send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'f';
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	if (sendmsg(socket, &message, 0) != 1)
		die("sendmsg");
}

static int receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return fd;
}

int main(int argc, char **argv)
{
	const char *dir = dir_of(argc, argv);
	int log, pair[2], mine;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	pid = fork();
	if (!pid) {
		/* Never opened it, never inherited it. */
		int fd = receive_fd(pair[1]);

		append(fd, "by the receiver\n");
		note_call("offset", position(fd));
		note("append %d", !!(fcntl(fd, F_GETFL) & O_APPEND));
		_exit(0);
	}
	log = open_log(dir, "log", 0);
	append(log, "by the opener\n");
	send_fd(pair[0], log);
	note_child(pid);
	append(log, "by the opener again\n");
	send_fd(pair[0], log);
	mine = receive_fd(pair[1]);
	note("another number %d", mine != log);
	append(mine, "by what we sent ourselves\n");
	note_call("offset", position(log));
	close(log);
	append(mine, "and nothing else is open\n");
	return 0;
}
