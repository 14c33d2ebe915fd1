/* SPDX-License-Identifier: Apache-2.0 */
/* Which events go to a capture file with a filter: those that match, and before them what their
 * names and descriptors need. */
#ifndef SAKER_FILE_FILTER_H
#define SAKER_FILE_FILTER_H

#include "filter/filter.h"
#include "held.h"

/* Returns whether it is an event of the system, not of the capture; some of these take no number:
 * samples. */
static inline int evt_is_of_system(const struct sinsp_evt *evt)
{
	return evt->raw.num || (evt->info && !(evt->info->category & EC_INTERNAL));
}

/* Returns whether the event changes the state, or is one of the capture: losses, mappings. */
int file_filter_changes_state(const struct sinsp_evt *evt);

/* Returns 1 if the event is not written, or not yet; 0 if it is next; or a negative errno. One that
 * does not match gets SCAP_EVT_F_STATE_ONLY if it changes the state. @held: NULL: none is held. */
int file_filter_event(struct held *held, const struct sinsp_filter *filter, struct sinsp_evt *evt,
		      int matches);

#endif /* SAKER_FILE_FILTER_H */
