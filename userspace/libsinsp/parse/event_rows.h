/* SPDX-License-Identifier: Apache-2.0 */
/* One row per event type, filled once from the event table and the table of parsers. */
#ifndef SINSP_PARSE_EVENT_ROWS_H
#define SINSP_PARSE_EVENT_ROWS_H

#include "params.h"

extern struct sinsp_parse_row sinsp_event_rows[];

/* Fills the rows; called before any other function here. */
void sinsp_event_rows_init(void);

static inline const struct sinsp_parse_row *sinsp_event_row(unsigned int type)
{
	return &sinsp_event_rows[evt_index(type)];
}

#endif /* SINSP_PARSE_EVENT_ROWS_H */
