/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Held state events: events that do not match the filter, kept in memory until an event that is
 * written needs them. It needs the state of its process, of the ancestors, of the leaders of its
 * session and groups, and of processes in its parameters. Events of a process are written in order,
 * and a process after those that it inherited from; between processes the order of time may be
 * lost.
 */
#ifndef SAKER_HELD_H
#define SAKER_HELD_H

#include "sinsp.h"

struct held;

/* Writes an event now. Returns 0, or an error that ends the call. */
typedef int (*held_put_fn)(void *ctx, const struct scap_evt *evt);

/* @first: from an earlier pass over the same events; the file begins with the processes that it
 * needs. Borrowed. NULL: the file begins with all. Returns 0 or -ENOMEM. */
int held_new(struct held **out, struct sinsp *insp, const struct held *first, held_put_fn put,
	     void *ctx);
void held_free(struct held *h);

/* Takes a state event that does not match the filter. Returns 1 if it is held or not needed, 0 if
 * it belongs to no process and must be written at once, or a negative errno. */
int held_take(struct held *h, const struct sinsp_evt *evt);

/* Returns whether calls of @type report memory or page faults of their process, and change nothing
 * else. */
int held_is_of_usage(unsigned int type);

/* Writes what @evt, the next event to be written, needs. Returns 0 or a negative errno. */
int held_release(struct held *h, const struct sinsp_evt *evt);

/* Returns whether a written event needed the process, so far. */
int held_needs(const struct held *h, int64_t pid);

/* A new file begins with the whole state: drops what is held. */
void held_forget(struct held *h);

#endif /* SAKER_HELD_H */
