/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches over calls into Lua. Counting instructions makes each one twice as slow, so a call
 * begins without: a timer of the thread's CPU time looks every 20 ms whether the same call still
 * runs, and only then has its instructions counted. What the library of Lua does in C counts
 * nothing (a pattern can take longer than anybody lives): there the time is the limit. Such a call
 * is left by a jump out of the signal handler, when the thread is in the object that has Lua's code
 * and not in the C library, so holds no lock. What the chisel had is not used again, nor freed.
 */
#ifndef SINSP_CHISEL_CHISEL_WATCH_H
#define SINSP_CHISEL_CHISEL_WATCH_H

#include <lua.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

struct chisel_terminal;
struct sinsp_chisel_run;

enum { CHISEL_WATCH_STEP = 1000 }; /* instructions between two looks of the hook */

struct chisel_watch {
	const struct sinsp_chisel_run *run;
	const char *name; /* of the chisel: borrowed */
	const struct chisel_terminal *terminal; /* of the chisel, too */
	lua_State *L; /* NULL: nothing is watched */
	lua_Hook hook; /* is to count, and to end what went too far */
	volatile sig_atomic_t n_ticks; /* that passed during the call */
	volatile sig_atomic_t counts;
	sig_atomic_t max_ticks; /* of a call that obeys its hook */
	sigjmp_buf out; /* of the call, without its signal mask */
};

/* 0 or a negative errno. Once for each watch, by the thread that calls. */
int chisel_watch_init(struct chisel_watch *w, const struct sinsp_chisel_run *run, const char *name,
		      const struct chisel_terminal *terminal, lua_State *L, lua_Hook hook);
void chisel_watch_fini(struct chisel_watch *w);

/* How long a call may take: as long as its instructions would on a slow machine. */
int chisel_watch_seconds(const struct chisel_watch *w);

/* Around each call. */
extern _Thread_local struct chisel_watch *volatile chisel_watched;

static inline void chisel_watch_begin(struct chisel_watch *w)
{
	w->n_ticks = 0;
	chisel_watched = w;
}

/* After the jump, which came from a handler. */
void chisel_watch_left(struct chisel_watch *w);

static inline void chisel_watch_end(struct chisel_watch *w)
{
	chisel_watched = NULL;
	if (!w->counts)
		return;
	w->counts = 0;
	lua_sethook(w->L, NULL, 0, 0);
}

static inline int chisel_watch_is_late(const struct chisel_watch *w)
{
	return w->n_ticks > w->max_ticks;
}

#endif /* SINSP_CHISEL_CHISEL_WATCH_H */
