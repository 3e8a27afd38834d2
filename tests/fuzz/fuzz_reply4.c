/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replies of a server to NFSv4.0, and the state that is kept between them. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/contact.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_names.h"
#include "nfs/dirent.h"
#include "exchange.h"

#define ROOM 300

/* What a directory's entries are put into is walked as core does. */
static void list(struct nfsappend_wait *w, uint8_t *buf)
{
	struct nfsappend_fh dir = {.len = 32};
	uint64_t verifier = 0;
	uint32_t len = ROOM;
	bool eof = false;

	if (nfsappend_nfs4_readdir(fuzz_session, w, &dir, 0, &verifier, buf,
		    &len, &eof) != 0)
		return;
	if (len > ROOM)
		abort();
	for (uint32_t at = 0; at < len;) {
		struct nfsappend_dirent e;
		const char *name = (char *)buf + at +
				   offsetof(struct nfsappend_dirent, name);

		memcpy(&e, buf + at, offsetof(struct nfsappend_dirent, name));
		if (e.reclen == 0 || e.reclen % 8 != 0 ||
			e.reclen > len - at ||
			memchr(name, '\0', buf + at + e.reclen -
					(uint8_t *)name) == NULL ||
			name[0] == '\0' || strchr(name, '/') != NULL)
			abort();
		at += e.reclen;
	}
}

static void contact(struct nfsappend_wait *w)
{
	struct nfsappend_target target = {
		.host = "127.0.0.1", .path = "/a/b", .version = 4};
	struct nfsappend_cred cred = {0};
	struct nfsappend_contact out = {0};
	char why[256];

	if (nfsappend_contact4(&target, &cred, w, &out, why, sizeof why) == 0 &&
		(out.root.len == 0 || out.root.len > NFSAPPEND_FH_MAX ||
			out.wtmax < 512 || out.rtmax > 1 << 20))
		abort();
}

/* A slot as it may lie in a segment; what core checks is right in it. */
static void any_state(struct nfsappend_slot *slot)
{
	struct nfsappend_state st;

	memset(slot, 0, sizeof *slot);
	fuzz_bytes(&st, sizeof st);
	st.len = st.len % ROOM + 1;
	st.in_flight %= NFSAPPEND_UNLOCK + 1;
	nfsappend_slot_set(slot, &st);
}

static void append(struct nfsappend_wait *w, const uint8_t *buf)
{
	struct nfsappend_slot slot;
	struct nfsappend_fh fh = {.len = 32};
	struct nfsappend_record rec = {.data = buf, .len = 100, .offset = 7};
	int r = NFSAPPEND_CONTINUE;

	any_state(&slot);
	rec.more = fuzz_byte() & 1;
	rec.not_in = fuzz_byte() & 1;
	for (int i = 0; i < 8 && r != NFSAPPEND_TIMED_OUT; i++) {
		r = nfsappend_nfs4_append(fuzz_session, w, &slot, &fh, &rec);
		if (r == 0 && rec.written.count > ROOM)
			abort();
	}
}

static void open_close(struct nfsappend_wait *w)
{
	struct nfsappend_slot slot;
	struct nfsappend_client client = {.generation = 1, .clientid = 5};
	struct nfsappend_fh dir = {.len = 32}, fh = {.len = 0};
	struct nfsappend_attr attr;
	uint8_t how = fuzz_byte();
	struct nfsappend_open_args args = {
		.dir = &dir,
		.name = "name",
		.expected = how & 1 ? &dir : NULL,
		.reclaim = how & 2 && how & 1,
		.create = how & 4,
		.how = how & 8 ? NFSAPPEND_EXCLUSIVE : NFSAPPEND_UNCHECKED,
		.mode = 0644,
		.verifier = 3,
	};
	int r = NFSAPPEND_CONTINUE;

	any_state(&slot);
	for (int i = 0; i < 4 && r != NFSAPPEND_TIMED_OUT; i++) {
		r = nfsappend_nfs4_open(fuzz_session, w, &slot, &client, &args,
			&fh, &attr);
		if (r == 0 && fh.len > NFSAPPEND_FH_MAX)
			abort();
	}
	nfsappend_nfs4_close(fuzz_session, w, &slot, &dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfsappend_session *s = fuzz_session;
	struct nfsappend_wait *w = &fuzz_wait;
	struct nfsappend_fh dir = {.len = 32}, fh = {.len = 0};
	struct nfsappend_attr attr = {0};
	struct nfsappend_written written = {0};
	struct nfsappend_client client = {0};
	uint8_t *buf = malloc(ROOM);
	uint32_t granted, len = ROOM;
	uint64_t verifier = 0;
	bool eof;
	int r;

	memset(buf, 'x', ROOM);
	fuzz_input(data, size);
	switch (fuzz_byte() % 20) {
	case 0:
		nfsappend_nfs4_getattr(s, w, &dir, &attr);
		break;
	case 1:
		nfsappend_nfs4_setattr(s, w, &dir, 0xff, &attr);
		break;
	case 2:
		r = nfsappend_nfs4_lookup(s, w, &dir, "name", &fh, &attr);
		if (r == 0 && fh.len > NFSAPPEND_FH_MAX)
			abort();
		break;
	case 3:
		nfsappend_nfs4_access(s, w, &dir, 63, &granted);
		break;
	case 4:
		r = nfsappend_nfs4_readlink(s, w, &dir, (char *)buf, ROOM);
		if (r == 0 && strlen((char *)buf) >= ROOM)
			abort();
		break;
	case 5:
		r = nfsappend_nfs4_read(s, w, &dir, 0, buf, &len, &eof);
		if (r == 0 && len > ROOM)
			abort();
		break;
	case 6:
		r = nfsappend_nfs4_write(s, w, &dir, 0, buf, 3, &written);
		if (r == 0 && (written.count == 0 || written.count > 3))
			abort();
		break;
	case 7:
		r = nfsappend_nfs4_write_at_end(
			s, w, &dir, NULL, 0, buf, 3, &written);
		if (r == 0 && (written.count == 0 || written.count > 3))
			abort();
		break;
	case 8:
		nfsappend_nfs4_commit(s, w, &dir, 0, 3, &verifier);
		break;
	case 9:
		nfsappend_nfs4_client(s, w, &client);
		break;
	case 10:
		open_close(w);
		break;
	case 12: {
		struct nfsappend_space space;

		nfsappend_nfs4_statfs(s, w, &dir, &space);
		break;
	}
	case 13:
		list(w, buf);
		break;
	case 14:
		nfsappend_nfs4_mkdir(s, w, &dir, "name", 0755);
		nfsappend_nfs4_symlink(s, w, &dir, "name", "target");
		nfsappend_nfs4_link(s, w, &dir, &dir, "name");
		nfsappend_nfs4_remove(s, w, &dir, "name");
		nfsappend_nfs4_rmdir(s, w, &dir, "name");
		nfsappend_nfs4_rename(s, w, &dir, "name", &dir, "other");
		break;
	case 11:
		contact(w);
		break;
	default:
		append(w, buf);
		break;
	}
	free(buf);
	return 0;
}
