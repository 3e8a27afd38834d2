#include "when.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

void when_seed(uint64_t seed)
{
	state = seed;
}

/* splitmix64: the same faults for the same seed on every machine. */
uint64_t when_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

char *next_word(char **rest)
{
	char *word;

	do
		word = strsep(rest, " \t\r\n");
	while (word && !*word);
	return word;
}

static bool number_and_end(const char *word, uint64_t *out, char **end)
{
	if (!word || *word < '0' || *word > '9')
		return false;
	errno = 0;
	*out = strtoull(word, end, 0);
	return !errno;
}

bool parse_number(const char *word, uint64_t *out)
{
	char *end;

	if (!number_and_end(word, out, &end))
		return false;
	if (!strcmp(end, "k"))
		*out <<= 10;
	else if (!strcmp(end, "M"))
		*out <<= 20;
	else
		return !*end;
	return true;
}

bool parse_ms(const char *word, uint64_t *out)
{
	char *end;

	if (!number_and_end(word, out, &end))
		return false;
	if (!strcmp(end, "s"))
		*out *= 1000;
	else
		return !*end || !strcmp(end, "ms");
	return true;
}

int when_parse(struct when *w, const char *word, char **rest)
{
	char *value, *end;
	uint64_t *number;

	if (!strcmp(word, "rate")) {
		value = next_word(rest);
		if (!value)
			return -1;
		w->rate = strtod(value, &end);
		return *end || w->rate < 0 || w->rate > 1 ? -1 : 1;
	}
	if (!strcmp(word, "nth"))
		number = &w->nth;
	else if (!strcmp(word, "every"))
		number = &w->every;
	else if (!strcmp(word, "times"))
		number = &w->times;
	else
		return 0;
	return parse_number(next_word(rest), number) && *number ? 1 : -1;
}

bool when_fires(struct when *w)
{
	uint64_t limit = w->times ? w->times : w->nth && !w->every ? 1 : 0;

	w->seen++;
	if (limit && w->fired >= limit)
		return false;
	if (w->seen < w->nth)
		return false;
	if (w->every && (w->seen - w->nth) % w->every)
		return false;
	if (w->rate >= 0 &&
		(double)(when_random() >> 11) / (1ULL << 53) >= w->rate)
		return false;
	w->fired++;
	return true;
}
