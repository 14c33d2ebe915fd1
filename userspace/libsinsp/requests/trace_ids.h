/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the identifiers of distributed traces from headers: W3C traceparent, B3, Jaeger. */
#ifndef SINSP_REQUESTS_TRACE_IDS_H
#define SINSP_REQUESTS_TRACE_IDS_H

#include "request.h"

/* Sets request.trace_id and request.span_id if the header has them; other headers have none. */
void req_trace_header(struct request *r, const char *name, size_t name_len, const char *value,
		      size_t len);

#endif /* SINSP_REQUESTS_TRACE_IDS_H */
