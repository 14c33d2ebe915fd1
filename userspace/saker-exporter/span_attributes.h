/* SPDX-License-Identifier: Apache-2.0 */
/* Name, kind, attributes and status of a request's span, by the semantic conventions 1.37 of
 * OpenTelemetry; what these lack begins with saker. */
#ifndef SAKER_EXPORTER_SPAN_ATTRIBUTES_H
#define SAKER_EXPORTER_SPAN_ATTRIBUTES_H

#include "otlp_message.h"
#include "registry.h"
#include "sinsp.h"

/* Values of the event. Borrowed from it. */
struct span_request {
	const struct sinsp_evt *evt;
	const struct span_protocol *protocol; /* how its values are named */
	struct label_value proto, method, resource, error;
	uint64_t begin_ns, latency_ns, status;
	int is_client, is_oneway, has_status;
};

/* Returns 0 if the event lacks what every request has. */
int span_request_read(struct span_request *r, const struct sinsp_evt *evt);

void span_put_name(struct pb *b, const struct span_request *r);
enum span_kind span_kind_of(const struct span_request *r);
void span_put_attributes(struct pb *b, const struct span_request *r);
void span_put_status(struct pb *b, const struct span_request *r);

#endif /* SAKER_EXPORTER_SPAN_ATTRIBUTES_H */
