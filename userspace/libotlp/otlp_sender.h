/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the batches of a queue to a collector by HTTP POST, one after the other, in a thread of its
 * own. What can be retried is retried until it is accepted, the queue drops it or it is too old:
 * connections that fail, and the statuses 429, 502, 503 and 504. Any other status but 2xx is final.
 *
 * A batch ages only while there are connections to the collector: by the time of requests that the
 * collector refused for now or did not answer, and of the pauses after them. So a batch that it
 * never accepts, or that crashes it, does not block those behind it, and while the collector is
 * down no batch ages.
 */
#ifndef OTLP_SENDER_H
#define OTLP_SENDER_H

#include "otlp_post.h"
#include "otlp_queue.h"

struct otlp_sender;
struct otlp_target; /* where and how to send */

/* The texts are borrowed for the call. */
struct otlp_sender_opts {
	size_t sz;
	const char *url; /* /v1/traces and so on is appended to it */
	const char *ca; /* PEM file of trusted certificates; NULL: those of the system */
	const char *const *headers; /* NAME: VALUE; secret */
	size_t n_headers;
	int gzip;
	int patient; /* at the end, wait for a collector that does not accept data, too */
	const char *user_agent;
	uint64_t timeout_ns; /* of a request; 0: 10 s */
	uint64_t max_age_ns; /* 0: an hour */
	void (*thread_begins)(void); /* called in the thread; NULL: not */
	/* Called when the collector becomes unreachable, or reachable again (NULL), with the
	 * reason. */
	void (*report)(const char *why);
};

struct otlp_sender_stats {
	uint64_t requests[OTLP_OUTCOMES];
};

/* Borrows the queue. Returns 0, or a negative errno. */
int otlp_sender_new(struct otlp_sender **out, struct otlp_queue *q,
		    const struct otlp_sender_opts *opts);
int otlp_sender_start(struct otlp_sender *s);
/* Makes a target of other options, without those that are functions, and patient. Returns 0 with
 * *out owned by the caller, or a negative errno. */
int otlp_target_new(struct otlp_target **out, const struct otlp_sender *s,
		    const struct otlp_sender_opts *opts);
void otlp_target_free(struct otlp_target *t);
/* Sends to @t from the next request on. Takes @t. */
void otlp_sender_set(struct otlp_sender *s, struct otlp_target *t);
/* Waits up to @wait_ns until the queue is empty, then ends the thread; a request under way is
 * aborted, and stays in the queue. */
void otlp_sender_end(struct otlp_sender *s, uint64_t wait_ns);
/* Ends it before. NULL is allowed. */
void otlp_sender_free(struct otlp_sender *s);
void otlp_sender_get_stats(struct otlp_sender *s, struct otlp_sender_stats *st);

#endif /* OTLP_SENDER_H */
