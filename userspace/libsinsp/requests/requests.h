/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: derives an event for each request and response that travel over a socket, from the
 * bytes that other events carry. The event comes behind the one that ended the request, takes no
 * number, and has the same time. docs/requests.md describes the parts.
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

int sinsp_requests_new(struct sinsp_requests **out, struct sinsp *s);
void sinsp_requests_free(struct sinsp_requests *rs);

/* Follows the event, which changed the state. */
void sinsp_requests_event(struct sinsp_requests *rs, const struct sinsp_evt *evt);
/* The source, or a section of it, ended: ends all open requests. */
void sinsp_requests_finish(struct sinsp_requests *rs);
/* Returns whether there is a derived event, in *raw, valid until the next call. */
int sinsp_requests_next(struct sinsp_requests *rs, struct scap_evt *raw);

void sinsp_requests_get_stats(const struct sinsp_requests *rs, struct sinsp_requests_stats *st);

#endif /* SINSP_REQUESTS_REQUESTS_H */
