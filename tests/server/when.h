/*
 * When a rule fires: the part of a rule's line that the scripted server and
 * the proxy share.
 *
 *   nth N      from the Nth match on (one match, unless "times")
 *   every N    each Nth match
 *   rate P     with probability P (0..1), by --seed
 *   times N    at most N firings
 *
 * Without any of them a rule fires at each match.
 */
#ifndef SERVER_WHEN_H
#define SERVER_WHEN_H

#include <stdbool.h>
#include <stdint.h>

struct when {
	uint64_t nth, every, times; /* 0: not given */
	double rate;		    /* negative: not given */
	uint64_t seen, fired;
};

#define WHEN_ALWAYS ((struct when){.rate = -1})

/* Looks whether `word` is one of the above and takes its value from *rest.
 * Returns 1 taken, 0 not ours, -1 bad value. */
int when_parse(struct when *w, const char *word, char **rest);

bool when_fires(struct when *w); /* counts one match */

void when_seed(uint64_t seed);
uint64_t when_random(void);

/* Words of a line, separated by blanks; NULL at the end. */
char *next_word(char **rest);
bool parse_number(const char *word, uint64_t *out); /* decimal, 0x, k, M */
bool parse_ms(const char *word, uint64_t *out);	    /* 200ms, 3s, 200 */

#endif
