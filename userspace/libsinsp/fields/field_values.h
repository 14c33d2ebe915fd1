/* SPDX-License-Identifier: Apache-2.0 */
/* Possible values of fields that have few. A filter that compares with another value is an error:
 * it would match no event, or all. */
#ifndef SINSP_FIELDS_FIELD_VALUES_H
#define SINSP_FIELDS_FIELD_VALUES_H

#include "field.h"

typedef void (*sinsp_value_fn)(void *ctx, const char *value);

/* Calls @fn with each possible value of @row. Returns 0 without a call if it can have any. */
int sinsp_field_each_value(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx);

/* Returns the value of @row for an alias in other tools and manuals; NULL: none. */
const char *sinsp_field_value_alias(const struct sinsp_field_row *row, const char *text);

/* Returns the pattern of all values of @row, a 0 for each digit, as in "00:00:00"; NULL: none. */
const char *sinsp_field_value_form(const struct sinsp_field_row *row);
/* Returns whether @text has that pattern; with @begins, whether it is the beginning of one. */
int sinsp_field_has_form(const char *form, const char *text, int begins);

#endif /* SINSP_FIELDS_FIELD_VALUES_H */
