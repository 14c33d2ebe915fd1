/* SPDX-License-Identifier: Apache-2.0 */
/* A source for tests: events and an initial state made by hand. Build it, then open it; scap_next
 * delivers the events in order of time, then -ENODATA. */
#ifndef SCAP_TESTING_ENGINE_FAKE_H
#define SCAP_TESTING_ENGINE_FAKE_H

#include "procfs/state_build.h"
#include "scap.h"

struct scap_fake;

struct scap_fake *scap_fake_new(void);
/* Returns the state that the source begins with: add threads and files to it. Borrowed. */
struct scap_state_build *scap_fake_state(struct scap_fake *f);

/*
 * Adds an event of @type with its parameters in order, each in the C type of its encoding: integers
 * as int64_t or uint64_t, text as const char *, PT_BYTEBUF, tuples and the like as (const void *,
 * size_t). @n is the number of parameters, which may be fewer than the event has. Returns 0 or a
 * negative errno.
 */
int scap_fake_add(struct scap_fake *f, uint64_t ts_ns, uint16_t cpu, int64_t tid, unsigned int type,
		  unsigned int n, ...);
/* Adds a record of the driver, which is expanded into enter and exit as from a ring. */
int scap_fake_add_call(struct scap_fake *f, uint64_t enter_ns, uint64_t exit_ns, uint16_t cpu,
		       int64_t tid, unsigned int exit_type, unsigned int n, ...);

/* Sets what scap_running returns from then on; copied. Returns 0 or a negative errno. */
int scap_fake_set_running(struct scap_fake *f, const struct scap_running *v, size_t n);

/* Sets the option redact of the source. */
void scap_fake_redact(struct scap_fake *f, struct scap_redact *redact);

/* Takes ownership of @f. */
int scap_fake_open(struct scap **out, struct scap_fake *f);

#endif /* SCAP_TESTING_ENGINE_FAKE_H */
