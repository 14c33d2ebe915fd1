/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that feeds the registry, live or from a file. */
#ifndef SAKER_EXPORTER_CAPTURE_H
#define SAKER_EXPORTER_CAPTURE_H

#include "exporter_daemon.h"
#include "exporter_options.h"
#include "exporter_otlp.h"

/* Returns 0 with *out owned by the caller (sinsp_close), or a negative errno after reporting it. */
int exporter_capture_open(struct sinsp **out, const struct exporter_options *o,
			  const struct exporter_otlp *otlp);

/*
 * Adds the events to the registry of @daemon until a signal requests the end; a file also ends, if
 * it is not served. Returns 0, or a negative errno after reporting it.
 */
int exporter_capture_run(struct sinsp *s, const struct exporter_options *o,
			 struct exporter_daemon *daemon);

#endif /* SAKER_EXPORTER_CAPTURE_H */
