#include "rules.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "when.h"

struct rule {
	struct rule *next;
	uint32_t id;
	char *text;    /* owned; as it was given */
	char *file;    /* owned, or NULL: any */
	bool any;      /* "*": each call of its programs */
	int number[4]; /* by enum level; -1: does not match there */
	uint64_t ops;  /* one of these operations must be in the compound */
	struct when when;
	struct fault fault;
};

static struct rule *rules; /* in order of arrival */
static uint32_t last_id;

/* A word and what it stands for. */
struct word {
	const char *name;
	uint64_t v;
};

static const struct word cuts[] = {{"before", CUT_BEFORE}, {"here", CUT_BEFORE},
	{"middle-of-request", CUT_REQUEST}, {"after-execute", CUT_AFTER},
	{"middle-of-reply", CUT_REPLY}, {0}};
static const struct word holds[] = {
	{"before", HOLD_BEFORE}, {"after", HOLD_AFTER}, {0}};
static const struct word stables[] = {
	{"UNSTABLE", 0}, {"DATA_SYNC", 1}, {"FILE_SYNC", 2}, {0}};
static const struct word rpcs[] = {{"PROG_UNAVAIL", RPC_PROG_UNAVAIL},
	{"PROG_MISMATCH", RPC_PROG_MISMATCH},
	{"PROC_UNAVAIL", RPC_PROC_UNAVAIL}, {"GARBAGE_ARGS", RPC_GARBAGE_ARGS},
	{"SYSTEM_ERR", RPC_SYSTEM_ERR}, {"RPC_MISMATCH", RPC_MISMATCH},
	{"AUTH_ERROR", RPC_AUTH_ERROR}, {0}};
static const struct word changes[] = {{"change", 1}, {0}};

enum kind { FLAG, NUMBER, MS, WORD, WORD_OR_NUMBER, STATUS };

static const struct {
	const char *name;
	enum verb verb;
	enum kind kind;
	const struct word *words;
	const char *help;
} verbs[] = {
	{"reply", F_REPLY, STATUS, NULL,
		"STATUS (NOSPC, JUKEBOX, 10013 ...), nothing executed"},
	{"executed", F_EXECUTED, FLAG, NULL,
		"with reply: executed all the same"},
	{"rpc-reply", F_RPC, WORD, rpcs,
		"PROG_UNAVAIL|PROG_MISMATCH|PROC_UNAVAIL|GARBAGE_ARGS|\n"
		"                      SYSTEM_ERR|RPC_MISMATCH|AUTH_ERROR"},
	{"drop", F_DROP, FLAG, NULL, "executed, no reply"},
	{"ignore", F_IGNORE, FLAG, NULL, "not executed, no reply"},
	{"cut", F_CUT, WORD, cuts,
		"before|middle-of-request|after-execute|middle-of-reply:\n"
		"                      the connection ends there"},
	{"hold", F_HOLD, WORD, holds,
		"before|after execution, until the command \"release\""},
	{"delay", F_DELAY, MS, NULL, "TIME before execution (1ms, 2s)"},
	{"late", F_LATE, MS, NULL, "TIME between execution and reply"},
	{"short", F_SHORT, NUMBER, NULL, "WRITE and READ stop after N bytes"},
	{"not-stored", F_NOT_STORED, FLAG, NULL,
		"WRITE says success and stores nothing"},
	{"committed", F_COMMITTED, WORD_OR_NUMBER, stables,
		"UNSTABLE|DATA_SYNC|FILE_SYNC or a number"},
	{"verifier", F_VERIFIER, WORD, changes,
		"change: another write verifier from this call on"},
	{"no-attributes", F_NO_ATTRIBUTES, FLAG, NULL,
		"attributes absent from the reply"},
	{"size", F_SIZE, NUMBER, NULL, "the size that attributes tell"},
	{"count", F_COUNT, NUMBER, NULL, "the count that WRITE or READ tells"},
	{"append-other", F_APPEND_OTHER, NUMBER, NULL,
		"another host appends N bytes just before this call"},
	{"truncate-other", F_TRUNCATE_OTHER, NUMBER, NULL,
		"another host sets the size to N just before"},
	{"remove-other", F_REMOVE_OTHER, FLAG, NULL,
		"another host removes the file just before"},
	{"truncate-xdr", F_TRUNCATE_XDR, NUMBER, NULL,
		"the reply ends N bytes early"},
	{"oversize-xdr", F_OVERSIZE_XDR, NUMBER, NULL,
		"N bytes more behind the reply, in its record"},
	{"garbage", F_GARBAGE, NUMBER, NULL,
		"N random bytes in place of the record"},
	{"garbage-body", F_GARBAGE_BODY, NUMBER, NULL,
		"N random bytes in place of the result"},
	{"wrong-xid", F_WRONG_XID, FLAG, NULL, "a reply to nobody's call"},
	{"duplicate-reply", F_DUPLICATE, FLAG, NULL, "the reply twice"},
	{"mark", F_MARK, NUMBER, NULL, "that word as the record mark"},
	{"fragment", F_FRAGMENT, NUMBER, NULL,
		"the reply in fragments of N bytes"},
};

