/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics (metrics.def), for the registry, the documentation and the front page. */
#ifndef SAKER_EXPORTER_METRICS_H
#define SAKER_EXPORTER_METRICS_H

#include <stdio.h>

#include "registry.h"

/* clang-format off */
enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "metrics.def"
#undef METRIC
	METRIC_MAX
};
/* clang-format on */

extern const struct metric_row metric_rows[METRIC_MAX];

/* Sets the series of a fixed set with these labels; NULL: unknown, or the metric has fewer. */
void metric_set(struct registry *r, enum metric_id id, const char *a, const char *b,
		uint64_t value);

/* Print the table for --list-metrics. */
void metrics_list(FILE *f);
void metrics_list_markdown(FILE *f);

#endif /* SAKER_EXPORTER_METRICS_H */
