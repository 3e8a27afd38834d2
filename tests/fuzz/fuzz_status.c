/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host segment that somebody has scribbled on, as nfsappend-status takes it
 * apart and shows it: JSON must be JSON, and a terminal gets nothing to obey.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/segment_file.h"
#include "read_json.h"
#include "status/show.h"

static union {
	struct nfsappend_segment segment;
	uint8_t bytes[HEAD_BYTES];
} head;

/* One that is believed, but for what the input puts there: the first byte
 * says from where on. */
static void make(const uint8_t *data, size_t size)
{
	const size_t from[] = {0, offsetof(struct nfsappend_segment, leaders),
		offsetof(struct nfsappend_segment, kernel_served),
		offsetof(struct nfsappend_segment, figures)};
	struct nfsappend_segment *s = &head.segment;
	const char *host = nfsappend_segment_host();
	size_t at = from[data[0] & 3], n = size - 1;

	memset(&head, 0, sizeof head);
	s->magic = NFSAPPEND_SEGMENT_MAGIC;
	s->ready = 1;
	s->keylen = (uint32_t)strlen(host) + 20;
	memcpy(s->key, host, strlen(host));
	if (data[0] & 4)
		s->key[40] ^= 1; /* of another PID namespace */
	if (n > sizeof head - at)
		n = sizeof head - at;
	memcpy(head.bytes + at, data + 1, n);
	if (data[0] & 3)
		s->figures.named = NFSAPPEND_NAMED;
}

static void check(const char *text, size_t len, bool is_json)
{
	const char *end = is_json ? read_json(text) : text;

	if (strlen(text) != len || end == NULL ||
		(is_json && strcmp(end, "\n") != 0))
		abort();
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c != '\n' && (c < 0x20 || c == 0x7f))
			abort();
		/* C1 control characters, as UTF-8 */
		if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nfsappend_row row;
	struct nfsappend_row *rows = &row;
	struct nfsappend_found found = {.rows = &rows, .count = 1};
	uint64_t words[NFSAPPEND_SLOTS] = {0};

	if (size < 1)
		return 0;
	make(data, size);
	memset(&row, 0, sizeof row);
	if (nfsappend_status_decode(&head.segment, INT64_C(1) << 50,
		    &row.shown) != NFSAPPEND_DECODED_FILE)
		return 0;
	if (nfsappend_status_has_queue(&head.segment)) {
		memcpy(words, data,
			size < sizeof words ? size : sizeof words);
		nfsappend_status_queue(words, &row.shown);
	}
	for (unsigned i = 0; i < row.shown.user_count; i++) {
		struct nfsappend_writer *w = &row.writers[row.writer_count++];

		w->pid = row.shown.users[i];
		w->state = (enum nfsappend_writer_state)(w->pid & 3);
		w->leads = w->pid & 4;
		memcpy(w->command, data,
			size < sizeof w->command ? size
						 : sizeof w->command - 1);
	}
	for (int json = 0; json < 2; json++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		if (json)
			nfsappend_show_json(f, &found);
		else
			nfsappend_show_table(f, &found);
		fclose(f);
		check(text, len, json);
		free(text);
	}
	return 0;
}
