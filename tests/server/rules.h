/* The script: rules that say what goes wrong, and when. See --help. */
#ifndef SERVER_RULES_H
#define SERVER_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum verb {
	F_REPLY,	 /* status instead of executing */
	F_EXECUTED,	 /* with F_REPLY: execute all the same */
	F_RPC,		 /* enum rpc_fault */
	F_DROP,		 /* executed, no reply */
	F_IGNORE,	 /* neither executed nor answered */
	F_CUT,		 /* enum cut */
	F_HOLD,		 /* HOLD_BEFORE or HOLD_AFTER execution, until told */
	F_DELAY,	 /* ms before execution */
	F_LATE,		 /* ms between execution and reply */
	F_SHORT,	 /* WRITE stores, READ gives, at most that many bytes */
	F_NOT_STORED,	 /* WRITE says success and stores nothing */
	F_COMMITTED,	 /* stable_how in the reply */
	F_VERIFIER,	 /* a new write verifier from this call on */
	F_NO_ATTRIBUTES, /* attributes absent from the reply */
	F_SIZE,		 /* size in the attributes of the reply */
	F_COUNT,	 /* count in the reply of WRITE and READ */
	F_RANGE_OFFSET,	 /* of the conflicting lock in a DENIED */
	F_RANGE_LENGTH,
	F_APPEND_OTHER, /* bytes that another host appends before this */
	F_TRUNCATE_OTHER,
	F_REMOVE_OTHER,
	F_TRUNCATE_XDR, /* bytes missing at the reply's end */
	F_OVERSIZE_XDR, /* bytes too many at the reply's end */
	F_WORD_AT,	/* byte offset in the RPC result of ... */
	F_WORD,		/* ... this 32-bit word */
	F_GARBAGE,	/* that many random bytes instead of a record */
	F_GARBAGE_BODY, /* ... instead of the RPC result */
	F_WRONG_XID,
	F_DUPLICATE, /* the reply is sent twice */
	F_MARK,	     /* that record mark (RFC 5531 section 11) */
	F_FRAGMENT,  /* reply in fragments of at most that many bytes */
	F_VERBS
};

enum cut { CUT_BEFORE, CUT_REQUEST, CUT_AFTER, CUT_REPLY };
/* accept_stat, and the two reasons of MSG_DENIED (RFC 5531 section 9) */
enum rpc_fault {
	RPC_SUCCESS,
	RPC_PROG_UNAVAIL,
	RPC_PROG_MISMATCH,
	RPC_PROC_UNAVAIL,
	RPC_GARBAGE_ARGS,
	RPC_SYSTEM_ERR,
	RPC_MISMATCH = 100,
	RPC_AUTH_ERROR
};

enum { HOLD_BEFORE, HOLD_AFTER };

struct fault {
	struct {
		bool set;
		uint64_t v;
	} of[F_VERBS];
	uint32_t rules[4]; /* that fired, for the log */
	int n_rules;
};

enum level { LEVEL_MOUNT, LEVEL_V3, LEVEL_V4, LEVEL_OP };

struct event {
	enum level level;
	uint32_t number;  /* procedure or operation */
	const char *file; /* last path component, or NULL */
	uint64_t ops;	  /* LEVEL_V4: bit per operation of the compound */
	bool partial;	  /* in the middle of the request */
};

/* Counts the event in every rule that it meets, and merges what fires. */
void rules_match(const struct event *e, struct fault *into);
bool rules_want_partial(void);
void fault_merge(struct fault *into, const struct fault *from);

const char *rules_add(char *rest); /* the line after "on"; or the cause */
const char *rules_delete(char *rest);
void rules_clear(void);
void rules_print(FILE *out);
void rules_help(FILE *out);

#endif
