/* What the files of the raw client share. */
#ifndef SERVER_RAW_H
#define SERVER_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

struct reply {
	bool done;
	int rpc_status;
	uint32_t status;
	uint32_t size_known, count, committed;
	uint64_t size, verifier;
};

struct handle {
	uint32_t len;
	char v[128];
};

extern struct rpc_context *rpc;

const char *raw_wait(struct reply *r);
void raw_connect(void);
char *raw_bytes(size_t len); /* the same for the same length */
unsigned long raw_number(const char *text);

#define RAW3_HELP                                                              \
	"v3: mount PATH; create NAME; lookup NAME; getattr; read OFFSET "      \
	"COUNT;\n"                                                             \
	"    write OFFSET COUNT [unstable|datasync]; commit; remove NAME\n"
#define RAW4_HELP                                                              \
	"v4: client ID VERIFIER; open DIR NAME; append COUNT (one compound "   \
	"with a lock);\n"                                                      \
	"    again (the same bytes); fixed (COUNT at the true size, after "    \
	"NOT_SAME);\n"                                                         \
	"    late COUNT (under the last open or lock stateid: latelock);\n"    \
	"    resync; unlock; close; renew; anonymous COUNT; size N;\n"         \
	"    reopen, relock (reclaim in grace); locktest (whole file); "       \
	"release (the lock owner)\n"

bool raw3_command(const char *name, char ***at);
bool raw4_command(const char *name, char ***at);

#endif
