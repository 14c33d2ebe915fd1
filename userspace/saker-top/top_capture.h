/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that fills a table, live or from a file. */
#ifndef SAKER_TOP_CAPTURE_H
#define SAKER_TOP_CAPTURE_H

#include "top_options.h"
#include "top_print.h"

/* Opens the source for events of @filter (NULL: all) and fields with @needs. Returns 0 with *out
 * owned by the caller (sinsp_close), or a negative errno after reporting it. */
int top_capture_open(struct sinsp **out, const struct top_options *o,
		     const struct sinsp_filter *filter, unsigned int needs);

/* The same for a process that reads this source alone: handles signals, drops privileges, and is
 * confined if it is a file. */
int top_capture_open_only(struct sinsp **out, const struct top_options *o,
			  const struct sinsp_filter *filter, unsigned int needs);

/* As top_capture_open, live, of events of these types alone, without the data of calls, of the
 * threads that @tasks has; NULL: of all. */
int top_capture_open_types(struct sinsp **out, const struct top_options *o, const uint64_t *types,
			   const struct sinsp_filter_needs *tasks);

/* Returns whether the event counts: not one that only changes state. */
int top_capture_sees(struct sinsp *s, const struct sinsp_evt *evt, int live);

/* Adds the waits that go on at @ns to the table, if it asks for them. Returns 0 or a negative
 * errno. */
int top_capture_add_waits(struct sinsp *s, struct view_table *t, uint64_t ns, int live);

/* Fills the table and prints it at the end of each interval, until the file ends, a signal comes or
 * enough tables were printed. @slice has the table. Returns 0, or a negative errno after reporting
 * it. */
int top_capture_run(struct sinsp *s, struct view_table *t, struct top_slice *slice);

#endif /* SAKER_TOP_CAPTURE_H */
