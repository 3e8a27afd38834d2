/* Names of procedures, operations and status values, as the RFCs have them
 * without their prefixes (NFSPROC3_, OP_, NFS3ERR_, NFS4ERR_). */
#ifndef SERVER_NAMES_H
#define SERVER_NAMES_H

#include <stdint.h>

enum { PROG_NFS = 100003, PROG_MOUNT = 100005 };

enum v3_proc { /* RFC 1813 section 3 */
	V3_NULL,
	V3_GETATTR,
	V3_SETATTR,
	V3_LOOKUP,
	V3_ACCESS,
	V3_READLINK,
	V3_READ,
	V3_WRITE,
	V3_CREATE,
	V3_MKDIR,
	V3_SYMLINK,
	V3_MKNOD,
	V3_REMOVE,
	V3_RMDIR,
	V3_RENAME,
	V3_LINK,
	V3_READDIR,
	V3_READDIRPLUS,
	V3_FSSTAT,
	V3_FSINFO,
	V3_PATHCONF,
	V3_COMMIT,
	V3_PROCS
};

enum v4_op { /* RFC 7530 section 16 */
	OP_ACCESS = 3,
	OP_CLOSE,
	OP_COMMIT,
	OP_CREATE,
	OP_DELEGPURGE,
	OP_DELEGRETURN,
	OP_GETATTR,
	OP_GETFH,
	OP_LINK,
	OP_LOCK,
	OP_LOCKT,
	OP_LOCKU,
	OP_LOOKUP,
	OP_LOOKUPP,
	OP_NVERIFY,
	OP_OPEN,
	OP_OPENATTR,
	OP_OPEN_CONFIRM,
	OP_OPEN_DOWNGRADE,
	OP_PUTFH,
	OP_PUTPUBFH,
	OP_PUTROOTFH,
	OP_READ,
	OP_READDIR,
	OP_READLINK,
	OP_REMOVE,
	OP_RENAME,
	OP_RENEW,
	OP_RESTOREFH,
	OP_SAVEFH,
	OP_SECINFO,
	OP_SETATTR,
	OP_SETCLIENTID,
	OP_SETCLIENTID_CONFIRM,
	OP_VERIFY,
	OP_WRITE,
	OP_RELEASE_LOCKOWNER,
	OP_LIMIT,
	OP_ILLEGAL = 10044
};

/* The values that v3 and v4 share carry one name here. */
enum status {
	ST_OK = 0,
	ST_PERM = 1,
	ST_NOENT = 2,
	ST_IO = 5,
	ST_NXIO = 6,
	ST_ACCES = 13,
	ST_EXIST = 17,
	ST_XDEV = 18,
	ST_NOTDIR = 20,
	ST_ISDIR = 21,
	ST_INVAL = 22,
	ST_FBIG = 27,
	ST_NOSPC = 28,
	ST_ROFS = 30,
	ST_MLINK = 31,
	ST_NAMETOOLONG = 63,
	ST_NOTEMPTY = 66,
	ST_DQUOT = 69,
	ST_STALE = 70,
	ST_BADHANDLE = 10001,
	ST_NOT_SYNC = 10002,
	ST_BAD_COOKIE = 10003,
	ST_NOTSUPP = 10004,
	ST_TOOSMALL = 10005,
	ST_SERVERFAULT = 10006,
	ST_BADTYPE = 10007,
	ST_DELAY = 10008,
	ST_SAME = 10009,
	ST_DENIED = 10010,
	ST_EXPIRED = 10011,
	ST_LOCKED = 10012,
	ST_GRACE = 10013,
	ST_SHARE_DENIED = 10015,
	ST_CLID_INUSE = 10017,
	ST_RESOURCE = 10018,
	ST_NOFILEHANDLE = 10020,
	ST_MINOR_VERS_MISMATCH = 10021,
	ST_STALE_CLIENTID = 10022,
	ST_STALE_STATEID = 10023,
	ST_OLD_STATEID = 10024,
	ST_BAD_STATEID = 10025,
	ST_BAD_SEQID = 10026,
	ST_NOT_SAME = 10027,
	ST_SYMLINK = 10029,
	ST_RESTOREFH = 10030,
	ST_ATTRNOTSUPP = 10032,
	ST_NO_GRACE = 10033,
	ST_BADXDR = 10036,
	ST_LOCKS_HELD = 10037,
	ST_OPENMODE = 10038,
	ST_BADOWNER = 10039,
	ST_BADNAME = 10041,
	ST_LOCK_NOTSUPP = 10043,
	ST_OP_ILLEGAL = 10044,
};

/* NULL or -1 for what has no name or number. */
const char *v3_name(uint32_t proc);
const char *v4_name(uint32_t op);
const char *mount_name(uint32_t proc);
int v3_number(const char *name);
int v4_number(const char *name);
int mount_number(const char *name);

const char *status_name(uint32_t status); /* "10099" for an unknown one */
int64_t status_number(const char *name);  /* a number is taken as it is */
uint32_t status_of_errno(int e);

#endif
