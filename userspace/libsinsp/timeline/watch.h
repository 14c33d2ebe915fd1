/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread in poll, select or epoll_wait watches, and for how long. */
#ifndef SINSP_TIMELINE_WATCH_H
#define SINSP_TIMELINE_WATCH_H

#include <stdint.h>

#include "sinsp.h"

/* WATCH_UNSEEN: the enter of the call was not seen, or it is another call. */
enum watch_count { WATCH_UNSEEN, WATCH_UNKNOWN, WATCH_NONE, WATCH_ONE, WATCH_MANY };

/* The last such call that a thread entered. */
struct watch {
	uint64_t enter_ns;
	uint64_t end_ns; /* when its timeout has passed; 0: none, or unknown */
	int32_t fd; /* WATCH_ONE */
	int32_t connecting; /* the only one whose connect has not ended; -1: none, or several */
	uint16_t type; /* of the enter event; 0: none was seen */
	uint8_t count; /* enum watch_count */
	uint8_t is_connecting; /* any */
	uint8_t pipes; /* all that are watched are pipes */
};

/* The sets of epoll descriptors that were created since the capture began. */
struct sinsp_watch_sets;

/* Returns NULL without memory. */
struct sinsp_watch_sets *sinsp_watch_sets_new(void);
void sinsp_watch_sets_free(struct sinsp_watch_sets *sets);
/* Applies an event that was parsed: of a set, of descriptors that are closed, or of a loss. */
void sinsp_watch_sets_event(struct sinsp_watch_sets *sets, const struct sinsp_evt *evt);

/* Sets *@w and returns 1 if @evt is the enter of a call that watches descriptors; else returns 0.
 */
int sinsp_watch_enter(const struct sinsp_watch_sets *sets, const struct sinsp_evt *evt,
		      struct watch *w);

/* Adds the exit event types of the calls that sinsp_watch_enter and sinsp_watch_sets_event use:
 * bits by EVT_INDEX. */
void sinsp_watch_types(uint64_t *types);

/* More sets of all processes are unknown; a larger set counts as one of many for ever. */
#define SINSP_WATCH_SETS 256
#define SINSP_WATCH_FDS 16

#endif /* SINSP_TIMELINE_WATCH_H */
