/* SPDX-License-Identifier: Apache-2.0 */
/* What a line looks like: the usual one, or what -p, -j and --tsv say. */
#ifndef SAKER_LINES_H
#define SAKER_LINES_H

#include "options.h"

struct sinsp_format;

struct lines {
	struct sinsp_printer *printer; /* NULL: format is used */
	struct sinsp_format *format;
};

/* @terminal: they go to one. 0, or a negative errno after saying what is wrong. */
int lines_open(struct lines *l, const struct options *o, int terminal);
void lines_close(struct lines *l);

/* Appends what stands above the lines. 0 or -ENOMEM. */
int lines_header(const struct lines *l, struct sinsp_text *out);
/* 1: a line was appended; 0: the event has none; -ENOMEM. */
int lines_put(struct lines *l, struct sinsp_text *out, const struct sinsp_evt *evt);
/* The same of what tells that events are missing. */
int lines_put_gap(struct lines *l, struct sinsp_text *out, const struct sinsp_evt *evt);

/* The number of events that had no line, as the format does not begin with *; *name is the field
 * that most of them lack, *len bytes, borrowed. */
uint64_t lines_n_without(const struct lines *l, const char **name, size_t *len);

#endif /* SAKER_LINES_H */
