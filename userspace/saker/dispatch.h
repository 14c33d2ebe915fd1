/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher: passes each event to the lines, the chisels, the capture file and the summary.
 * Before that it selects events: not those of suppressed processes, and of a command only its own,
 * from its execve on. */
#ifndef SAKER_DISPATCH_H
#define SAKER_DISPATCH_H

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

struct dispatch {
	const struct options *o;
	struct sinsp *inspector;
	struct lines form; /* format of lines, if prints */
	struct output lines;
	int prints;
	struct scap_writer *writer; /* NULL: no file */
	struct pieces pieces;
	struct flight *flight; /* keeps the events instead of a file; NULL: none */
	struct sinsp_format *flight_key, *flight_what;
	struct held *held; /* held state events; NULL: all are written */
	struct held *
		first_pass; /* processes that the file will need; NULL: unknown, the file has all */
	struct file_guard guard;
	uint64_t head_bytes; /* size of the state at the beginning of the last file */
	char *provenance; /* owned */
	uint64_t piece_bytes; /* of earlier pieces */
	uint64_t last_ns; /* number of the last written event that is not state-only */
	uint64_t to_ns; /* end of the events that count; UINT64_MAX: none */
	unsigned int n_checkpoints; /* of all pieces */
	unsigned int n_put; /* events in the file, until it overflows */
	int checkpoint_due; /* before the next event */
	int times_due; /* options from and to wait for the first event */
	int in_order; /* a later event is not earlier: there is a single section */
	int puts_needed; /* pieces, symbols: events need other events before them in the file */
	int begins_section; /* nothing of the section was written yet */
	int file_ended; /* a limit was reached, or it failed: no more is written */
	int file_cut; /* because of a full disk */
	int file_failed; /* and that was reported */
	struct sinsp_filter *filter; /* owned; NULL: all events match */
	struct sinsp_filter *trigger; /* owned; NULL: none */
	struct chisels *chisels; /* they receive the events, and print; borrowed; NULL: none */
	int chisels_due; /* they begin at --from */
	struct summary *summary; /* NULL: not requested */
	uint64_t n_events, n_shown;
	uint64_t n_in_span; /* of --from and --to */
	uint64_t most_ns; /* with these: the latest time of an event */
	uint64_t n_filtered; /* by the filter: events with a line, up to a match */
	uint64_t n_matched; /* events to output_event; a format may have no line for one */
	uint64_t n_numbered; /* live: number of the last matching event */
	/* Live: when the state of the machine was read. The threads of earlier events may be
	 * unknown: these events update the state, and are not shown. */
	uint64_t settled_ns; /* since the epoch; 0: from the first event on */
	uint64_t first_line_ns; /* CLOCK_MONOTONIC, 0: none yet */
	uint64_t begin_ns; /* end of -M for files, in event time; 0: none yet */
	int64_t before_exec; /* the child that did not execute CMD yet: its calls are saker's; 0:
				none */
	int live;
	int selective; /* only some events match */
	int leaves_out; /* selective, settled_ns, or a time limit is set */
	int done; /* a limit was reached */
};

/* Each returns 0, or a negative errno after reporting the reason. A file that could not be written
 * is not an error: see file_failed. */
int dispatch_open_lines(struct dispatch *t, const struct options *o);
/*
 * Reads all of @inspector before the file is begun, to find the processes that it must begin with.
 */
int dispatch_first_pass(struct dispatch *t, const struct options *o, struct sinsp *inspector);
/* Called before the inspector takes the source: the file begins with the source's state. */
int dispatch_open_file(struct dispatch *t, const struct scap *src);
/* @command: PID of the command, 0: none. */
int dispatch_open(struct dispatch *t, struct sinsp *inspector, int64_t command);
/* Begins the chisels; with --from at the first event that counts: they see the state of that
 * moment. */
int dispatch_begin_chisels(struct dispatch *t, struct sinsp *inspector);
/* Those that wait for an event begin without one. */
int dispatch_begin_late(struct dispatch *t, struct sinsp *inspector);
int dispatch_event(struct dispatch *t, struct sinsp_evt *evt);
/* Writes a file of the flight recorder: saker got the signal for that. @now_ns: of scap_now_ns. */
void dispatch_trigger(struct dispatch *t, uint64_t now_ns);
/* The source is idle: flushes what is buffered. @now_ns: as above. */
int dispatch_idle(struct dispatch *t, uint64_t now_ns);
void dispatch_flush_file(struct dispatch *t);
int dispatch_finish_file(struct dispatch *t, struct report *r);
int dispatch_finish_lines(struct dispatch *t); /* and prints the summary */
void dispatch_fini(struct dispatch *t);

/* Returns the filter of what is shown or triggers a file; NULL: none. Borrowed. */
struct sinsp_filter *dispatch_filter(const struct dispatch *t);

int dispatch_lines_on_terminal(const struct dispatch *t);

#endif /* SAKER_DISPATCH_H */
