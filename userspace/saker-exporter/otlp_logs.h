/* SPDX-License-Identifier: Apache-2.0 */
/* Events that match a filter as log records of OTLP, in batches. Used by one thread. */
#ifndef SAKER_EXPORTER_OTLP_LOGS_H
#define SAKER_EXPORTER_OTLP_LOGS_H

#include "otlp_queue.h"
#include "sinsp.h"

struct otlp_logs;

/* Compiles the filter. Returns 0, or a negative errno after reporting it. */
int otlp_logs_new(struct otlp_logs **out, const char *filter, const char *version);
void otlp_logs_free(struct otlp_logs *l);
/* Adds the types of events that can match: bits by EVT_INDEX. */
void otlp_logs_types(const struct otlp_logs *l, uint64_t *types);

/* Return as those of spans. */
struct otlp_batch *otlp_logs_add(struct otlp_logs *l, const struct sinsp_evt *evt);
struct otlp_batch *otlp_logs_flush(struct otlp_logs *l);
/* Returns how many were lost for lack of memory since the last call. */
uint32_t otlp_logs_take_lost(struct otlp_logs *l);

#endif /* SAKER_EXPORTER_OTLP_LOGS_H */
