/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source for tests: events and initial state made by hand. Build it, then open it;
 * scap_next delivers what was added, in the order of time, then -ENODATA.
 */
#ifndef SCAP_TESTING_ENGINE_FAKE_H
#define SCAP_TESTING_ENGINE_FAKE_H

#include "procfs/state_build.h"
#include "scap.h"

struct scap_fake;

struct scap_fake *scap_fake_new(void);
/* The state that the source begins with: add threads and files to it. Borrowed. */
struct scap_state_build *scap_fake_state(struct scap_fake *f);

/*
 * Adds an event of @type with the values of its parameters in order, each in the C type of
 * its encoding: integers as int64_t or uint64_t, text as const char *, PT_BYTEBUF, tuples and
 * the like as (const void *, size_t). Fewer than the event has: @n says how many follow.
 * 0 or a negative errno.
 */
int scap_fake_add(struct scap_fake *f, uint64_t ts_ns, uint16_t cpu, int64_t tid, unsigned int type,
		  unsigned int n, ...);
/* The same as a record of the driver, expanded into enter and exit as from a ring. */
int scap_fake_add_call(struct scap_fake *f, uint64_t enter_ns, uint64_t exit_ns, uint16_t cpu,
		       int64_t tid, unsigned int exit_type, unsigned int n, ...);

/* What scap_running says from then on; copied. 0 or a negative errno. */
int scap_fake_set_running(struct scap_fake *f, const struct scap_running *v, size_t n);

/* Takes @f. */
int scap_fake_open(struct scap **out, struct scap_fake *f);

#endif /* SCAP_TESTING_ENGINE_FAKE_H */