void fault_merge(struct fault *into, const struct fault *from)
{
	int i;

	for (i = 0; i < F_VERBS; i++)
		if (from->of[i].set)
			into->of[i] = from->of[i];
	for (i = 0; i < from->n_rules && into->n_rules < 4; i++)
		into->rules[into->n_rules++] = from->rules[i];
}

static bool meets(const struct rule *r, const struct event *e)
{
	bool partial =
		r->fault.of[F_CUT].set && r->fault.of[F_CUT].v == CUT_REQUEST;

	if (partial != e->partial || r->number[e->level] < 0)
		return false;
	if (!r->any && (uint32_t)r->number[e->level] != e->number)
		return false;
	if (r->file && (!e->file || strcmp(r->file, e->file)))
		return false;
	return !r->ops || r->ops & e->ops;
}

void rules_match(const struct event *e, struct fault *into)
{
	struct rule *r;

	for (r = rules; r; r = r->next)
		if (meets(r, e) && when_fires(&r->when))
			fault_merge(into, &r->fault);
}

bool rules_want_partial(void)
{
	struct rule *r;

	for (r = rules; r; r = r->next)
		if (r->fault.of[F_CUT].set &&
			r->fault.of[F_CUT].v == CUT_REQUEST)
			return true;
	return false;
}

static void set(struct fault *f, enum verb verb, uint64_t v)
{
	f->of[verb].set = true;
	f->of[verb].v = v;
}

static bool find_word(const struct word *words, const char *name, uint64_t *v)
{
	for (; name && words->name; words++)
		if (!strcmp(words->name, name)) {
			*v = words->v;
			return true;
		}
	return false;
}

static bool take_value(int i, char **rest, uint64_t *v)
{
	char *word;
	int64_t status;

	if (verbs[i].kind == FLAG) {
		*v = 1;
		return true;
	}
	word = next_word(rest);
	if (!word)
		return false;
	switch (verbs[i].kind) {
	case NUMBER:
		return parse_number(word, v);
	case MS:
		return parse_ms(word, v);
	case STATUS:
		status = status_number(word);
		*v = status;
		return status > 0; /* an OK without a result is no reply */
	case WORD_OR_NUMBER:
		return find_word(verbs[i].words, word, v) ||
		       parse_number(word, v);
	default:
		return find_word(verbs[i].words, word, v);
	}
}

/* range OFFSET LENGTH|all */
static bool take_range(struct fault *f, char **rest)
{
	uint64_t offset, length;
	char *word;

	if (!parse_number(next_word(rest), &offset))
		return false;
	word = next_word(rest);
	if (word && !strcmp(word, "all"))
		length = UINT64_MAX;
	else if (!parse_number(word, &length))
		return false;
	set(f, F_RANGE_OFFSET, offset);
	set(f, F_RANGE_LENGTH, length);
	return true;
}

/* word OFFSET VALUE */
static bool take_word(struct fault *f, char **rest)
{
	uint64_t at, v;

	if (!parse_number(next_word(rest), &at) ||
		!parse_number(next_word(rest), &v))
		return false;
	set(f, F_WORD_AT, at);
	set(f, F_WORD, v);
	return true;
}

static const char *take_verb(struct rule *r, const char *word, char **rest)
{
	int taken = when_parse(&r->when, word, rest);
	uint64_t v;
	size_t i;

	if (taken)
		return taken > 0 ? NULL : "bad number";
	if (!strcmp(word,
		    "before-execute")) /* reads well before append-other */
		return NULL;
	if (!strcmp(word, "range"))
		return take_range(&r->fault, rest) ? NULL : "bad range";
	if (!strcmp(word, "word"))
		return take_word(&r->fault, rest) ? NULL : "bad word";
	if (!strcmp(word, "file")) {
		word = next_word(rest);
		free(r->file);
		r->file = word ? strdup(word) : NULL;
		return word ? NULL : "file without a name";
	}
	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(word, verbs[i].name)) {
			if (!take_value(i, rest, &v))
				return "missing or bad value";
			set(&r->fault, verbs[i].verb, v);
			return NULL;
		}
	return "unknown word";
}

