/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that a field with few of them can have. A filter that compares with another one is
 * refused: it would never match, or always.
 */
#ifndef SINSP_FIELDS_FIELD_VALUES_H
#define SINSP_FIELDS_FIELD_VALUES_H

#include "field.h"

typedef void (*sinsp_value_fn)(void *ctx, const char *value);

/* Calls @fn with each value that @row can have. Returns 0 without a call if it can have any. */
int sinsp_field_each_value(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx);

/* What other tools and manuals call a value of @row: the name that it has here, or NULL. */
const char *sinsp_field_value_alias(const struct sinsp_field_row *row, const char *text);

/* The form of all values of @row, a 0 for each digit, as in "00:00:00"; NULL: there is none. */
const char *sinsp_field_value_form(const struct sinsp_field_row *row);
/* Has @text that form? With @begins: has it the form of the beginning of such a value? */
int sinsp_field_has_form(const char *form, const char *text, int begins);

#endif /* SINSP_FIELDS_FIELD_VALUES_H */
