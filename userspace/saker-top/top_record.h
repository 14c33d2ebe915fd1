/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture file of what is selected, beside the tables. Live it gets the events of the running
 * capture, whose sources it follows; of a file it reads the file again. Used by one thread; no
 * screen.
 */
#ifndef SAKER_TOP_RECORD_H
#define SAKER_TOP_RECORD_H

#include "sinsp.h"
#include "top_options.h"

struct top_record;

struct top_record_status {
	uint64_t n_events; /* that match */
	double progress; /* of the file that is read, 0..1 */
	uint8_t is_on;
	int err; /* why it ended; 0: no error */
};

/* Prepares a file of the events that match @filter ("": all), from @from_ns on. Returns 0; -EINVAL:
 * wrong filter; -ENOMEM. */
int top_record_new(struct top_record **out, const char *path, const char *filter, uint64_t from_ns);
/* Completes the file, and frees it. Returns 0, or a negative errno: its end is missing. */
int top_record_free(struct top_record *r);

/* Begins the file, or a section of it, with the state of @s, which delivers the events from here
 * on. Returns 0 or a negative errno. */
int top_record_attach(struct top_record *r, struct sinsp *s);
/* Writes the event if it matches, or what others need of it. Returns 0 or a negative errno. */
int top_record_put(struct top_record *r, struct sinsp_evt *evt);
/* Passes what was written to the kernel. */
int top_record_flush(struct top_record *r);

/* Opens the file of @o to write its events; then top_record_step writes some of them. Returns 0 or
 * a negative errno. */
int top_record_open_source(struct top_record *r, const struct top_options *o);
/* Returns 1; 0: the end; or a negative errno. */
int top_record_step(struct top_record *r);
/* Returns whether it has a source of its own. */
int top_record_reads(const struct top_record *r);

void top_record_status(const struct top_record *r, struct top_record_status *st);

#endif /* SAKER_TOP_RECORD_H */
