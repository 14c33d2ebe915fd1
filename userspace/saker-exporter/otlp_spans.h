/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as spans of OTLP, in batches. Used by one thread. */
#ifndef SAKER_EXPORTER_OTLP_SPANS_H
#define SAKER_EXPORTER_OTLP_SPANS_H

#include "otlp_queue.h"
#include "sinsp.h"

struct otlp_spans;

struct otlp_spans_opts {
	const char *version; /* of saker. Borrowed */
	uint64_t seed; /* of the identifiers that are made */
};

/* Returns 0 or -ENOMEM. */
int otlp_spans_new(struct otlp_spans **out, const struct otlp_spans_opts *o);
void otlp_spans_free(struct otlp_spans *sp);

/* Adds the span of a request. Returns a batch if enough are there, owned by the caller; else NULL.
 */
struct otlp_batch *otlp_spans_add(struct otlp_spans *sp, const struct sinsp_evt *evt);
/* Returns a batch of all that were added; NULL: none. */
struct otlp_batch *otlp_spans_flush(struct otlp_spans *sp);
/* Returns how many were lost for lack of memory since the last call. */
uint32_t otlp_spans_take_lost(struct otlp_spans *sp);

#endif /* SAKER_EXPORTER_OTLP_SPANS_H */
