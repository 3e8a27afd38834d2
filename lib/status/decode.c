/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

#include "core/segment_file.h"
#include "status/decode.h"

#define BOOT_ID 36 /* characters; then a dot */

/* A snapshot is nobody's but ours: plain values. */
#define VALUE(atomic) atomic_load_explicit(&(atomic), memory_order_relaxed)

static void text(char *to, size_t room, const char *from)
{
	memcpy(to, from, room - 1);
	to[room - 1] = '\0';
}

/* Whose is it? Of another boot its clock and processes mean nothing. */
static bool is_of_this_boot(const struct nfsappend_segment *s, bool *here)
{
	const char *host = nfsappend_segment_host();
	size_t n = strlen(host);

	if (s->keylen < n || s->keylen > sizeof s->key || n <= BOOT_ID)
		return false;
	*here = memcmp(s->key, host, n) == 0;
	return memcmp(s->key, host, BOOT_ID + 1) == 0;
}

/* The thread that has the leader lock, as glibc writes it into the futex of a
 * robust mutex (its ABI: nptl's lock word, 0 when free). */
static int32_t leader_of(const struct nfsappend_segment *s)
{
	const pthread_mutex_t *lock =
		&s->leaders[VALUE(s->reign) % NFSAPPEND_LEADS];
	uint32_t word;

	memcpy(&word, lock, sizeof word);
	return word & FUTEX_OWNER_DIED ? 0 : (int32_t)(word & FUTEX_TID_MASK);
}

static void describe(
	const struct nfsappend_segment *s, struct nfsappend_shown *out)
{
	static const char *const modes[] = {"single", "guarded", "locked"};
	const struct nfsappend_figures *f = &s->figures;
	uint32_t mode = VALUE(s->sharing);

	text(out->path, sizeof out->path, f->path);
	text(out->server, sizeof out->server, f->server);
	out->protocol = f->mounted && VALUE(s->kernel_served) ? "kernel"
			: f->version == 4			    ? "v4.0"
			: f->version == 3			    ? "v3"
							    : "?";
	out->sharing = mode < 3 ? modes[mode] : "?";
	out->size_known = s->size_known != 0;
	out->size = s->size;
	out->leader = leader_of(s);
	out->in_doubt = s->pending != NFSAPPEND_SETTLED && out->leader == 0;
	out->crowded = VALUE(s->crowded) != 0;
	for (unsigned i = 0; i < NFSAPPEND_USERS; i++) {
		int32_t pid = VALUE(s->users[i]);

		if (pid > 0)
			out->users[out->user_count++] = pid;
	}
}

static int64_t ago(int64_t now, int64_t then)
{
	return then > 0 && then < now ? now - then : 0;
}

static void count(const struct nfsappend_figures *f, int64_t now,
	struct nfsappend_shown *out)
{
	out->age_ns = ago(now, f->made);
	out->last_ns = f->last != 0 ? ago(now, f->last) : -1;
	out->appends = VALUE(f->appends);
	out->bytes = VALUE(f->bytes);
	out->rpcs = VALUE(f->rpcs);
	out->write_rpcs = VALUE(f->write_rpcs);
	out->lookup_rpcs = VALUE(f->lookup_rpcs);
	out->batches = f->batches;
	out->batched_max = f->batched_max;
	out->retries = VALUE(f->retries);
	out->conflicts = VALUE(f->conflicts);
	out->reconnects = VALUE(f->reconnects);
	out->errors = VALUE(f->errors);
	out->mean_us = f->batches != 0 ? f->took / f->batches / 1000 : 0;
	out->max_us = f->took_max / 1000;
	memcpy(out->took_us, f->took_us, sizeof out->took_us);
}

enum nfsappend_decoded nfsappend_status_decode(
	const struct nfsappend_segment *head, int64_t now,
	struct nfsappend_shown *out)
{
	memset(out, 0, sizeof *out);
	if (head->magic != NFSAPPEND_SEGMENT_MAGIC || head->ready == 0 ||
		!is_of_this_boot(head, &out->here))
		return NFSAPPEND_DECODED_STRANGE;
	if (VALUE(head->figures.named) != NFSAPPEND_NAMED)
		return NFSAPPEND_DECODED_OTHER;
	describe(head, out);
	count(&head->figures, now, out);
	return NFSAPPEND_DECODED_FILE;
}

bool nfsappend_status_has_queue(const struct nfsappend_segment *head)
{
	return VALUE(head->queue_ready) != 0;
}

void nfsappend_status_queue(
	const uint64_t words[NFSAPPEND_SLOTS], struct nfsappend_shown *out)
{
	for (unsigned i = 0; i < NFSAPPEND_SLOTS; i++) {
		switch (words[i] & 0xff) {
		case NFSAPPEND_SLOT_QUEUED:
			out->queued++;
			break;
		case NFSAPPEND_SLOT_TAKEN:
			out->sending++;
			break;
		default:
			break;
		}
	}
}
