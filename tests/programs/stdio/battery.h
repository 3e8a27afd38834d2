/*
 * The stdio battery: one small function for each way in which stdio or
 * iostreams put bytes into a file.  A case appends to files in one directory,
 * and notes what the calls answered; a test runs it twice, on a local
 * directory and on a managed one, and compares files, notes and exit status.
 * So nothing that a case notes may depend on the directory's name.
 */
#ifndef BATTERY_H
#define BATTERY_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct battery_case {
	const char *name;
	/* Returns the exit status of the program, if it returns. */
	int (*run)(const char *dir);
	/*
	 * One of the documented exceptions: libc writes these bytes by a path
	 * that nothing can interpose on.  What the case writes before and after
	 * is marked by lines of its own and must arrive.
	 */
	int exception;
};

/* Each table ends with a case that has no name. */
extern const struct battery_case battery_buffer[];
extern const struct battery_case battery_error[];
extern const struct battery_case battery_message[];
extern const struct battery_case battery_open[];
extern const struct battery_case battery_position[];
extern const struct battery_case battery_printf[];
extern const struct battery_case battery_process[];
extern const struct battery_case battery_reopen[];
extern const struct battery_case battery_wide[];
extern const struct battery_case battery_cxx[];

/*
 * An observation: a line on what was standard output at start, written past
 * stdio, so that it also works while stdout is the file under test.
 */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* note() with the name of errno if ret is negative. */
void note_call(const char *what, long ret);

/* The path of a file in dir; valid until the 8th call from here. */
const char *path_in(const char *dir, const char *name);
/* Opens dir/name; never returns NULL. */
FILE *stream_in(const char *dir, const char *name, const char *mode);
/* Does what a shell does for FD>>dir/name. */
void redirect(int fd, const char *dir, const char *name);
/* A new file on a local disk that nobody manages, open for reading too. */
FILE *local_stream(void);
/* Notes what a local stream holds, and closes it. */
void note_local(FILE *local);
/* Waits for a child and notes how it ended. */
void note_child(pid_t pid);
/* Ends the program at once: the case could not be set up. */
void die(const char *what) __attribute__((noreturn));

/* All bytes of a file opened for appending land at the end, so cases start
 * with some that are there already. */
void seed(const char *dir, const char *name, const char *text);

#ifdef __cplusplus
}
#endif

#endif
