/* SPDX-License-Identifier: Apache-2.0 */
/* A moment of a capture, as a user writes it: --from and --to. */
#ifndef SAKER_TIME_ARG_H
#define SAKER_TIME_ARG_H

#include <stdint.h>

#define TIME_ARG_OLD_NS 946684800000000000ull /* the year 2000 */

enum time_arg_kind {
	TIME_ARG_NONE,
	TIME_ARG_EPOCH, /* since the epoch */
	TIME_ARG_OF_DAY, /* since midnight, local time, of the day that fits the capture */
	TIME_ARG_AFTER, /* since the first event */
};

struct time_arg {
	enum time_arg_kind kind;
	uint64_t ns;
};

/* Parses HH:MM[:SS[.FRACTION]] with or without YYYY-MM-DD before it, then also with Z (UTC), +HH:MM
 * or -HHMM behind it, seconds since the epoch (nanoseconds if there are 17 digits or more), or
 * +SECONDS. Returns 0 or -EINVAL.
 */
int time_arg_parse(struct time_arg *t, const char *text);

/* Returns the time since the epoch, in a capture whose first event is of @first_ns. A time of day
 * is the first one that is not more than 12 hours before it. */
uint64_t time_arg_ns(const struct time_arg *t, uint64_t first_ns);

#endif /* SAKER_TIME_ARG_H */
