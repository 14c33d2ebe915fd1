/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the time of calls into Lua. Counting instructions halves the speed, so a call starts
 * without: a CPU-time timer of the thread checks every 20 ms whether the same call still runs, and
 * only then counts. Library functions in C count no instructions (a pattern match can take years):
 * there the time is the limit. A jump out of the signal handler leaves such a call while the thread
 * is in Lua's code and not in the C library, so that it holds no lock. Its memory is neither used
 * again nor freed.
 */
#ifndef SINSP_CHISEL_CHISEL_WATCH_H
#define SINSP_CHISEL_CHISEL_WATCH_H

#include <lua.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

struct chisel_terminal;
struct sinsp_chisel_run;

enum { CHISEL_WATCH_STEP = 1000 }; /* instructions between two calls of the hook */

struct chisel_watch {
	const struct sinsp_chisel_run *run;
	const char *name; /* of the chisel; borrowed */
	const struct chisel_terminal *terminal; /* of the chisel; borrowed */
	lua_State *L; /* NULL: no call to watch */
	lua_Hook hook; /* counts, and ends a call above its limits */
	volatile sig_atomic_t n_ticks; /* since the call began */
	volatile sig_atomic_t counts;
	sig_atomic_t max_ticks; /* for a call that reaches the hook */
	sigjmp_buf out; /* of the call, without its signal mask */
};

/* Prepares the watch in the thread that calls. Returns 0 or a negative errno. */
int chisel_watch_init(struct chisel_watch *w, const struct sinsp_chisel_run *run, const char *name,
		      const struct chisel_terminal *terminal, lua_State *L, lua_Hook hook);
void chisel_watch_fini(struct chisel_watch *w);

/* Returns the time limit of a call: that of its instructions on a slow machine. */
int chisel_watch_seconds(const struct chisel_watch *w);

/* The watch of the current call. */
extern _Thread_local struct chisel_watch *volatile chisel_watched;

static inline void chisel_watch_begin(struct chisel_watch *w)
{
	w->n_ticks = 0;
	chisel_watched = w;
}

/* Called after the jump out of a handler. */
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
