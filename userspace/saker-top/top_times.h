/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histogram of the events of a file over time: counts of spans of equal length, which grows
 * with the time that they cover. Also the lengths of spans and times of day, for all. No screen.
 */
#ifndef SAKER_TOP_TIMES_H
#define SAKER_TOP_TIMES_H

#include "sinsp.h"

enum { TOP_TIMES_MAX = 240, TOP_LENGTHS = 10 };

/* The lengths that spans of a file may have, ascending; each is a multiple of the one before. */
extern const uint64_t top_lengths_ns[TOP_LENGTHS];

struct top_times {
	uint64_t begin_ns; /* of the first span, a multiple of the length */
	unsigned int length; /* index in top_lengths_ns */
	size_t n; /* spans up to the last one with an event; 0: no event yet */
	uint64_t counts[TOP_TIMES_MAX];
};

/* Counts an event. One before the first span belongs to that; the first events of sysdig's files
 * have the time 0, and are not counted. */
void top_times_add(struct top_times *t, uint64_t ns);
/* Returns the length of a span. */
uint64_t top_times_length_ns(const struct top_times *t);
/* Appends a line for each span: its begin, its count, and a bar of up to @width columns. Returns 0
 * or -ENOMEM. */
int top_times_text(struct sinsp_text *out, const struct top_times *t, size_t width);
/* Appends the begin of span @i as time of day. Returns 0 or -ENOMEM. */
int top_times_label(struct sinsp_text *out, const struct top_times *t, size_t i);

/* Appends a time of day, HH:MM:SS, with up to 3 @digits behind the second. Returns 0 or -ENOMEM. */
int top_put_time(struct sinsp_text *out, uint64_t ns, unsigned int digits);

#endif /* SAKER_TOP_TIMES_H */
