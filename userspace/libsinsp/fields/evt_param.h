/* SPDX-License-Identifier: Apache-2.0 */
/* Finds parameters of an event by name. */
#ifndef SINSP_FIELDS_EVT_PARAM_H
#define SINSP_FIELDS_EVT_PARAM_H

#include <string.h>

#include "sinsp.h"

/* Returns the number of the event's parameter of that name; -1: none. */
static inline int evt_param_at(const struct sinsp_evt *evt, const char *name)
{
	for (unsigned int i = 0; i < evt->info->n_params && i < evt->params.n; i++)
		if (*evt->info->params[i].name == *name && !strcmp(evt->info->params[i].name, name))
			return (int)i;
	return -1;
}

/* Sets @at, by event type (evt_index), to the number of the first parameter of that name; -1: none.
 */
void evt_param_find_all(int8_t at[EVT_INDEX_MAX], const char *name);

/* As evt_param_at; -1 also if it is empty. */
static inline int evt_param_filled(const struct sinsp_evt *evt, const char *name)
{
	const int at = evt_param_at(evt, name);

	return at >= 0 && evt->params.v[at].len ? at : -1;
}

/* Returns the event's parameter of that name; NULL: none, or it is empty. */
static inline const struct scap_param *evt_param(const struct sinsp_evt *evt, const char *name)
{
	const int at = evt_param_filled(evt, name);

	return at >= 0 ? &evt->params.v[at] : NULL;
}

/* Returns a parameter of 32 bits; 0 if the event lacks it. */
static inline uint32_t evt_param_u32(const struct sinsp_evt *evt, const char *name)
{
	const int at = evt_param_at(evt, name);

	return at >= 0 && evt->params.v[at].len >= sizeof(uint32_t) ? get_u32(evt->params.v[at].p)
								    : 0;
}

#endif /* SINSP_FIELDS_EVT_PARAM_H */
