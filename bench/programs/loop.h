/* The append loop and the ways to append that it can be linked with. */
#ifndef LOOP_H
#define LOOP_H
#include <stddef.h>
#include <stdint.h>

/* Shared by all workers of a run, threads or processes. */
struct shared {
	_Atomic uint64_t end; /* of the file, for by_socket.c */
};

/*
 * A way to append: one object a worker, never shared. target is a path or an
 * URL, as the way has it. All end the program with a message on failure.
 */
struct way;
struct way *way_begin(const char *target, struct shared *);
void way_open(struct way *); /* the file, made if need be */
void way_append(struct way *, const void *record, size_t);
void way_close(struct way *);

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *, ...);
#endif
