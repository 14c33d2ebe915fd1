/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SINSP_FIELDS_INFO_H
#define SINSP_FIELDS_INFO_H

#include "value.h"

/* Writes %evt.args of w->evt at @p, a place in w->out; the place behind, or NULL without
 * memory. */
char *sinsp_args_put(struct value_writer *w, char *p);
/* %evt.info: the same, but what is written to the system's log is shown as that. */
char *sinsp_info_put(struct value_writer *w, char *p);

/* The same for ") DIR TYPE ", which is before it on a line. */
char *sinsp_type_put(struct value_writer *w, char *p);

/* The result of an exit, negative for an error; also of calls that return a file. 0: it has none.
 */
int sinsp_evt_result(const struct sinsp_evt *evt, int64_t *res);

/* All that sinsp_evt_type can be of a generic event. */
void sinsp_generic_types(void (*fn)(void *ctx, const char *type), void *ctx);

#endif /* SINSP_FIELDS_INFO_H */
