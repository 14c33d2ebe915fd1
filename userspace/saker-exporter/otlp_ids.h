/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers of traces and spans: those of headers, and those that saker makes. */
#ifndef SAKER_EXPORTER_OTLP_IDS_H
#define SAKER_EXPORTER_OTLP_IDS_H

#include <stddef.h>
#include <stdint.h>

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8 };

/* Reads hexadecimal digits, at most twice @sz; fewer are the lower part. Returns whether they are
 * an identifier: not only zeros. */
int otlp_id_read(uint8_t *out, size_t sz, const char *p, size_t len);

/* Writes the identifier that stands for a number of this run: the same for the same @seed, number
 * and size. */
void otlp_id_make(uint8_t *out, size_t sz, uint64_t seed, uint64_t number);

#endif /* SAKER_EXPORTER_OTLP_IDS_H */
