/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/config_env.h"
#include "core/log.h"
#include "core/placeholder.h"
#include "core/process.h"
#include "core/sockets.h"
#include "rig.h"

int rig_node;
bool rig_private;
struct nfsappend_file *rig_file;
const enum nfsappend_sharing rig_sharings[2] = {
	NFSAPPEND_SINGLE, NFSAPPEND_GUARDED};
static char log_path[80], runtime[80];

static const struct nfsappend_backend *load(void)
{
	return &fake_backend;
}

void rig_core(void)
{
	struct nfsappend_guard guard;

	nfsappend_log_start();
	CHECK_INT(nfsappend_process_start(), 0);
	nfsappend_guard_enter(&guard);
	nfsappend_sockets_start();
	nfsappend_table_start();
	nfsappend_file_start();
	nfsappend_server_start();
	nfsappend_backend_loader = load;
	nfsappend_guard_leave(&guard);
	snprintf(log_path, sizeof log_path, "%s/log", unit_dir);
	snprintf(runtime, sizeof runtime, "%s/run%d", unit_dir, (int)getpid());
	nfsappend_log_configure(NFSAPPEND_INFO, log_path);
	nfsappend_config.runtime = runtime;
}

void rig_config(const char *first, ...)
{
	char *envp[16];
	unsigned n = 0;
	va_list ap;

	va_start(ap, first);
	for (const char *s = first; s != NULL; s = va_arg(ap, const char *))
		envp[n++] = (char *)s;
	va_end(ap);
	envp[n] = NULL;
	CHECK_INT(nfsappend_config_read(envp), 0);
	if (nfsappend_config.runtime == NULL)
		nfsappend_config.runtime = runtime;
}

const char *rig_sharing_name(enum nfsappend_sharing sharing)
{
	return sharing == NFSAPPEND_SINGLE    ? "single"
	       : sharing == NFSAPPEND_GUARDED ? "guarded"
					      : "locked";
}

static void file_on_server(enum nfsappend_sharing sharing, size_t room)
{
	static unsigned number;
	struct nfsappend_target target;
	struct nfsappend_contact contact = fake_contact_now();
	struct nfsappend_cred cred;
	struct nfsappend_server *server;
	struct nfsappend_fh fh;
	char name[32], why[100];

	snprintf(name, sizeof name, "log%u", number++);
	rig_node = fake_add(0, name, NFSAPPEND_REG, 0644, room);
	CHECK_INT(nfsappend_url_parse(sharing == NFSAPPEND_LOCKED
				  ? "nfs://fake/export?version=4"
				  : "nfs://fake/export",
			  &target, why, sizeof why),
		0);
	nfsappend_cred_now(&cred, &target);
	server = nfsappend_server_get(&target, &cred, &contact);
	CHECK(server != NULL);
	fh = fake_handle(rig_node);
	CHECK_INT(nfsappend_file_get(server, &fh, fake_attr(rig_node), sharing,
			  0, fake_attr(rig_node)->fileid, "/logs/x", &rig_file),
		0);
	fh = fake_handle(0);
	nfsappend_file_name(rig_file, &fh, name);
	CHECK_INT(rig_file->segment.is_private, rig_private);
	if (!rig_private)
		CHECK_INT(rig_file->sharing, sharing);
}

void rig_start_large(enum nfsappend_sharing sharing, size_t room)
{
	rig_core();
	fake_start();
	file_on_server(sharing, room);
}

void rig_start(enum nfsappend_sharing sharing)
{
	rig_start_large(sharing, 0);
}

void rig_file_now(enum nfsappend_sharing sharing)
{
	file_on_server(sharing, 0);
}

void rig_again(enum nfsappend_sharing sharing)
{
	static bool started;
	struct nfsappend_guard guard;

	if (!started) {
		started = true;
		rig_start(sharing);
		return;
	}
	nfsappend_guard_enter(&guard);
	fake_rules_clear();
	fake_remove(rig_node);
	nfsappend_file_put(rig_file);
	file_on_server(sharing, 0);
	fake_calls_reset();
	nfsappend_guard_leave(&guard);
	rig_log();
}

ssize_t rig_append_bytes(const void *data, size_t n)
{
	struct iovec iov = {(void *)data, n};
	struct nfsappend_guard guard;
	uint64_t end = 0;
	bool over = false;
	ssize_t r;

	nfsappend_guard_enter(&guard);
	r = nfsappend_file_append(rig_file, &iov, 1, n, INT64_MAX, &end, &over);
	nfsappend_guard_leave(&guard);
	CHECK(!over);
	return r;
}

ssize_t rig_append(const char *record)
{
	return rig_append_bytes(record, strlen(record));
}

static void append_or_fail(void *record)
{
	ssize_t r = rig_append(record);

	if (r != (ssize_t)strlen(record))
		exit(r < 0 ? (int)-r : 255);
}

int rig_append_in_child(const char *record)
{
	return unit_wait(unit_fork(append_or_fail, (void *)record));
}

ssize_t rig_pwrite(const char *data, uint64_t offset)
{
	struct iovec iov = {(void *)data, strlen(data)};
	struct nfsappend_guard guard;
	ssize_t r;

	nfsappend_guard_enter(&guard);
	r = nfsappend_file_write_at(rig_file, &iov, 1, iov.iov_len, offset);
	nfsappend_guard_leave(&guard);
	return r;
}

void rig_check_file(const char *file, int line, const char *want)
{
	size_t len;
	const uint8_t *content = fake_content(rig_node, &len);

	unit_mem(file, line, "the file", content, len, want, strlen(want));
	unit_int(file, line, "bytes on stable storage",
		(long long)fake_stable(rig_node), (long long)len);
}

uint32_t rig_pending(void)
{
	return rig_file->segment.shared->pending;
}

int rig_descriptor(uint32_t accmode, int status_flags)
{
	struct nfsappend_server *s = rig_file->key.server;
	struct nfsappend_placeholder *p = unit_alloc(sizeof *p);
	struct nfsappend_open *open;
	struct nfsappend_file *same;
	struct nfsappend_guard guard;
	int fd;

	p->accmode = accmode;
	p->sharing = rig_file->sharing;
	p->target = s->target;
	p->contact = s->contact;
	p->cred = s->cred;
	p->fh = rig_file->key.fh;
	p->fileid = rig_file->fileid;
	strcpy(p->path, rig_file->path);
	nfsappend_guard_enter(&guard);
	fd = nfsappend_placeholder_make(p, status_flags);
	CHECK(fd >= 0);
	/* The descriptor's own reference, as open() takes one. */
	CHECK_INT(nfsappend_file_inherit(p, &same), 0);
	CHECK(same == rig_file);
	open = nfsappend_open_new(fd, accmode, 0, same);
	CHECK(open != NULL);
	nfsappend_table_set(fd, open);
	nfsappend_guard_leave(&guard);
	free(p);
	return fd;
}

struct nfsappend_open *rig_open(int fd)
{
	struct nfsappend_open *o;
	int error;

	o = nfsappend_table_get(fd, &error);
	CHECK_INT(error, 0);
	CHECK(o != NULL);
	return o;
}

const char *rig_log(void)
{
	static char *text;
	static size_t seen;
	size_t len, from = seen;

	free(text);
	text = unit_read_file(log_path, &len);
	if (len < from) /* the test has removed it */
		from = 0;
	seen = len;
	return text + from;
}
