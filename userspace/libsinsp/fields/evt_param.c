/* SPDX-License-Identifier: Apache-2.0 */
#include "evt_param.h"

#include "event/event_table.h"

struct search {
	int8_t *at;
	const char *name;
};

static void find(void *ctx, const struct scap_event_info *info)
{
	const struct search *s = ctx;

	for (int i = (int)info->n_params - 1; i >= 0; i--)
		if (!strcmp(info->params[i].name, s->name))
			s->at[evt_index(info->id)] = (int8_t)i;
}

void evt_param_find_all(int8_t at[EVT_INDEX_MAX], const char *name)
{
	struct search s = {at, name};

	memset(at, -1, EVT_INDEX_MAX);
	scap_event_each(find, &s);
}
