/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one parameter as sysdig does: the value in the event, and in parentheses its meaning, if
 * known: res=-2(ENOENT). */
#ifndef SINSP_FIELDS_VALUE_H
#define SINSP_FIELDS_VALUE_H

#include "text.h"

#define VALUE_BUF_MAX 80 /* default number of characters of a buffer printed as dots */

struct value_writer {
	struct sinsp_text *out;
	const struct sinsp_evt *evt;
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max;
	uint32_t buf_cut; /* bytes of a buffer; 0: all */
	uint8_t port_names; /* print ports by the names of their services */
	uint8_t no_env; /* lists of arguments omit the environment of an exec */
	size_t meaning; /* of the last written value: offset of its "(meaning)"; 0: none */
};

#define VALUE_ROOM 160 /* at least the longest value of fixed size */

/* Writes parameter @i of the event at @p, a place in w->out with VALUE_ROOM bytes of room; returns
 * the end, or NULL without memory. @i must be below both params.n and info->n_params. */
char *sinsp_value_put(struct value_writer *w, char *p, unsigned int i);

/* Appends the value of a parameter as %evt.arg prints it: its meaning if it has one, else the value
 * in the event. Returns 0 or -ENOMEM. */
int sinsp_value_arg(struct value_writer *w, unsigned int i);

/* Appends the path in a parameter, made absolute. Returns 1; 0: there is none; -ENOMEM. */
int sinsp_value_abspath(struct value_writer *w, unsigned int i);

/* "ENOENT" of 2; NULL: no name. */
#define SINSP_ERRNO_MAX 4095 /* results from this, negated, up to -1 are errors */
const char *sinsp_errno_name(uint64_t err);
/* "SIGKILL" of 9; NULL: no name. */
const char *sinsp_signal_name(unsigned int sig);

#endif /* SINSP_FIELDS_VALUE_H */
