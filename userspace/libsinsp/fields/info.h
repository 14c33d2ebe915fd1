/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments, type and result of an event, as a line shows them. */
#ifndef SINSP_FIELDS_INFO_H
#define SINSP_FIELDS_INFO_H

#include "value_writer.h"

/* Writes %evt.args of w->evt at @p, a place in w->out; returns the end, or NULL without memory. */
char *sinsp_args_put(struct value_writer *w, char *p);
/* Writes %evt.info: as %evt.args, with messages to the system log decoded. */
char *sinsp_info_put(struct value_writer *w, char *p);

/* Writes ") DIR TYPE ", which precedes %evt.info on a line. */
char *sinsp_type_put(struct value_writer *w, char *p);

/* Returns the result of an exit, negative for an error; also of calls that return a descriptor. 0:
 * it has none. */
int sinsp_evt_result(const struct sinsp_evt *evt, int64_t *res);

static inline int sinsp_evt_failed(const struct sinsp_evt *evt)
{
	int64_t res;

	return sinsp_evt_result(evt, &res) && res < 0;
}

/* Calls @fn with all possible values of sinsp_evt_type for generic events. */
void sinsp_generic_types(void (*fn)(void *ctx, const char *type), void *ctx);

#endif /* SINSP_FIELDS_INFO_H */
