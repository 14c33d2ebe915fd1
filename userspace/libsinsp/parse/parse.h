/* SPDX-License-Identifier: Apache-2.0 */
/* Applies events to the state: threads, files, users and containers. */
#ifndef SINSP_PARSE_PARSE_H
#define SINSP_PARSE_PARSE_H

#include "state/inspector.h"

/* Finds the thread and the descriptor of @e, pairs enter and exit, and changes the state. @e has
 * raw, params (as many as a damaged event still has) and insp. */
void sinsp_parse_event(struct sinsp *s, struct sinsp_evt *e);

/* Removes the thread or descriptor that the previous event ended. */
void sinsp_parse_end(struct sinsp *s);
static inline void sinsp_parse_finish(struct sinsp *s)
{
	if (s->ended_tid != -1 || s->closed_fd != -1)
		sinsp_parse_end(s);
}

#endif /* SINSP_PARSE_PARSE_H */
