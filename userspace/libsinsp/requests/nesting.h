/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request is part of: the request of the client at the other end of its connection, if that
 * is on this machine; of a client, the request that its thread served when it began, or connected.
 * A thread serves the request whose data it read or wrote last, or whose part it did.
 */
#ifndef SINSP_REQUESTS_NESTING_H
#define SINSP_REQUESTS_NESTING_H

#include <stdint.h>

struct request;
struct sinsp_conn;
struct sinsp_evt;
struct sinsp_requests;

enum { NESTING_THREADS = 4096, NESTING_OPEN = 8192 }; /* slots; powers of two */

/* Slots are taken over by whoever comes later: then something is part of nothing. */
struct req_nesting {
	uint64_t last_id;
	struct request *served[NESTING_THREADS]; /* by thread; NULL: none */
	struct request *open[NESTING_OPEN]; /* by id */
};

/* A request began, or is about to end. */
void nesting_begin(struct request *r);
void nesting_end(struct request *r);
/* The thread of the event connects a socket: an event loop writes the request later, when it serves
 * another one perhaps. */
void nesting_connect(struct sinsp_requests *rs, const struct sinsp_evt *evt);
/* The bytes of a call come to the connection, and have been parsed. */
void nesting_before(struct sinsp_conn *c);
void nesting_after(struct sinsp_conn *c);
/* Joins it with the one at the other end, if that was not possible when it began. */
void nesting_pair(struct request *r);

#endif /* SINSP_REQUESTS_NESTING_H */
