/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is certain after records were lost, and asking /proc about the rest, live. A loss
 * touches nothing: it leaves a time, and what was learnt before it is uncertain. What /proc
 * says is true when it is read, which is later than the events that wait to be parsed: so it
 * is certain only for events after that. All asking together takes at most 1% of a CPU.
 */
#ifndef SINSP_STATE_RESYNC_H
#define SINSP_STATE_RESYNC_H

#include <stdint.h>

#include "fd.h"
#include "thread.h"

#define SINSP_RESYNC_RECENT 64 /* a power of two */

struct sinsp_resync {
	uint8_t on; /* live: /proc is of the machine that events come from */
	/* When the last record was lost that changed files, or threads. 0: never. */
	uint64_t fds_lost_ns, threads_lost_ns;
	int64_t budget_ns; /* of time for asking */
	uint64_t budget_at_ns; /* when it was what it says */
	struct {
		int64_t tid, num;
		uint64_t at_ns;
	} recent[SINSP_RESYNC_RECENT]; /* files that /proc did not have: not asked again at once */
	/* The search for threads whose end was lost. */
	uint32_t next_slot; /* of the table; at its end: there is nothing to search */
	uint8_t found_gone; /* this time round */
	uint32_t n_events;
	uint64_t searched_ns; /* when the last search ended */
	uint64_t n_reads, n_files, n_threads, n_ended; /* of what was asked resynced, or removed */
};

void sinsp_resync_init(struct sinsp_resync *h, int live);

/* Records were lost until @to_ns: those that change files, that change threads, ends of threads. */
void sinsp_resync_lost(struct sinsp_resync *h, uint64_t to_ns, int fds, int threads, int ends);

/* The thread @tid; not known, it is read from /proc or gets a stand-in. NULL: no room. */
struct sinsp_thread *sinsp_thread_get(struct sinsp *s, int64_t tid);
/* Reads a thread again if it is uncertain. It may become another: NULL then if there is no room. */
struct sinsp_thread *sinsp_resync_thread(struct sinsp *s, struct sinsp_thread *t);
/* The file @num of @t, read if it is uncertain or not known but may well be there. */
const struct sinsp_fd *sinsp_resync_fd(struct sinsp *s, struct sinsp_thread *t, int64_t num,
				       uint64_t now_ns);

/* One step of the search for threads that are no more. */
void sinsp_resync_step(struct sinsp *s, uint64_t now_ns);

#endif /* SINSP_STATE_RESYNC_H */
