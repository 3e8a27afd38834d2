/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/config_env.h"
#include "core/directory.h"
#include "core/errname.h"
#include "core/file.h"
#include "core/log.h"
#include "core/opening.h"
#include "core/pathcall.h"
#include "core/state.h"
#include "core/table.h"
#include "core/unused.h"

#define CREATE_TRIES 8

struct opening {
	int flags;
	mode_t mode;
	bool writes;
	struct nfsappend_waiting w;
	struct nfsappend_place *place;
	bool created; /* as far as one can know: CREATE does not tell */
	unsigned tries;
	uint32_t granted; /* by an ACCESS of this open */
	bool made; /* by an OPEN of NFSv4, whose state is in slot */
	struct nfsappend_slot slot;
};

static int create(struct opening *o)
{
	struct nfsappend_place *p = o->place;
	uint32_t mode = o->mode & 07777 & ~nfsappend_umask();
	bool exclusive = o->flags & O_EXCL;
	uint64_t verifier = 0;
	int r;

	if (exclusive && nfsappend_sys(SYS_getrandom, (long)&verifier,
				 sizeof verifier, GRND_NONBLOCK, 0, 0,
				 0) != sizeof verifier)
		verifier = (uint64_t)nfsappend_now() ^
			(uint64_t)sys_gettid() << 40;
	if (p->server->target.version == 4) {
		struct nfsappend_open_args args = {.dir = &p->dir,
			.name = p->name,
			.create = true,
			.how = exclusive ? NFSAPPEND_EXCLUSIVE
					 : NFSAPPEND_UNCHECKED,
			.mode = mode,
			.verifier = verifier};

		r = nfsappend_state_create(p->server, &o->w, &o->slot, &args,
			&p->fh, &p->attr);
		o->made = r == 0;
	} else {
		NFSAPPEND_CALL(p->server, &o->w, r, create, &p->dir, p->name,
			exclusive ? NFSAPPEND_EXCLUSIVE : NFSAPPEND_UNCHECKED,
			mode, verifier, &p->fh, &p->attr);
	}
	if (r == 0 && p->fh.len == 0) /* RFC 1813 3.3.8: may be missing */
		NFSAPPEND_CALL(p->server, &o->w, r, lookup, &p->dir, p->name,
			&p->fh, &p->attr);
	if (r != 0)
		return r;
	if (exclusive) {
		/* The verifier lies in the times; set all that we know. */
		struct nfsappend_attr attr = {.mode = mode};

		NFSAPPEND_CALL(p->server, &o->w, r, setattr, &p->fh,
			NFSAPPEND_SET_MODE | NFSAPPEND_SET_ATIME_NOW |
				NFSAPPEND_SET_MTIME_NOW,
			&attr);
		p->attr.mode = mode;
	}
	return r;
}

static int unsupported(struct opening *o, const char *what)
{
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_UNSUPPORTED,
		"%s/%s: %s under NFSAPPEND_MAP is not supported by this "
		"version; the program gets EOPNOTSUPP",
		o->place->map->dir, o->place->name, what);
	return -EOPNOTSUPP;
}

static int check_access(struct opening *o, uint32_t asked)
{
	struct nfsappend_place *p = o->place;
	uint32_t granted = 0;
	int r;

	if (o->flags & O_PATH)
		return 0;
	if (nfsappend_file_granted(p->server, &p->fh, &p->attr, asked))
		return 0;
	NFSAPPEND_CALL(p->server, &o->w, r, access, &p->fh, asked, &granted);
	if (r != 0)
		return r;
	if ((granted & asked) != asked)
		return -EACCES;
	o->granted = asked;
	return 0;
}

