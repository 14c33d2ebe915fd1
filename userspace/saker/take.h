/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of each event: a line, a block of the capture file, a count. Which events
 * are meant is decided here too: not those of suppressed processes, and of a command only
 * what it does itself, from its execve on.
 */
#ifndef SAKER_TAKE_H
#define SAKER_TAKE_H

#include "chisels.h"
#include "file_guard.h"
#include "held.h"
#include "lines.h"
#include "options.h"
#include "output.h"
#include "pieces.h"
#include "report.h"
#include "sinsp.h"
#include "summary.h"

struct take {
	const struct options *o;
	struct sinsp *inspector;
	struct lines form; /* what lines look like, if prints */
	struct output lines;
	int prints;
	struct scap_writer *writer; /* NULL: no file */
	struct pieces pieces;
	struct held *held; /* state that no event of the file needs yet; NULL: all goes there */
	struct held *first_pass; /* what the file will need; NULL: not known, the file has all */
	struct file_guard guard;
	uint64_t head_bytes; /* of the last file: what it began with */
	char *provenance; /* owned */
	uint64_t piece_bytes; /* of the pieces before */
	uint64_t last_ns; /* of the last event that was written and is no state */
	int puts_needed; /* pieces, symbols: events need others before them in the file */
	int begins_section; /* none of the section was written yet */
	int file_ended; /* a limit of it is reached, or it failed: no more of it is written */
	int file_cut; /* that was for want of room */
	int file_failed; /* and it was said */
	struct sinsp_filter *filter; /* taken; NULL: every event is meant */
	struct chisels *chisels; /* they get the events, and print; borrowed; NULL: none */
	struct summary *summary; /* NULL: none wanted */
	uint64_t n_events, n_shown;
	uint64_t n_judged; /* events that the filter ran on */
	uint64_t n_matched; /* events to show; a format may have no line for one */
	uint64_t n_numbered; /* live: the number of the last meant event */
	/* Live: when the state of the machine was read. Whose the events before that are may not
	 * be known: they correct the state, and are not shown. */
	uint64_t settled_ns; /* since the epoch; 0: from the first event on */
	uint64_t first_line_ns; /* CLOCK_MONOTONIC, 0: none yet */
	uint64_t begin_ns; /* of what is read with -M; 0: none yet */
	int64_t before_exec; /* the child that is not CMD yet: its calls are ours; 0: none */
	int live;
	int selective; /* not every event is meant */
	int leaves_out; /* any of selective, settled_ns, and a limit of time */
	int done; /* a limit is reached */
};

/* Each: 0 or a negative errno after saying why. A file that could not be written to is no error:
 * see file_failed. */
int take_open_lines(struct take *t, const struct options *o);
/* Reads all of @inspector before the file is begun, to learn which processes it is to begin with.
 */
int take_first_pass(struct take *t, const struct options *o, struct sinsp *inspector);
/* Before the inspector takes the source: the file begins with the source's state. */
int take_open_file(struct take *t, const struct scap *src);
/* @command: process of the command, 0: none. */
int take_open(struct take *t, struct sinsp *inspector, int64_t command);
int take_event(struct take *t, struct sinsp_evt *evt);
/* The source has nothing more for now: what is held back goes out. */
int take_idle(struct take *t);
void take_flush_file(struct take *t);
int take_finish_file(struct take *t, struct report *r);
int take_finish_lines(struct take *t); /* and the summary */
void take_fini(struct take *t);

int take_lines_on_terminal(const struct take *t);

#endif /* SAKER_TAKE_H */
