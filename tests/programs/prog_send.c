/*
 * prog_send FILE COUNT RECEIVER: opens FILE for appending and sends the
 * descriptor over a socket to RECEIVER, which is this program, built static:
 * prog_send NAME COUNT. It appends COUNT records to what it has got, and the
 * sender as many at the same time.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include "prog.h"

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static int receive(void)
{
	union control c;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = c.room,
		.msg_controllen = sizeof c.room};
	int fd;

	if (recvmsg(0, &msg, 0) != 1 || msg.msg_controllen == 0)
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
	return fd;
}

static int send_to(int to, int fd)
{
	union control c = {.head = {.cmsg_len = CMSG_LEN(sizeof fd),
				   .cmsg_level = SOL_SOCKET,
				   .cmsg_type = SCM_RIGHTS}};
	struct iovec iov = {"", 1};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = c.room,
		.msg_controllen = sizeof c.room};

	memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
	return sendmsg(to, &msg, 0) == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	int pair[2], fd, status = 0, bad;
	pid_t child;

	if (argc == 3)
		return append_records(receive(), argv[1], count);
	if (argc < 4 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 2;
	child = fork();
	if (child == 0) {
		dup2(pair[0], 0);
		execl(argv[3], argv[3], "receiver", argv[2], (char *)NULL);
		return 4;
	}
	fd = open_append(argv[1]);
	bad = append_records(fd, "before", count);
	if (send_to(pair[1], fd) != 0)
		return 3;
	bad |= append_records(fd, "after", count);
	waitpid(child, &status, 0);
	return bad || status != 0;
}
