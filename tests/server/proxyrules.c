#include "proxyrules.h"

#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "loop.h"
#include "names.h"
#include "when.h"

struct rule {
	struct rule *next;
	uint32_t id;
	char *text; /* owned */
	bool request, reply;
	int v3, v4;	 /* procedure, -1 none; both -1: any */
	uint64_t longer; /* the request has at least that many bytes */
	struct when when;
	struct deed deed;
};

static struct rule *rules;
static uint32_t last_id;
static uint64_t delays[2]; /* ms, for each request, each reply */

static bool meets(const struct rule *r, const struct about *a)
{
	int proc = a->vers == 4 ? r->v4 : r->v3;

	if (!(a->reply ? r->reply : r->request) || a->length < r->longer)
		return false;
	if (r->v3 < 0 && r->v4 < 0)
		return true;
	return a->prog == PROG_NFS && (uint32_t)proc == a->proc;
}

void proxy_match(const struct about *a, struct deed *deed)
{
	struct rule *r;

	deed->delay = delays[a->reply];
	for (r = rules; r; r = r->next) {
		if (!meets(r, a) || !when_fires(&r->when))
			continue;
		if (r->deed.cut == CUT_RANDOM)
			deed->cut = CUT_BEFORE + when_random() % 3;
		else if (r->deed.cut)
			deed->cut = r->deed.cut;
		deed->reset |= r->deed.reset;
		deed->drop |= r->deed.drop;
		deed->duplicate |= r->deed.duplicate;
		deed->delay += r->deed.delay;
	}
}

static const char *take_word(struct rule *r, const char *word, char **rest)
{
	static const char *const cuts[] = {
		"", "before", "middle", "after", "random"};
	int i, taken = when_parse(&r->when, word, rest);

	if (taken)
		return taken > 0 ? NULL : "bad number";
	if (!strcmp(word, "drop")) {
		r->deed.drop = true;
	} else if (!strcmp(word, "duplicate")) {
		r->deed.duplicate = true;
	} else if (!strcmp(word, "reset")) {
		r->deed.reset = true;
	} else if (!strcmp(word, "delay")) {
		return parse_ms(next_word(rest), &r->deed.delay) ? NULL
								 : "bad time";
	} else if (!strcmp(word, "longer")) {
		return parse_number(next_word(rest), &r->longer) ? NULL
								 : "bad number";
	} else if (!strcmp(word, "cut")) {
		word = next_word(rest);
		for (i = 1; word && i < 5; i++)
			if (!strcmp(word, cuts[i]))
				r->deed.cut = i;
		return r->deed.cut ? NULL : "cut before|middle|after|random";
	} else if (!strcmp(word, "COMPOUND")) {
		r->v4 = 1;
	} else {
		r->v3 = v3_number(word);
		return r->v3 >= 0 ? NULL : "unknown word";
	}
	return NULL;
}

static void free_rule(struct rule *r)
{
	free(r->text);
	free(r);
}

static const char *add(char *rest)
{
	struct rule **at = &rules, *r = calloc(1, sizeof(*r));
	const char *bad = NULL;
	char *word;

	if (!r)
		err(1, "rule");
	r->text = strdup(rest ? rest : "");
	r->when = WHEN_ALWAYS;
	r->v3 = r->v4 = -1;
	word = next_word(&rest);
	r->request = word && (!strcmp(word, "request") || !strcmp(word, "any"));
	r->reply = word && (!strcmp(word, "reply") || !strcmp(word, "any"));
	if (!r->request && !r->reply)
		bad = "on request|reply|any";
	while (!bad && (word = next_word(&rest)))
		bad = take_word(r, word, &rest);
	if (bad) {
		free_rule(r);
		return bad;
	}
	r->id = ++last_id;
	while (*at)
		at = &(*at)->next;
	*at = r;
	return NULL;
}

static void clear(void)
{
	struct rule *r;

	while ((r = rules)) {
		rules = r->next;
		free_rule(r);
	}
	delays[0] = delays[1] = 0;
}

static void print(FILE *out)
{
	struct rule *r;

	proxy_print(out);
	for (r = rules; r; r = r->next)
		fprintf(out, "rule %u seen %lu fired %lu: on %s\n", r->id,
			r->when.seen, r->when.fired, r->text);
}

static const char *delay(char *rest)
{
	char *word = next_word(&rest);
	uint64_t ms;

	if (!word || !parse_ms(next_word(&rest), &ms))
		return "delay request|reply|any TIME";
	if (!strcmp(word, "request") || !strcmp(word, "any"))
		delays[0] = ms;
	if (!strcmp(word, "reply") || !strcmp(word, "any"))
		delays[1] = ms;
	return NULL;
}

