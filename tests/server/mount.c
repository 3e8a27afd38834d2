/* MOUNT version 3 (RFC 1813 appendix I). */
#include <string.h>
#include <sys/stat.h>

#include "server.h"

static void mnt(struct call *c)
{
	char path[1025];
	uint8_t fh[HANDLE_SIZE];
	uint32_t status;
	struct statx st;
	struct node *n;

	get_string(&c->args, path, sizeof(path));
	status = faulty(c, F_REPLY) ? fault_value(c, F_REPLY)
				    : store_mount(path, &n);
	if (!status)
		status = store_stat(n, &st);
	if (!status && !S_ISDIR(st.stx_mode))
		status = ST_NOTDIR;
	call_log(c, " path=%s %s", path, status_name(status));
	put_u32(&c->out, status);
	if (status)
		return;
	store_handle(n, fh);
	put_opaque(&c->out, fh, sizeof(fh));
	put_u32(&c->out, 1);
	put_u32(&c->out, 1); /* AUTH_SYS */
}

uint32_t mount_run(struct call *c)
{
	switch (c->proc) {
	case 0: /* NULL */
	case 4: /* UMNTALL */
		break;
	case 1:
		mnt(c);
		break;
	case 2: /* DUMP */
		put_u32(&c->out, 0);
		break;
	case 3: { /* UMNT */
		char path[1025];

		get_string(&c->args, path, sizeof(path));
		break;
	}
	case 5: /* EXPORT: the root, to everybody */
		put_u32(&c->out, 1);
		put_string(&c->out, "/");
		put_u32(&c->out, 0);
		put_u32(&c->out, 0);
		break;
	default:
		return RPC_PROC_UNAVAIL;
	}
	return c->args.bad ? RPC_GARBAGE_ARGS : RPC_SUCCESS;
}
