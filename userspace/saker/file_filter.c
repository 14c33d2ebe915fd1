/* SPDX-License-Identifier: Apache-2.0 */
#include "file_filter.h"

int file_filter_changes_state(const struct sinsp_evt *evt)
{
	const uint32_t changes = EF_MODIFIES_STATE | EF_CREATES_FD | EF_DESTROYS_FD;

	return !evt_is_of_system(evt) || (evt->info && evt->info->flags & changes);
}

/* Events that do not match are still written if names depend on them. Of events that report memory
 * only the last one before another event counts: they are held for that. */
static int keep_for_state(struct held *held, const struct sinsp_filter *filter,
			  struct sinsp_evt *evt)
{
	/*
	 * Files of other tools have the subject of an exit, such as its descriptor, in the enter.
	 */
	const int of_exit =
		evt_is_enter(evt->raw.type) && sinsp_filter_may_match(filter, evt->raw.type | 1);

	if (!of_exit && !file_filter_changes_state(evt) &&
	    !(held && held_is_of_usage(evt->raw.type)))
		return 0;
	evt->raw.flags |= SCAP_EVT_F_STATE_ONLY;
	return 1;
}

int file_filter_event(struct held *held, const struct sinsp_filter *filter, struct sinsp_evt *evt,
		      int matches)
{
	int ret = 0;

	if (!matches && !keep_for_state(held, filter, evt))
		return 1;
	if (!held)
		return 0;
	if (evt->raw.flags & SCAP_EVT_F_STATE_ONLY || !evt_is_of_system(evt))
		ret = held_take(held, evt);
	if (!ret && evt_is_of_system(evt) && !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY))
		ret = held_release(held, evt);
	return ret;
}
