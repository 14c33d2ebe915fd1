/* SPDX-License-Identifier: Apache-2.0 */
/* Collectors: what events and counters add to the registry. The caller holds the lock. */
#ifndef SAKER_EXPORTER_COLLECT_H
#define SAKER_EXPORTER_COLLECT_H

#include "metrics.h"
#include "sinsp.h"

/* The labels service, container, namespace, pod. Borrowed from the event. */
enum { SERVICE_LABELS = 4 };
void collect_service(struct label_value *to, const struct sinsp_evt *evt);
/* Returns a text parameter of an event; len 0: unknown. */
struct label_value collect_text(const struct sinsp_evt *evt, unsigned int at);
/* Sets *n to a number of an event. Returns 0 if it is unknown. */
int collect_number(const struct sinsp_evt *evt, unsigned int at, uint64_t *n);
/* Returns the name of a number of one byte in the event's table. */
struct label_value collect_name(const struct sinsp_evt *evt, unsigned int at);

/* An event of the stream: a request, or one of TCP. Others are ignored. @now_ns: CLOCK_MONOTONIC.
 */
void collect_event(struct registry *r, const struct sinsp_evt *evt, uint64_t now_ns);
void collect_request(struct registry *r, const struct sinsp_evt *evt, uint64_t now_ns);
void collect_tcp(struct registry *r, const struct sinsp_evt *evt, uint64_t now_ns);

/* Values that do not change. */
void collect_about(struct registry *r, int live);
void collect_target(struct registry *r, const char *host);
/* Writes the name of the machine that @s measures. */
void collect_host(char *host, size_t sz, const struct sinsp *s);
/* Counters of the capture, read by its thread now and then. @st: NULL: it has none. */
void collect_capture(struct registry *r, const struct scap_stats *st, int running);
/* Counters of requests that exceeded the limits, read as these. */
void collect_request_losses(struct registry *r, const struct sinsp *s);
/* What the exporter itself uses: page_collect_fn. */
void collect_self(void *ctx, struct registry *r, uint64_t now_ns);

#endif /* SAKER_EXPORTER_COLLECT_H */
