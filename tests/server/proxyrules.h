/* The proxy's rules, its commands and its main program. */
#ifndef SERVER_PROXYRULES_H
#define SERVER_PROXYRULES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct about { /* what a record belongs to */
	uint32_t prog, vers, proc;
	size_t length; /* of the request, with its record mark */
	bool reply;
};

enum proxy_cut { CUT_NONE, CUT_BEFORE, CUT_MIDDLE, CUT_AFTER, CUT_RANDOM };

struct deed {
	enum proxy_cut cut;
	bool reset, drop, duplicate;
	uint64_t delay; /* ms */
};

void proxy_match(const struct about *about, struct deed *deed);

/* proxy.c */
int proxy_start(int port, const char *host, int to); /* the port */
const char *proxy_refuse(bool on);
void proxy_stall(bool on);
void proxy_cut_all(bool reset);
void proxy_print(FILE *out);

#endif
