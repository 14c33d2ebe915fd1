/* SPDX-License-Identifier: Apache-2.0 */
/* The registry as OTLP metrics: counters are cumulative sums, histograms have explicit bounds. */
#ifndef SAKER_EXPORTER_OTLP_METRICS_H
#define SAKER_EXPORTER_OTLP_METRICS_H

#include "otlp_queue.h"
#include "pb.h"
#include "registry.h"

struct otlp_metrics_opts {
	const struct pb *resource; /* attributes. Borrowed */
	const char *version;
	uint64_t start_ns; /* since the epoch: when the registry began to count */
	uint64_t start_monotonic_ns; /* the same by CLOCK_MONOTONIC */
	uint64_t now_ns; /* since the epoch */
};

/* Appends batches of all series to the list *first, which the caller owns. Returns how many
 * points there was no memory for. */
uint32_t otlp_metrics_encode(struct otlp_batch **first, const struct registry *r,
			     const struct otlp_metrics_opts *o);

#endif /* SAKER_EXPORTER_OTLP_METRICS_H */
