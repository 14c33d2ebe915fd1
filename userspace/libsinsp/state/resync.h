/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resync: certainty of state after lost records, and reads of /proc in a live capture. A loss only
 * sets a time: older state is uncertain. A read of /proc is ahead of the events that wait to be
 * parsed, so its result is certain only for events after the read. All reads take at most 1% of a
 * CPU.
 */
#ifndef SINSP_STATE_RESYNC_H
#define SINSP_STATE_RESYNC_H

#include <stdint.h>

#include "fd.h"
#include "thread.h"

#define SINSP_RESYNC_RECENT 64 /* a power of two */

struct sinsp_resync {
	uint8_t on; /* live, and /proc is that of the captured machine */
	/* Time of the last lost record that changed descriptors, or threads. 0: none. */
	uint64_t fds_lost_ns, threads_lost_ns;
	int64_t budget_ns; /* time left for reads */
	uint64_t budget_at_ns; /* when budget_ns was computed */
	struct {
		int64_t tid, num;
		uint64_t at_ns;
	} recent[SINSP_RESYNC_RECENT]; /* descriptors that /proc lacked: not read again at once */
	/* Search for threads whose procexit was lost. */
	uint32_t next_slot; /* in the table; at its end no search runs */
	uint8_t found_gone; /* in this round */
	uint32_t n_events;
	uint64_t searched_ns; /* end of the last search */
	uint64_t n_reads;
	uint64_t n_files, n_threads, n_ended; /* resynced, or found ended */
};

void sinsp_resync_init(struct sinsp_resync *r, int live);

/* Marks state as uncertain: records lost until @to_ns changed descriptors, threads, or ended
 * threads. */
void sinsp_resync_lost(struct sinsp_resync *r, uint64_t to_ns, int fds, int threads, int ends);

/* Returns the thread @tid, read from /proc or added as a stand-in if it is unknown. NULL: no
 * room. */
struct sinsp_thread *sinsp_thread_get(struct sinsp *s, int64_t tid);
/* Reads an uncertain thread again. Returns it, or the thread that replaced it; NULL: no room. */
struct sinsp_thread *sinsp_resync_thread(struct sinsp *s, struct sinsp_thread *t);
/* Returns descriptor @num of @t, read from /proc if it is uncertain, or missing from a partial
 * table. */
const struct sinsp_fd *sinsp_resync_fd(struct sinsp *s, struct sinsp_thread *t, int64_t num,
				       uint64_t now_ns);

/* Runs one step of the search for ended threads. */
void sinsp_resync_step(struct sinsp *s, uint64_t now_ns);

#endif /* SINSP_STATE_RESYNC_H */
