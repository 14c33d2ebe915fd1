/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: keeps the events of the last seconds in memory, with the state of threads
 * and files at their beginning. A trigger writes them to a file of its own, and those of the next
 * seconds behind them.
 *
 * The memory consists of parts, each as long as the recorded time: the state of the machine, and
 * the events since. So a file can begin where a part begins; events before the recorded time only
 * change the state. A file is written from the memory, some events for each new one.
 */
#ifndef SAKER_FLIGHT_H
#define SAKER_FLIGHT_H

#include "options.h"
#include "procfs/state_build.h"

struct flight;

/* @o is borrowed; @provenance: of the files. Returns 0, or a negative errno after reporting it. */
int flight_new(struct flight **out, const struct options *o, const char *provenance);
void flight_free(struct flight *f);

/* Returns whether the next part begins with an event of @ts_ns. */
int flight_is_due(const struct flight *f, uint64_t ts_ns);
/* Begins a part with @state, which it owns from here on, also on errors. What is put before
 * flight_begun belongs to the state: names of code. Returns 0 or -ENOMEM. */
int flight_begin(struct flight *f, struct scap_state_build *state, uint64_t ts_ns);
void flight_begun(struct flight *f);
/* Returns the number of the part, from 1. */
uint32_t flight_part(const struct flight *f);

/* Appends a copy of an event. Returns 0 or -ENOMEM. */
int flight_put(struct flight *f, const struct scap_evt *evt);

/* Begins a file around @ts_ns, or prolongs the one that is open. @key: of the rate limit, NULL: of
 * none; @what: for the message. */
void flight_trigger(struct flight *f, uint64_t ts_ns, const char *key, const char *what);

/* Writes what is due: no events came for a while. @now_ns: since the epoch; 0: unknown, or
 * events that are older may come. */
void flight_idle(struct flight *f, uint64_t now_ns);

/* Another capture follows: completes the open file, and empties the memory. */
void flight_section(struct flight *f);

/* Completes the open file, and reports triggers that have none. Returns whether writing failed. */
int flight_finish(struct flight *f);

#endif /* SAKER_FLIGHT_H */
