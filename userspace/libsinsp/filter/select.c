/* SPDX-License-Identifier: Apache-2.0 */
/* Filters over calls that have two files. */
#include "fields/evt_io.h"
#include "filter.h"

int sinsp_filter_select(struct sinsp_filter *f, const struct sinsp_evt *evt)
{
	int selected = f ? sinsp_filter_run(f, evt) : SINSP_SELECTED;
	struct sinsp_evt ends[2];

	if (selected < 0 || !sinsp_evt_split(evt, ends))
		return selected;
	for (int i = 0; i < 2; i++) {
		int r;

		ends[i].io_whole = 1;
		r = f ? sinsp_filter_run(f, &ends[i]) : 1;
		if (r < 0)
			return r;
		selected |= r ? ends[i].io_end : 0;
	}
	return selected;
}
