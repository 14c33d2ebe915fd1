/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields as text, for callers that write many into one line. */
#ifndef SINSP_FIELDS_FIELD_TEXT_H
#define SINSP_FIELDS_FIELD_TEXT_H

#include "field.h"
#include "text.h"

/* Each writes at @p, a place in @out, and returns the end; NULL: no memory. */
char *field_text_put(struct sinsp_text *out, char *p, const struct sinsp_eval *e,
		     const struct sinsp_value *v); /* as -p does */
char *field_json_put(struct sinsp_text *out, char *p, struct sinsp_eval *e,
		     const struct sinsp_value *v); /* a number, true, false or a string */

/* Writes text that is valid UTF-8 as a JSON string, in quotes. */
char *json_string_put(struct sinsp_text *out, char *p, const char *s, size_t n);

#endif /* SINSP_FIELDS_FIELD_TEXT_H */
