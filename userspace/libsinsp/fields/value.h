/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One parameter as text, as sysdig prints it: what is in the event, and in brackets what
 * it means, where that is known: res=-2(ENOENT).
 */
#ifndef SINSP_FIELDS_VALUE_H
#define SINSP_FIELDS_VALUE_H

#include "text.h"

#define VALUE_BUF_MAX 80 /* characters of a buffer shown as dots, unless asked for more */

struct value_writer {
	struct sinsp_text *out;
	const struct sinsp_evt *evt;
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max;
	uint32_t buf_cut; /* bytes of a buffer; 0: all */
	uint8_t port_names; /* ports by the names of their services */
	uint8_t no_env; /* lists of arguments are without the environment of an exec */
	size_t meaning; /* of the value written last: offset of its "(meaning)"; 0: it has none */
};

#define VALUE_ROOM 160 /* at least what the longest value of fixed size takes */

/* Writes parameter @i of the event at @p, a place in w->out with VALUE_ROOM bytes of room;
 * the place behind, or NULL without memory. @i must be below both params.n and
 * info->n_params. */
char *sinsp_value_put(struct value_writer *w, char *p, unsigned int i);

/* Appends the value of a parameter as %evt.arg prints it: its meaning if it has one, else
 * what is in the event. 0 or -ENOMEM. */
int sinsp_value_arg(struct value_writer *w, unsigned int i);

/* Appends the path in a parameter, made absolute. 1; 0: there is none; -ENOMEM. */
int sinsp_value_abspath(struct value_writer *w, unsigned int i);

/* "ENOENT" of 2; NULL: no name. */
#define SINSP_ERRNO_MAX 4095 /* what a call returns is an error down to this, negated */
const char *sinsp_errno_name(uint64_t err);
/* "SIGKILL" of 9; NULL: no name. */
const char *sinsp_signal_name(unsigned int sig);

#endif /* SINSP_FIELDS_VALUE_H */
