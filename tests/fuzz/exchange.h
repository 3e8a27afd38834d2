/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In place of lib/nfs/exchange.c, connection.c and session.c: the server's
 * replies come from the fuzzer. Each call takes the next piece of the input.
 */
#ifndef FUZZ_EXCHANGE_H
#define FUZZ_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_XID UINT32_C(0x11223344)

struct nfsappend_session;
struct nfsappend_wait;

extern struct nfsappend_wait fuzz_wait;
extern struct nfsappend_session *fuzz_session;

void fuzz_input(const uint8_t *data, size_t size);
/* 0 when there is no more. */
uint8_t fuzz_byte(void);
/* Up to len bytes of the input; what it has not is 0. */
void fuzz_bytes(void *to, size_t len);

#endif
