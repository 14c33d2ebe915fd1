/* SPDX-License-Identifier: Apache-2.0 */
/* Text of label values. Captured bytes are hostile: what is written here is valid UTF-8 without
 * control characters, quotes and backslashes escaped. */
#ifndef SAKER_EXPORTER_LABEL_TEXT_H
#define SAKER_EXPORTER_LABEL_TEXT_H

#include <stddef.h>

/* Writes the value, cut to METRIC_VALUE_SZ bytes before escaping: at most three bytes for each of
 * these. Returns the end. */
char *label_put_value(char *p, const char *s, size_t len);

/* Writes letters, digits and "-_.:" only, at most @sz bytes; others are dropped. Returns the
 * length. */
size_t label_put_word(char *p, size_t sz, const char *s, size_t len);

#endif /* SAKER_EXPORTER_LABEL_TEXT_H */
