/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields as text, for those who write many into one line. */
#ifndef SINSP_FIELDS_FIELD_TEXT_H
#define SINSP_FIELDS_FIELD_TEXT_H

#include "field.h"
#include "text.h"

/* Each writes at @p, a place in @out, and returns the place behind; NULL: no memory. */
char *field_text_put(struct sinsp_text *out, char *p, const struct sinsp_asker *a,
		     const struct sinsp_value *v); /* as -p does */
char *field_json_put(struct sinsp_text *out, char *p, struct sinsp_asker *a,
		     const struct sinsp_value *v); /* a number, true, false or a string */

/* A string of JSON, in quotes, of text that is UTF-8. */
char *json_string_put(struct sinsp_text *out, char *p, const char *s, size_t n);

#endif /* SINSP_FIELDS_FIELD_TEXT_H */
