/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State events that a filter left out, held in memory until an event that is written needs them.
 * What a written event needs: the state of its process, of its ancestors, of those who lead its
 * session and groups, and of the processes that its parameters name. Events of a process are
 * written in their order, and a process after those that it inherited from; between processes the
 * order of time may be lost.
 */
#ifndef SAKER_HELD_H
#define SAKER_HELD_H

#include "sinsp.h"

struct held;

/* Writes an event now. 0, or an error that ends the call that led to it. */
typedef int (*held_put_fn)(void *ctx, const struct scap_evt *evt);

/* @first: of an earlier pass over the same events; the file has been begun with the processes that
 * it needs. Borrowed. NULL: the file has been begun with all. 0 or -ENOMEM. */
int held_new(struct held **out, struct sinsp *insp, const struct held *first, held_put_fn put,
	     void *ctx);
void held_free(struct held *h);

/* Takes a state event that the filter left out. Returns 1 if it is held or is not needed, 0 if it
 * belongs to no process and is to be written at once, or a negative errno. */
int held_take(struct held *h, const struct sinsp_evt *evt);

/* Whether calls of @type report the memory or the page faults of their process, and change nothing
 * else. */
int held_is_of_usage(unsigned int type);

/* Writes what @evt needs, which is to be written next. 0 or a negative errno. */
int held_release(struct held *h, const struct sinsp_evt *evt);

/* Whether an event that was written needed the process, of all that came so far. */
int held_needs(const struct held *h, int64_t pid);

/* A new file begins with the whole state: nothing of what is held is needed. */
void held_forget(struct held *h);

#endif /* SAKER_HELD_H */
