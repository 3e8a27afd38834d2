/*
 * Lines of commands: from a file before the start, from a FIFO or stdin, and
 * from a unix socket, where each line is answered by what the command printed
 * and a last line "ok" or "error: CAUSE".
 */
#ifndef SERVER_CONTROL_H
#define SERVER_CONTROL_H

#include <stdio.h>

/* Splits are the command's own: it may write into the line. Returns NULL, or
 * the cause of a failure. Prints to out what the caller asked for. */
typedef const char *command_fn(char *line, FILE *out);

int control_file(const char *path, command_fn *fn); /* number of bad lines */
void control_stdin(command_fn *fn);
void control_fifo(const char *path, command_fn *fn);   /* made if absent */
void control_socket(const char *path, command_fn *fn); /* made anew */

/* Client's side: sends the lines, prints the answers; 0 when all are ok. */
int control_send(const char *path, int n, char **lines);

#endif
