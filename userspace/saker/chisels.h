/* SPDX-License-Identifier: Apache-2.0 */
/* The chisels of -c: which they are, what their arguments are, and the lists of them. */
#ifndef SAKER_CHISELS_H
#define SAKER_CHISELS_H

#include "chisel/chisel.h"
#include "chisel_output.h"
#include "options.h"

struct chisels {
	struct sinsp_chisel_run run;
	struct chisel_use {
		struct sinsp_chisel *c; /* owned */
		struct text_list args; /* that were given to it */
		char *filter; /* one of them, made of several words: owned; NULL: none */
		int failed; /* it is not called any more */
	} * v; /* owned */
	size_t n, n_failed;
	const char *write; /* the capture file, which goes on without them; NULL: there is none */
	int runs; /* on_capture_start was called, and the run did not end for them since */
	char **dirs; /* owned; NULL-terminated */
	struct chisel_output output; /* -o */
};

/*
 * Each: 0 or a negative errno after saying why. A chisel that fails during the capture ends alone,
 * if others or a capture file go on without it: then only chisels_end says that one failed.
 */

/* Loads those of @o, calls their on_init, and makes o->filter of the words that are not their
 * arguments. -ECANCELED: one of them ended the run. @cs is to be closed in any case. */
int chisels_open(struct chisels *cs, struct options *o);
void chisels_close(struct chisels *cs);

/* A filter that means what one of them at least is to be told of: owned; NULL: anything. */
int chisels_filter(const struct chisels *cs, struct sinsp_filter **out);
int chisels_begin(struct chisels *cs, struct sinsp *insp);
/* The time of the event is reached, whether it is meant or not. */
int chisels_tick(struct chisels *cs, const struct sinsp_evt *evt);
/* Live: nothing happens. */
int chisels_idle(struct chisels *cs, uint64_t now_ns);
/* When the next interval ends; UINT64_MAX: there is none. */
uint64_t chisels_due_ns(const struct chisels *cs);
int chisels_event(struct chisels *cs, const struct sinsp_evt *evt);
/* The event is left out. Only needed if run.follows. */
int chisels_follow(struct chisels *cs, const struct sinsp_evt *evt);
/* What was printed goes out. */
int chisels_flush(struct chisels *cs);
/* However the capture ended; of chisels that did not begin, or failed, only what they printed. */
int chisels_end(struct chisels *cs);

/* The arguments of sysdig.run_app, as a command line: @argv of owned words after the borrowed
 * @self. Each: 0 or a negative errno. */
int chisels_split_run_app(const struct chisels *cs, char *self, char ***argv, int *argc);
/* Whether the run that a chisel asks for does no more than it may. */
int chisels_check_run_app(const struct chisels *cs, const struct options *o);

/* The exit status. */
int chisels_list(const struct options *o);
int chisels_show(const struct options *o);

#endif /* SAKER_CHISELS_H */
