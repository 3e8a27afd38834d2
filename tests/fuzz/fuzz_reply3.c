/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replies of a server to NFSv3, MOUNT and the port mapper. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/contact.h"
#include "nfs/nfs3.h"
#include "nfs/nfs3_names.h"
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

	if (nfsappend_nfs3_readdir(fuzz_session, w, &dir, 0, &verifier, buf,
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

static void check_fh(int r, const struct nfsappend_fh *fh)
{
	if (r == 0 && fh->len > 64)
		abort();
}

static void contact(struct nfsappend_wait *w)
{
	struct nfsappend_target target = {
		.host = "127.0.0.1", .path = "/a/b", .version = 3};
	struct nfsappend_cred cred = {0};
	struct nfsappend_contact out = {0};
	char why[256];

	if (nfsappend_contact3(&target, &cred, w, &out, why, sizeof why) == 0 &&
		(out.root.len == 0 || out.root.len > 64 || out.wtmax < 512 ||
			out.rtmax > 1 << 20))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfsappend_session *s = fuzz_session;
	struct nfsappend_wait *w = &fuzz_wait;
	struct nfsappend_fh dir = {.len = 32}, fh = {.len = 0};
	struct nfsappend_attr attr = {0};
	struct nfsappend_written written;
	uint8_t *buf = malloc(ROOM);
	uint32_t granted, len = ROOM;
	uint64_t verifier = 0;
	bool eof;
	int r;

	fuzz_input(data, size);
	switch (fuzz_byte() % 15) {
	case 0:
		nfsappend_nfs3_getattr(s, w, &dir, &attr);
		break;
	case 1:
		nfsappend_nfs3_setattr(s, w, &dir, 0xff, &attr);
		break;
	case 2:
		r = nfsappend_nfs3_lookup(s, w, &dir, "name", &fh, &attr);
		check_fh(r, &fh);
		break;
	case 3:
		nfsappend_nfs3_access(s, w, &dir, 63, &granted);
		break;
	case 4:
		r = nfsappend_nfs3_readlink(s, w, &dir, (char *)buf, ROOM);
		if (r == 0 && strlen((char *)buf) >= ROOM)
			abort();
		break;
	case 5:
		r = nfsappend_nfs3_create(s, w, &dir, "name",
			NFSAPPEND_EXCLUSIVE, 0644, 1, &fh, &attr);
		check_fh(r, &fh);
		break;
	case 6:
		r = nfsappend_nfs3_create(s, w, &dir, "name",
			NFSAPPEND_UNCHECKED, 0644, 1, &fh, &attr);
		check_fh(r, &fh);
		break;
	case 7:
		r = nfsappend_nfs3_read(s, w, &dir, 0, buf, &len, &eof);
		if (r == 0 && len > ROOM)
			abort();
		break;
	case 8:
		r = nfsappend_nfs3_write(
			s, w, &dir, 0, "abc", 3, &written);
		if (r == 0 && (written.count == 0 || written.count > 3 ||
				      written.committed > 2))
			abort();
		break;
	case 9:
		nfsappend_nfs3_commit(s, w, &dir, 0, 3, &verifier);
		break;
	case 10:
		nfsappend_nfs3_mkdir(s, w, &dir, "name", 0755);
		nfsappend_nfs3_symlink(s, w, &dir, "name", "target");
		nfsappend_nfs3_link(s, w, &dir, &dir, "name");
		break;
	case 11:
		nfsappend_nfs3_remove(s, w, &dir, "name");
		nfsappend_nfs3_rmdir(s, w, &dir, "name");
		nfsappend_nfs3_rename(s, w, &dir, "name", &dir, "other");
		break;
	case 12: {
		struct nfsappend_space space;

		nfsappend_nfs3_statfs(s, w, &dir, &space);
		break;
	}
	case 13:
		list(w, buf);
		break;
	default:
		contact(w);
		break;
	}
	free(buf);
	return 0;
}
