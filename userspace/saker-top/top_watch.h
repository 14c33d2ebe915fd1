/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row does, for the pane of its details: its last events, and the open files of its process,
 * beside the table. Live it gets the events of the running capture; of a file it reads the file
 * again, up to a time. Used by one thread; no screen.
 */
#ifndef SAKER_TOP_WATCH_H
#define SAKER_TOP_WATCH_H

#include "sinsp.h"
#include "top_options.h"

struct top_watch;

struct top_watch_opts {
	const char *filter; /* of the row */
	int64_t tid; /* its process or thread; 0: none */
	uint64_t until_ns; /* of a file; 0: all of it */
};

/* Returns 0; -EINVAL: wrong filter; -ENOMEM. */
int top_watch_new(struct top_watch **out, const struct top_watch_opts *opts);
void top_watch_free(struct top_watch *w);

/* Keeps the event if it matches. Returns 0 or a negative errno. */
int top_watch_put(struct top_watch *w, const struct sinsp_evt *evt);
/* Updates the open files by the state of @s. Returns 0 or -ENOMEM. */
int top_watch_files(struct top_watch *w, struct sinsp *s);

/* Opens the file of @o; then top_watch_step reads some of its events. Returns 0 or a negative
 * errno. */
int top_watch_open_source(struct top_watch *w, const struct top_options *o);
/* Returns 1; 0: the end; or a negative errno. */
int top_watch_step(struct top_watch *w);
/* Returns whether it has a source that was not read to its end. */
int top_watch_reads(const struct top_watch *w);

/* Appends sections of lines, each with a heading. Returns 0 or -ENOMEM. */
int top_watch_text(const struct top_watch *w, struct sinsp_text *out);

#endif /* SAKER_TOP_WATCH_H */
