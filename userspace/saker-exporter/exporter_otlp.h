/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --otlp: what the exporter measures goes to an OpenTelemetry collector. The capture's thread only
 * makes messages and puts them into a queue; a thread of its own reads the registry each interval,
 * and that of the sender sends (docs/otlp.md).
 */
#ifndef SAKER_EXPORTER_OTLP_H
#define SAKER_EXPORTER_OTLP_H

#include "exporter_options.h"
#include "page.h"
#include "sinsp.h"

struct exporter_otlp;
struct otlp_target;

/* Opens the queue. Returns 0 with *out NULL without --otlp, or a negative errno after reporting it.
 */
int exporter_otlp_new(struct exporter_otlp **out, const struct exporter_options *o);
/* Checks the options, and the files that they name. Returns 0, or a negative errno after reporting
 * it. */
int exporter_otlp_check(const struct exporter_options *o);
/* Makes a target of other options, for exporter_otlp_set. Returns 0 with *out owned by the caller
 * (otlp_target_free), or NULL without --otlp; or a negative errno after reporting it. */
int exporter_otlp_prepare(struct otlp_target **out, const struct exporter_otlp *x,
			  const struct exporter_options *o);
/* Applies other options while saker runs. Takes @t. */
void exporter_otlp_set(struct exporter_otlp *x, const struct exporter_options *o,
		       struct otlp_target *t);
/* Adds the types of events that --otlp-logs needs: bits by EVT_INDEX. In all functions NULL is
 * allowed. */
void exporter_otlp_types(const struct exporter_otlp *x, uint64_t *types);
/* Starts the threads. Borrows @ps. Returns 0, or a negative errno after reporting it. */
int exporter_otlp_start(struct exporter_otlp *x, struct pages *ps, struct sinsp *s);
/* The capture is over: sends what there is, up to a limit of time. */
void exporter_otlp_stop(struct exporter_otlp *x);
void exporter_otlp_free(struct exporter_otlp *x);

/* The capture's thread: an event, and the time now and then. @ended: no event follows. */
void exporter_otlp_event(struct exporter_otlp *x, const struct sinsp_evt *evt);
void exporter_otlp_tick(struct exporter_otlp *x, uint64_t now_ns, int ended);

/* Sets the metrics of the export itself. The caller holds the lock of the registry. */
void exporter_otlp_collect(struct exporter_otlp *x, struct registry *r);

#endif /* SAKER_EXPORTER_OTLP_H */
