/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: derives an event for each request and response that travel over a socket, from the
 * bytes that other events carry (state/derived.h). docs/requests.md describes the parts.
 */
#ifndef SINSP_REQUESTS_REQUESTS_H
#define SINSP_REQUESTS_REQUESTS_H

#include "sinsp.h"

struct sinsp_requests;

struct sinsp_requests_stats {
	uint64_t n_requests; /* events derived */
	uint64_t n_conns; /* connections followed now */
	uint64_t n_evicted_conns, n_evicted_requests; /* for lack of room */
	uint64_t n_dropped; /* requests without memory */
	uint64_t memory; /* bytes used now */
};

/* Adds the types of events that requests are derived from: bits by EVT_INDEX. */
void sinsp_requests_types(uint64_t *types);

int sinsp_requests_new(struct sinsp_requests **out, struct sinsp *s);
void sinsp_requests_free(struct sinsp_requests *rs);

/* Follows the event, which changed the state. */
void sinsp_requests_event(struct sinsp_requests *rs, const struct sinsp_evt *evt);
/* The source, or a section of it, ended: ends the open requests of one more connection. Returns 0
 * if there was none left. */
int sinsp_requests_end(struct sinsp_requests *rs);

/* All 0 if no requests are derived. */
void sinsp_requests_get_stats(const struct sinsp *s, struct sinsp_requests_stats *st);

#endif /* SINSP_REQUESTS_REQUESTS_H */