static const char *on_off(char *rest, bool *on)
{
	char *word = next_word(&rest);

	*on = word && !strcmp(word, "on");
	return *on || (word && !strcmp(word, "off")) ? NULL : "on or off";
}

static const char *command(char *line, FILE *out)
{
	char *rest = line, *word = next_word(&rest);
	const char *bad = NULL;
	bool on;

	if (!word)
		return NULL;
	if (!strcmp(word, "on"))
		return add(rest);
	if (!strcmp(word, "delay"))
		return delay(rest);
	if (!strcmp(word, "clear")) {
		clear();
	} else if (!strcmp(word, "cut")) {
		word = next_word(&rest);
		proxy_cut_all(word && !strcmp(word, "reset"));
	} else if (!strcmp(word, "stall")) {
		bad = on_off(rest, &on);
		if (!bad)
			proxy_stall(on);
	} else if (!strcmp(word, "refuse")) {
		bad = on_off(rest, &on);
		if (!bad)
			bad = proxy_refuse(on);
	} else if (!strcmp(word, "status")) {
		print(out);
	} else if (!strcmp(word, "quit")) {
		loop_stop();
	} else {
		return "unknown command";
	}
	return bad;
}

static const char help[] =
	"Usage: proxy [OPTION]... --to ADDRESS:PORT\n"
	"       proxy --send SOCKET COMMAND...\n"
	"Forwards connections of a loopback port, and breaks them as told. "
	"Prints\n"
	"\"port N\" when it is ready, and counts at its end.\n"
	"\n"
	"  --to ADDRESS:PORT   the server\n"
	"  --port N            (default: any free one)\n"
	"  --script FILE       commands to begin with\n"
	"  --control SOCKET    unix socket that takes commands\n"
	"  --fifo PATH         FIFO that takes commands\n"
	"  --stdin             takes commands from standard input\n"
	"  --seed N            of rates and random cuts\n"
	"\n"
	"Commands:\n"
	"  on request|reply|any [PROCEDURE] [longer N] [WHEN]... FAULT...\n"
	"  delay request|reply|any TIME (each record)\n"
	"  cut [reset] (all connections); stall on|off (forwards nothing);\n"
	"  refuse on|off (the port is closed); clear; status; quit\n"
	"PROCEDURE: of NFSv3 (WRITE) or COMPOUND; a reply belongs to its "
	"call's.\n"
	"longer N: the request has at least N bytes.\n"
	"WHEN: nth N (from the Nth on; once, unless times), every N, times N, "
	"rate P.\n"
	"FAULT: drop; duplicate; delay TIME; cut before|middle|after|random "
	"(of the\n"
	"record), with reset: by RST.\n"
	"Example:\n"
	"  on reply WRITE every 7 cut before\n"
	"  on any rate 0.01 cut random\n";

enum { TO = 256, PORT, SCRIPT, CONTROL, FIFO, STDIN, SEED, SEND, HELP };

static const struct option longs[] = {{"to", 1, NULL, TO},
	{"port", 1, NULL, PORT}, {"script", 1, NULL, SCRIPT},
	{"control", 1, NULL, CONTROL}, {"fifo", 1, NULL, FIFO},
	{"stdin", 0, NULL, STDIN}, {"seed", 1, NULL, SEED},
	{"send", 1, NULL, SEND}, {"help", 0, NULL, HELP}, {0}};

static uint64_t number(const char *text)
{
	uint64_t v;

	if (!parse_number(text, &v))
		errx(2, "%s: not a number", text);
	return v;
}

int main(int argc, char **argv)
{
	char *to = NULL, *colon;
	int o, port = 0;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (o) {
		case TO:
			to = optarg;
			break;
		case PORT:
			port = number(optarg);
			break;
		case SCRIPT:
			if (control_file(optarg, command))
				return 2;
			break;
		case CONTROL:
			control_socket(optarg, command);
			break;
		case FIFO:
			control_fifo(optarg, command);
			break;
		case STDIN:
			control_stdin(command);
			break;
		case SEED:
			when_seed(number(optarg));
			break;
		case SEND:
			return control_send(
				optarg, argc - optind, argv + optind);
		case HELP:
			fputs(help, stdout);
			return 0;
		default:
			fputs("Try --help.\n", stderr);
			return 2;
		}
	}
	colon = to ? strchr(to, ':') : NULL;
	if (!colon) {
		fputs(help, stderr);
		return 2;
	}
	*colon = 0;
	printf("port %d\n", proxy_start(port, to, number(colon + 1)));
	fflush(stdout);
	loop_run();
	proxy_print(stdout);
	clear();
	return 0;
}
