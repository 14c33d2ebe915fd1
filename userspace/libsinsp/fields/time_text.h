/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text. Parts that are equal for all events of a second, a quarter of an hour or a day are
 * cached. */
#ifndef SINSP_FIELDS_TIME_TEXT_H
#define SINSP_FIELDS_TIME_TEXT_H

#include "sinsp.h"

#define TIME_TEXT_ROOM 48 /* of each */

struct time_text {
	enum sinsp_time_fmt fmt; /* of time_text_put */
	uint64_t prev_ns; /* base of SINSP_TIME_DELTA; 0: none yet */
	uint64_t from_ns; /* beginning of the second that clock is for, since the epoch */
	uint64_t quarter; /* the quarter of an hour that gmtoff is for */
	int64_t gmtoff;
	uint64_t day; /* day of date */
	char clock[9]; /* "HH:MM:SS." */
	char date[11]; /* "YYYY-MM-DD " */
};

/* Initializes the format; @fmt 0: SINSP_TIME_ABSOLUTE. */
void time_text_init(struct time_text *t, enum sinsp_time_fmt fmt);

/* Each writes at @p and returns the end. The time of the event by t->fmt: */
char *time_text_put(struct time_text *t, char *p, const struct sinsp_evt *evt);
char *time_text_clock(struct time_text *t, char *p, uint64_t ns); /* local, with nanoseconds */
char *time_text_date(struct time_text *t, char *p, uint64_t ns); /* local, "YYYY-MM-DD " */
char *time_text_iso8601(char *p, uint64_t ns); /* UTC */
char *time_text_span(char *p, uint64_t from, uint64_t to); /* seconds with nine decimals */
char *time_text_human(char *p, uint64_t ns); /* 832ns, 1.79us or 12ms, truncated as in sysdig */

#endif /* SINSP_FIELDS_TIME_TEXT_H */
