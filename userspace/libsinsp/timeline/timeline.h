/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of threads: an unbroken sequence of slices per thread, from task switches and wake-ups.
 *
 * Invariant: the slices of a thread tile the time from its first event to its last: each begins
 * where the one before ended, so their sum is the difference. What is not known (events were lost,
 * or the capture lacks the state of switches) is a slice `unknown`.
 */
#ifndef SINSP_TIMELINE_TIMELINE_H
#define SINSP_TIMELINE_TIMELINE_H

#include "sinsp.h"
#include "state/thread.h"
#include "wait_kind.h"

struct sinsp_timeline;

/* Parameters of the event slice. */
enum slice_param {
	SLICE_P_KIND,
	SLICE_P_BEGIN,
	SLICE_P_NS,
	SLICE_P_CPU,
	SLICE_P_CALL,
	SLICE_P_FD,
	SLICE_P_NAME,
	SLICE_P_LOCK,
	SLICE_P_WAKER,
	SLICE_P_WAKER_COMM,
	SLICE_P_BEHIND,
	SLICE_P_BEHIND_COMM,
	SLICE_P_OPEN,
	SLICE_P_OWNER,
	SLICE_P_OWNER_COMM,
	SLICE_P_FD_TYPE,
	SLICE_P_TIMED_OUT,
	SLICE_P_CONNECTING,
	SLICE_P_CHILD,
	SLICE_P_CHILD_COMM,
	SLICE_P_POLLED,
	SLICE_P_POLLED_CALL,
	SLICE_P_POLLED_RES,
	SLICE_P_WAKER_CALL,
	SLICE_P_WAKER_FILE,
	SLICE_P_MAX
};

/* Whether a thread waits for the end of a connect. LIKELY: it watches others, too. */
enum slice_connecting { SLICE_CONNECTS_NOT, SLICE_CONNECTS, SLICE_CONNECTS_LIKELY };

/* Returns the sum that slices of @kind are part of. */
enum slice_sum sinsp_slice_sum(unsigned int kind);

/* Returns NULL without memory. */
struct sinsp_timeline *sinsp_timeline_new(void);
/* @s as in sinsp_timeline_event. */
void sinsp_timeline_free(struct sinsp *s, struct sinsp_timeline *tl);

/* Applies an event that was parsed; slices that it ends are derived events of @s. */
void sinsp_timeline_event(struct sinsp *s, const struct sinsp_evt *evt);

/* Adds derived events of @s: the slices of threads that wait at @now_ns, so far. They go on. */
void sinsp_timeline_open(struct sinsp *s, uint64_t now_ns);

/* The source has ended: ends the slices of at least one more thread. Returns 0 if there was none
 * left. */
int sinsp_timeline_end(struct sinsp *s);

/* Adds the exit event types of the calls that slices are made from, besides those that change the
 * state: bits by EVT_INDEX. */
void sinsp_slice_types(uint64_t *types);

/* More threads have no slices. */
#define SINSP_TIMELINE_THREADS (256u << 10)

#endif /* SINSP_TIMELINE_TIMELINE_H */
