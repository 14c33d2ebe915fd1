/* SPDX-License-Identifier: Apache-2.0 */
/* -v: what was captured, what was lost and why, and the cost of saker itself. */
#ifndef SAKER_REPORT_H
#define SAKER_REPORT_H

#include <stdio.h>

#include "markers/spans.h"
#include "requests/requests.h"
#include "scap.h"
#include "symbols/symbols.h"

struct report {
	/*
	 * Times of process start, open source, first line, end: CLOCK_MONOTONIC; 0: did not happen.
	 */
	uint64_t start_ns, opened_ns, first_line_ns, end_ns;
	uint64_t n_events, n_shown;
	uint64_t n_skipped; /* before the checkpoint that --from began at */
	uint64_t peak_anon_kb; /* 0: unknown */
	const char *written; /* the capture file; NULL: none */
	uint64_t written_bytes;
	unsigned int n_pieces; /* number of its files; written is the last one */
	int live;
	int is_span; /* --from or --to */
	int prints_lines;
	int page_faults; /* they were requested */
	int have_stats;
	struct scap_sampler_stats sampler;
	int have_sampler;
	uint64_t n_samples_read, n_samples_shown;
	struct scap_stats stats;
	struct sinsp_symbols_stats symbols;
	struct sinsp_marker_stats markers;
	struct sinsp_requests_stats requests;
};

/* Records the memory in use now. */
void report_sample_memory(struct report *r);
void report_print(const struct report *r, FILE *f);
/* Prints one sentence if events were lost in this capture. */
void report_warn_lost(const struct report *r);
/* The same if requests were evicted or dropped. */
void report_warn_requests(const struct report *r);

#endif /* SAKER_REPORT_H */
