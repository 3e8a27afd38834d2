/* What the raw client's NFSv4.0 files share. */
#ifndef SERVER_RAW4_H
#define SERVER_RAW4_H

#include "raw.h"

/* From the replies. */
extern struct handle file;
extern uint64_t clientid, confirm;
extern stateid4 open_id, seen_lock;
extern uint64_t believed; /* the file's size */
extern uint32_t flags;	  /* of OPEN */

/* The compound to send: n_ops = 0, then one op after the other. It stays as it
 * is, so that the same bytes can go again. */
extern int n_ops;
nfs_argop4 *op(int number);
void putfh(void);
/* Sends it and prints what came back; its status, or -1. */
int run(const char *name, bool quiet);

#endif
