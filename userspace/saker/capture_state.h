/* SPDX-License-Identifier: Apache-2.0 */
/* A running capture: what the files that open, run and finish it share. */
#ifndef SAKER_CAPTURE_STATE_H
#define SAKER_CAPTURE_STATE_H

#include "capture.h"
#include "dispatch.h"
#include "no_samples.h"
#include "progress.h"
#include "pushdown.h"
#include "report.h"
#include "spawn.h"
#include "streams.h"

struct capture {
	const struct options *o;
	struct spawn spawn;
	const char **joined; /* files that are joined; owned; NULL: none */
	struct sinsp **inspectors; /* of the live system, or one per file */
	size_t n_inspectors;
	struct sample_count *samples; /* owned; by inspector */
	struct sinsp_streams *streams; /* of several files; NULL: a single source */
	struct dispatch dispatch;
	struct pushdown pushdown, chisels_pushdown; /* of the filter, and of chisels */
	struct scap_calls slice_calls; /* selected, with those that slices are made from */
	struct progress_bar progress;
	struct report report;
	uint64_t deadline_ns; /* live with -M: CLOCK_MONOTONIC; 0: none */
	uint64_t slow_tick_ms;
	uint64_t checked_ms; /* when processes_ended last checked */
	int live;
	unsigned int late_files; /* replay: how files are opened behind the first event */
	int stopping; /* the source was stopped: it delivers what it still has */
};

/* Each returns 0, or a negative errno after reporting it. */
/* Refuses to write binary data to a terminal, or to read it from one. */
int capture_check_terminals(const struct options *o);
/* Refuses to write a file that is also read, or written twice. */
int capture_check_files(const struct options *o);
/* Opens the live system or the files, with the file that is written. */
int capture_open_sources(struct capture *c);

#endif /* SAKER_CAPTURE_STATE_H */