/* The file that was found: may it be opened so? */
static int check_found(struct opening *o)
{
	struct nfsappend_place *p = o->place;
	uint32_t asked = 0;

	if ((o->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	if (p->attr.type == NFSAPPEND_LNK)
		return -ELOOP; /* O_NOFOLLOW */
	if (p->attr.type == NFSAPPEND_DIR)
		return o->writes || o->flags & (O_CREAT | O_TRUNC)
			? -EISDIR
			: check_access(o, NFSAPPEND_ACCESS_READ);
	if (o->flags & O_DIRECTORY)
		return -ENOTDIR;
	if (o->flags & O_PATH)
		return unsupported(o, "O_PATH for a file");
	if (p->attr.type != NFSAPPEND_REG)
		return unsupported(o, "opening a special file");
	if ((o->flags & O_ACCMODE) != O_WRONLY)
		asked |= NFSAPPEND_ACCESS_READ;
	if (o->writes)
		asked |= o->flags & O_APPEND ? NFSAPPEND_ACCESS_EXTEND
					     : NFSAPPEND_ACCESS_MODIFY;
	if (o->flags & O_TRUNC)
		asked |= NFSAPPEND_ACCESS_MODIFY;
	return check_access(o, asked);
}

static int locate(struct opening *o, int dirfd, const char *path)
{
	struct nfsappend_place *p = o->place;
	size_t n = strlen(path);
	/* No file can be made of that name, whatever is there. */
	bool slash = o->flags & O_CREAT && n > 0 && path[n - 1] == '/';
	bool follow = !slash && !(o->flags & O_NOFOLLOW) &&
		(o->flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	int r;

	p->itself = slash;
	r = nfsappend_resolve(dirfd, path, follow, &o->w, p);
	if (p->map == NULL)
		return NFSAPPEND_NOT_OURS;
	/* The kernel's answer since 6.4; before, it made a file. */
	if ((o->flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return -EINVAL;
	if (r != 0)
		return r;
	if (slash)
		return -EISDIR;
	/* O_TMPFILE has the bit of O_DIRECTORY in it. */
	if ((o->flags & O_TMPFILE) == O_TMPFILE)
		return unsupported(o, "O_TMPFILE");
	if (p->found)
		return check_found(o);
	if (!(o->flags & O_CREAT))
		return -ENOENT;
	r = create(o);
	/* Somebody has removed the file between two steps of the server
	 * (nfs-ganesha 6.5 says so; no error of CREATE in RFC 1813), or the
	 * directory, which looking again tells. */
	if (r == -ENOENT && o->tries++ < CREATE_TRIES)
		return locate(o, dirfd, path);
	o->created = r == 0;
	return r;
}

/* The placeholder and its entry. Takes over the reference to file. */
static int make_descriptor(struct opening *o, struct nfsappend_file *file)
{
	struct nfsappend_server *s = file->key.server;
	struct nfsappend_placeholder ph = {
		.accmode = o->flags & O_ACCMODE,
		.sync = o->flags & (O_SYNC | O_DSYNC),
		.sharing = file->sharing,
		.timeout_s = file->timeout_s,
		.fileid = file->fileid,
		.target = s->target,
		.contact = s->contact,
		.cred = s->cred,
		.fh = file->key.fh,
	};
	struct nfsappend_open *open;
	int fd;

	ph.dir = file->dir;
	memcpy(ph.name, file->name, sizeof ph.name);
	memcpy(ph.path, file->path, sizeof ph.path);
	fd = nfsappend_placeholder_make(&ph, o->flags);
	if (fd < 0) {
		nfsappend_file_put(file);
		return fd;
	}
	open = nfsappend_open_new(fd, ph.accmode, ph.sync, file);
	if (open == NULL) {
		nfsappend_file_put(file);
		sys_close(fd);
		return -ENOMEM;
	}
	nfsappend_table_set(fd, open);
	return fd;
}

/* For messages and statistics: where the file is, or what the program asked
 * for. */
static void display_path(const struct nfsappend_place *p, const char *path,
	bool found, char *out, size_t room)
{
	if (!found && (path[0] == '/' || p->here[0] == '\0'))
		snprintf(out, room, "%s", path);
	else /* not found: as far as it was walked */
		nfsappend_place_path(p, out, room);
}

/* What programs try and expect to fail goes without a message: a file that
 * is not there, one that is (O_EXCL), a link where none may be (O_NOFOLLOW).
 * What is not supported has had its own (N401). */
static bool worth_telling(const struct opening *o, int error)
{
	if (error == -EOPNOTSUPP || error == -EEXIST || !o->writes)
		return false;
	if (error == -ELOOP && o->flags & O_NOFOLLOW)
		return false;
	/* Without a session, first contact has told. */
	if (o->place->server == NULL || o->place->server->session == NULL)
		return false;
	return error != -ENOENT || o->flags & O_CREAT;
}

/* NFSv4: what was opened to create the file is kept where it is of use. */
static int open_state(struct opening *o, struct nfsappend_file *file)
{
	int r;

	if (file->sharing != NFSAPPEND_LOCKED || !o->writes ||
		!(o->flags & O_APPEND))
		return 0;
	r = nfsappend_state_prepare(file, o->made ? &o->slot : NULL);
	o->made = false;
	return r;
}

/* Once: whoever asked for it relies on it. */
static void tell_not_locked(const struct nfsappend_file *file)
{
	static _Atomic bool told;

	if (nfsappend_config.sharing != NFSAPPEND_SHARING_LOCKED ||
		file->key.server->target.version != 3 ||
		atomic_exchange(&told, true))
		return;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_NOT_LOCKED,
		"%s: sharing mode locked needs NFSv4 and %s is used by NFSv3; "
		"guarded is used, which does not keep appends of several "
		"hosts apart (add version=4 to the URL)",
		file->path, file->key.server->name);
}

/* A file that was there, or that another program has made and written to
 * since we looked. */
static int truncate_found(struct opening *o, struct nfsappend_file *file)
{
	struct nfsappend_attr empty = {.size = 0};
	int r;

	if (!(o->flags & O_TRUNC) || (o->created && o->place->attr.size == 0))
		return 0;
	r = nfsappend_file_setattr(file, NFSAPPEND_SET_SIZE, &empty);
	if (r == 0)
		o->place->attr.size = 0;
	return r;
}

static int open_mapped(struct opening *o, int dirfd, const char *path)
{
	struct nfsappend_place *p = o->place;
	struct nfsappend_file *file;
	char shown[NFSAPPEND_SHOWN_MAX];
	int r;

	r = locate(o, dirfd, path);
	if (r == NFSAPPEND_NOT_OURS)
		return r;
	if (r == 0 && p->attr.type == NFSAPPEND_DIR)
		return nfsappend_directory_open(p, o->flags);
	display_path(p, path, r == 0, shown, sizeof shown);
	if (r == 0)
		r = nfsappend_file_get(p->server, &p->fh, &p->attr,
			nfsappend_config_sharing(p->map->target.version),
			nfsappend_config.timeout_s, p->attr.fileid, shown,
			&file);
	if (r == 0) {
		if (p->name[0] != '\0')
			nfsappend_file_name(file, &p->dir, p->name);
		if (o->granted != 0)
			nfsappend_file_grant(file, &p->attr, o->granted);
		r = open_state(o, file);
		if (r == 0)
			r = truncate_found(o, file);
		if (r != 0)
			nfsappend_file_put(file);
	}
	if (o->made)
		nfsappend_state_close(p->server, &o->w, &o->slot, &p->fh);
	if (r != 0) {
		if (worth_telling(o, r))
			nfsappend_log(NFSAPPEND_WARN,
				NFSAPPEND_MSG_OPEN_FAILED,
				"open of %s (%s) failed: %s; %s", shown,
				p->server->name, nfsappend_strerror(-r),
				nfsappend_cure(-r));
		return r;
	}
	NFSAPPEND_COUNT(file, rpcs, o->w.wait.rpcs);
	NFSAPPEND_COUNT(file, lookup_rpcs, o->w.wait.rpcs);
	NFSAPPEND_COUNT(file, reconnects, o->w.wait.reconnects);
	tell_not_locked(file);
	nfsappend_file_hint(file, &p->attr);
	nfsappend_unused_close(p->server);
	nfsappend_file_tell(file, NFSAPPEND_INFO, NULL);
	return make_descriptor(o, file);
}

int nfsappend_open_again(struct nfsappend_open *open, int flags)
{
	struct nfsappend_attr empty = {.size = 0};
	struct nfsappend_file *file;
	struct opening o = {.flags = flags & ~(O_CREAT | O_EXCL)};
	int r;

	if (open->dir != NULL)
		return (flags & O_ACCMODE) != O_RDONLY ||
				flags & (O_CREAT | O_TRUNC)
			? -EISDIR
			: nfsappend_directory_again(open->dir, flags);
	if (flags & O_DIRECTORY)
		return -ENOTDIR;
	if (flags & O_TRUNC) {
		r = nfsappend_file_setattr(open->file, NFSAPPEND_SET_SIZE,
			&empty);
		if (r != 0)
			return r;
	}
	/* One more reference, for the new descriptor. */
	r = nfsappend_file_get(open->file->key.server, &open->file->key.fh,
		NULL, open->file->sharing, open->file->timeout_s,
		open->file->fileid, open->file->path, &file);
	return r == 0 ? make_descriptor(&o, file) : r;
}

int nfsappend_open_path(int dirfd, const char *path, int flags, mode_t mode)
{
	struct nfsappend_guard guard;
	struct opening o = {
		.flags = flags,
		.mode = mode,
		.writes = (flags & O_ACCMODE) == O_WRONLY ||
			(flags & O_ACCMODE) == O_RDWR,
	};
	int r = -ENOMEM;

	if (flags & O_PATH) { /* the kernel looks at no other flag then */
		o.flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
		o.writes = false;
	}
	nfsappend_guard_enter(&guard);
	nfsappend_wait_start(&o.w, NULL, nfsappend_config.timeout_s);
	o.place = nfsappend_place_new();
	if (o.place != NULL) {
		r = open_mapped(&o, dirfd, path);
		nfsappend_place_free(o.place);
	}
	nfsappend_guard_leave(&guard);
	return r;
}