/* [v3|v4|mount] NAME [with OP]: the name may mean several things at once. */
static const char *take_selector(struct rule *r, char **rest)
{
	static const struct word programs[] = {{"mount", 1 << LEVEL_MOUNT},
		{"v3", 1 << LEVEL_V3}, {"v4", 1 << LEVEL_V4 | 1 << LEVEL_OP},
		{0}};
	char *word = next_word(rest), *peek;
	uint64_t levels = 0xf;
	int i, op;

	if (find_word(programs, word, &levels))
		word = next_word(rest);
	if (!word)
		return "no procedure";
	if (!strcmp(word, "*")) {
		r->any = true;
		r->number[LEVEL_OP] = -1;
	} else {
		r->number[LEVEL_MOUNT] = mount_number(word);
		r->number[LEVEL_V3] = v3_number(word);
		r->number[LEVEL_V4] = !strcmp(word, "COMPOUND") ? 1
				      : !strcmp(word, "NULL")	? 0
								: -1;
		r->number[LEVEL_OP] = v4_number(word);
	}
	op = -1;
	for (i = 0; i < 4; i++) {
		if (!(levels & 1 << i))
			r->number[i] = -1;
		op = r->number[i] > op ? r->number[i] : op;
	}
	if (op < 0)
		return "no such procedure";
	peek = *rest ? *rest + strspn(*rest, " \t") : NULL;
	if (!peek || strncmp(peek, "with ", 5))
		return NULL;
	next_word(rest);
	word = next_word(rest);
	op = word ? v4_number(word) : -1;
	if (op < 0 || r->number[LEVEL_V4] != 1)
		return "\"with\" wants COMPOUND before and an operation behind";
	r->ops = 1ULL << op;
	return NULL;
}

/* What the rule wants must be known where it meets the call. */
static const char *check_level(struct rule *r)
{
	const struct fault *f = &r->fault;
	bool others = f->of[F_APPEND_OTHER].set ||
		      f->of[F_TRUNCATE_OTHER].set || f->of[F_REMOVE_OTHER].set;

	if (f->of[F_CUT].set && f->of[F_CUT].v == CUT_REQUEST) {
		/* An operation is not met before its compound is complete. */
		r->number[LEVEL_OP] = -1;
		if (r->number[LEVEL_MOUNT] < 0 && r->number[LEVEL_V3] < 0 &&
			r->number[LEVEL_V4] < 0)
			return "wants a procedure: v4 COMPOUND with OP";
	}
	if ((others || r->file) && r->number[LEVEL_V3] < 0 &&
		r->number[LEVEL_OP] < 0)
		return "a compound has no file: name an operation";
	return NULL;
}

static void free_rule(struct rule *r)
{
	free(r->text);
	free(r->file);
	free(r);
}

const char *rules_add(char *rest)
{
	struct rule **at = &rules, *r = calloc(1, sizeof(*r));
	const char *bad;
	char *word;

	if (!r)
		err(1, "rule");
	r->when = WHEN_ALWAYS;
	r->text = strdup(rest ? rest : "");
	bad = take_selector(r, &rest);
	while (!bad && (word = next_word(&rest)))
		bad = take_verb(r, word, &rest);
	if (!bad)
		bad = check_level(r);
	if (bad) {
		free_rule(r);
		return bad;
	}
	r->id = ++last_id;
	r->fault.rules[0] = r->id;
	r->fault.n_rules = 1;
	while (*at)
		at = &(*at)->next;
	*at = r;
	return NULL;
}

const char *rules_delete(char *rest)
{
	struct rule **at = &rules, *r;
	uint64_t id;

	if (!parse_number(next_word(&rest), &id))
		return "delete wants a rule's number";
	while ((r = *at) && r->id != id)
		at = &r->next;
	if (!r)
		return "no such rule";
	*at = r->next;
	free_rule(r);
	return NULL;
}

void rules_clear(void)
{
	struct rule *r;

	while ((r = rules)) {
		rules = r->next;
		free_rule(r);
	}
}

void rules_print(FILE *out)
{
	struct rule *r;

	for (r = rules; r; r = r->next)
		fprintf(out, "rule %u seen %lu fired %lu: on %s\n", r->id,
			r->when.seen, r->when.fired, r->text);
}

void rules_help(FILE *out)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(out, "  %-18s  %s\n", verbs[i].name, verbs[i].help);
	fputs("  range               OFFSET LENGTH|all of the lock that DENIED "
	      "tells\n"
	      "  word                OFFSET VALUE: that 32-bit word of the "
	      "result\n",
		out);
}
