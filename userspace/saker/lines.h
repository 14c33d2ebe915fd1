/* SPDX-License-Identifier: Apache-2.0 */
/* Formats events as lines: the default format, or that of -p, -j and --tsv. */
#ifndef SAKER_LINES_H
#define SAKER_LINES_H

#include "options.h"

struct sinsp_format;

struct lines {
	struct sinsp_printer *printer; /* NULL: format is used */
	struct sinsp_format *format;
};

/* @terminal: the output is one. Returns 0, or a negative errno after reporting the error. */
int lines_open(struct lines *l, const struct options *o, int terminal);
void lines_close(struct lines *l);

/* Appends the heading. Returns 0 or -ENOMEM. */
int lines_header(const struct lines *l, struct sinsp_text *out);
/* Returns 1 if a line was appended; 0: the event has none; -ENOMEM. */
int lines_put(struct lines *l, struct sinsp_text *out, const struct sinsp_evt *evt);
/* The same for events that report losses. */
int lines_put_gap(struct lines *l, struct sinsp_text *out, const struct sinsp_evt *evt);

/* Returns the number of events without a line, if the format does not begin with *; *name is the
 * field that was missing most often, *len bytes, borrowed. */
uint64_t lines_n_without(const struct lines *l, const char **name, size_t *len);

#endif /* SAKER_LINES_H */
