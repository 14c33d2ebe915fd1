/* SPDX-License-Identifier: Apache-2.0 */
/* The chisels of -c: loading, arguments, and the lists of chisels. */
#ifndef SAKER_CHISELS_H
#define SAKER_CHISELS_H

#include "chisel/chisel.h"
#include "chisel_dirs.h"
#include "chisel_output.h"
#include "options.h"

struct chisels {
	struct sinsp_chisel_run run;
	struct chisel_use {
		struct sinsp_chisel *c; /* owned */
		struct text_list args; /* its arguments */
		char *filter; /* an argument made of several words: owned; NULL: none */
		int failed; /* it failed, and is not called again */
	} * v; /* owned */
	size_t n, n_failed;
	const char *write; /* the capture file, which continues without them; NULL: none */
	int runs; /* on_capture_start was called, and they have not ended the run since */
	char *dirs[CHISEL_DIRS_MAX + 1]; /* owned; NULL-terminated */
	struct chisel_output output; /* -o */
};

/*
 * Each returns 0, or a negative errno after reporting the reason. A chisel that fails during the
 * capture ends alone if others or a capture file continue: then only chisels_end returns the
 * failure.
 */

/* Loads the chisels of @o, calls their on_init, and makes o->filter of the words that are not their
 * arguments. -ECANCELED: one of them ended the run. @cs must be closed in any case. */
int chisels_open(struct chisels *cs, struct options *o);
void chisels_close(struct chisels *cs);

/* Returns a filter that matches what at least one of them needs: owned; NULL: everything. */
int chisels_filter(const struct chisels *cs, struct sinsp_filter **out);
int chisels_begin(struct chisels *cs, struct sinsp *insp);
/* Ends the intervals before the event. Called for each event, whether it matches or not. */
int chisels_tick(struct chisels *cs, const struct sinsp_evt *evt);
/* Ends the intervals before @now_ns. Called live, if there are no events. */
int chisels_idle(struct chisels *cs, uint64_t now_ns);
/* Returns the end of the next interval; UINT64_MAX: none. */
uint64_t chisels_due_ns(const struct chisels *cs);
int chisels_event(struct chisels *cs, const struct sinsp_evt *evt);
/* Passes an event that does not match. Only needed if run.follows. */
int chisels_follow(struct chisels *cs, const struct sinsp_evt *evt);
/* Flushes their output. */
int chisels_flush(struct chisels *cs);
/* Ends the chisels, however the capture ended. Only flushes those that did not begin, or failed. */
int chisels_end(struct chisels *cs);

/* Makes a command line of the arguments of sysdig.run_app: @argv has owned words after the
 * borrowed @self. Returns 0 or a negative errno. */
int chisels_split_run_app(const struct chisels *cs, char *self, char ***argv, int *argc);
/* Returns whether the run requested by a chisel is within its permissions. */
int chisels_check_run_app(const struct chisels *cs, const struct options *o);

/* Finds the folders of chisels. Returns 0 or -ENOMEM. */
int chisels_find_dirs(struct chisels *cs);

/* Print the lists. Return the exit status. */
int chisels_list(const struct options *o);
int chisels_show(const struct options *o);

#endif /* SAKER_CHISELS_H */
