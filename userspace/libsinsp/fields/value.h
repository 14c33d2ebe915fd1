/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one parameter as sysdig does: the value in the event, and in parentheses its meaning, if
 * known: res=-2(ENOENT). */
#ifndef SINSP_FIELDS_VALUE_H
#define SINSP_FIELDS_VALUE_H

#include "value_writer.h"

/* Writes parameter @i of the event at @p, a place in w->out with VALUE_ROOM bytes of room; returns
 * the end, or NULL without memory. @i must be below both params.n and info->n_params. */
char *sinsp_value_put(struct value_writer *w, char *p, unsigned int i);

/* Appends the value of a parameter as %evt.arg prints it: its meaning if it has one, else the value
 * in the event. Returns 0 or -ENOMEM. */
int sinsp_value_arg(struct value_writer *w, unsigned int i);

/* Appends the path in a parameter, made absolute. Returns 1; 0: there is none; -ENOMEM. */
int sinsp_value_abspath(struct value_writer *w, unsigned int i);

#endif /* SINSP_FIELDS_VALUE_H */
