/*
 * One poll loop: descriptors and timers. A watch or a timer may be removed
 * from within any callback.
 */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include <stdint.h>

struct watch;
struct timer;

typedef void watch_fn(void *arg, short revents);
typedef void timer_fn(void *arg);

struct watch *watch_add(int fd, short events, watch_fn *fn, void *arg);
void watch_set(struct watch *w, short events);
void watch_del(struct watch *w); /* does not close the descriptor */

/* Fires once and is gone; timer_del before that takes it away. */
struct timer *timer_add(int64_t ms, timer_fn *fn, void *arg);
void timer_del(struct timer *t);

int64_t now_us(void); /* CLOCK_MONOTONIC */
void loop_run(void);  /* until loop_stop, SIGTERM or SIGINT */
void loop_stop(void);

#endif
