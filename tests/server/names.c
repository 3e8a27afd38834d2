#include "names.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "when.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const char *const v3_names[] = {"NULL", "GETATTR", "SETATTR", "LOOKUP",
	"ACCESS", "READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK",
	"MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS",
	"FSSTAT", "FSINFO", "PATHCONF", "COMMIT"};

static const char *const v4_names[] = {NULL, NULL, NULL, "ACCESS", "CLOSE",
	"COMMIT", "CREATE", "DELEGPURGE", "DELEGRETURN", "GETATTR", "GETFH",
	"LINK", "LOCK", "LOCKT", "LOCKU", "LOOKUP", "LOOKUPP", "NVERIFY",
	"OPEN", "OPENATTR", "OPEN_CONFIRM", "OPEN_DOWNGRADE", "PUTFH",
	"PUTPUBFH", "PUTROOTFH", "READ", "READDIR", "READLINK", "REMOVE",
	"RENAME", "RENEW", "RESTOREFH", "SAVEFH", "SECINFO", "SETATTR",
	"SETCLIENTID", "SETCLIENTID_CONFIRM", "VERIFY", "WRITE",
	"RELEASE_LOCKOWNER"};

static const char *const mount_names[] = {
	"NULL", "MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT"};

static const struct {
	const char *name;
	uint32_t number;
} statuses[] = {
	{"OK", 0},
	{"PERM", 1},
	{"NOENT", 2},
	{"IO", 5},
	{"NXIO", 6},
	{"ACCES", 13},
	{"EXIST", 17},
	{"XDEV", 18},
	{"NODEV", 19},
	{"NOTDIR", 20},
	{"ISDIR", 21},
	{"INVAL", 22},
	{"FBIG", 27},
	{"NOSPC", 28},
	{"ROFS", 30},
	{"MLINK", 31},
	{"NAMETOOLONG", 63},
	{"NOTEMPTY", 66},
	{"DQUOT", 69},
	{"STALE", 70},
	{"REMOTE", 71},
	{"BADHANDLE", 10001},
	{"NOT_SYNC", 10002},
	{"BAD_COOKIE", 10003},
	{"NOTSUPP", 10004},
	{"TOOSMALL", 10005},
	{"SERVERFAULT", 10006},
	{"BADTYPE", 10007},
	{"DELAY", 10008}, /* first, so that the log says DELAY */
	{"JUKEBOX", 10008},
	{"SAME", 10009},
	{"DENIED", 10010},
	{"EXPIRED", 10011},
	{"LOCKED", 10012},
	{"GRACE", 10013},
	{"FHEXPIRED", 10014},
	{"SHARE_DENIED", 10015},
	{"WRONGSEC", 10016},
	{"CLID_INUSE", 10017},
	{"RESOURCE", 10018},
	{"MOVED", 10019},
	{"NOFILEHANDLE", 10020},
	{"MINOR_VERS_MISMATCH", 10021},
	{"STALE_CLIENTID", 10022},
	{"STALE_STATEID", 10023},
	{"OLD_STATEID", 10024},
	{"BAD_STATEID", 10025},
	{"BAD_SEQID", 10026},
	{"NOT_SAME", 10027},
	{"LOCK_RANGE", 10028},
	{"SYMLINK", 10029},
	{"RESTOREFH", 10030},
	{"LEASE_MOVED", 10031},
	{"ATTRNOTSUPP", 10032},
	{"NO_GRACE", 10033},
	{"RECLAIM_BAD", 10034},
	{"RECLAIM_CONFLICT", 10035},
	{"BADXDR", 10036},
	{"LOCKS_HELD", 10037},
	{"OPENMODE", 10038},
	{"BADOWNER", 10039},
	{"BADCHAR", 10040},
	{"BADNAME", 10041},
	{"BAD_RANGE", 10042},
	{"LOCK_NOTSUPP", 10043},
	{"OP_ILLEGAL", 10044},
	{"DEADLOCK", 10045},
	{"FILE_OPEN", 10046},
	{"ADMIN_REVOKED", 10047},
	{"CB_PATH_DOWN", 10048},
};

static int number_in(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -1;
}

const char *v3_name(uint32_t proc)
{
	return proc < LENGTH(v3_names) ? v3_names[proc] : NULL;
}

const char *v4_name(uint32_t op)
{
	return op < LENGTH(v4_names) ? v4_names[op] : NULL;
}

const char *mount_name(uint32_t proc)
{
	return proc < LENGTH(mount_names) ? mount_names[proc] : NULL;
}

int v3_number(const char *name)
{
	return number_in(v3_names, LENGTH(v3_names), name);
}

int v4_number(const char *name)
{
	return number_in(v4_names, LENGTH(v4_names), name);
}

int mount_number(const char *name)
{
	return number_in(mount_names, LENGTH(mount_names), name);
}

const char *status_name(uint32_t status)
{
	static char text[16];
	size_t i;

	for (i = 0; i < LENGTH(statuses); i++)
		if (statuses[i].number == status)
			return statuses[i].name;
	snprintf(text, sizeof(text), "%u", status);
	return text;
}

int64_t status_number(const char *name)
{
	uint64_t n;
	size_t i;

	for (i = 0; i < LENGTH(statuses); i++)
		if (!strcmp(statuses[i].name, name))
			return statuses[i].number;
	return parse_number(name, &n) && n <= UINT32_MAX ? (int64_t)n : -1;
}

uint32_t status_of_errno(int e)
{
	switch (e) {
	case 0:
		return ST_OK;
	case ENOENT:
		return ST_NOENT;
	case EPERM:
		return ST_PERM;
	case EACCES:
		return ST_ACCES;
	case EEXIST:
		return ST_EXIST;
	case EXDEV:
		return ST_XDEV;
	case ENOTDIR:
		return ST_NOTDIR;
	case EISDIR:
		return ST_ISDIR;
	case EINVAL:
		return ST_INVAL;
	case EFBIG:
		return ST_FBIG;
	case ENOSPC:
		return ST_NOSPC;
	case EROFS:
		return ST_ROFS;
	case ENAMETOOLONG:
		return ST_NAMETOOLONG;
	case ENOTEMPTY:
		return ST_NOTEMPTY;
	case EDQUOT:
		return ST_DQUOT;
	case ESTALE:
		return ST_STALE;
	default:
		return ST_IO;
	}
}
