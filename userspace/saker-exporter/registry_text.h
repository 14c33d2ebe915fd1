/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a registry as Prometheus reads it. */
#ifndef SAKER_EXPORTER_REGISTRY_TEXT_H
#define SAKER_EXPORTER_REGISTRY_TEXT_H

#include "registry.h"
#include "sinsp.h"

enum exposition {
	EXPOSITION_TEXT, /* text format 0.0.4 */
	EXPOSITION_OPENMETRICS, /* 1.0.0, with exemplars */
	EXPOSITION_MAX
};

/* Returns the value of Content-Type. Static. */
const char *exposition_type(enum exposition format);

/* Returns the format that a client prefers by its header Accept (NULL: none). */
enum exposition exposition_preferred(const char *accept);

/* Appends all series. Returns 0 or -ENOMEM. */
int registry_print(const struct registry *r, struct sinsp_text *out, enum exposition format);

#endif /* SAKER_EXPORTER_REGISTRY_TEXT_H */
