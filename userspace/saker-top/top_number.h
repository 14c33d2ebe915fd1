/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as csysdig prints them. */
#ifndef SAKER_TOP_NUMBER_H
#define SAKER_TOP_NUMBER_H

#include <stdint.h>

enum { TOP_NUMBER_SZ = 32 };

/* 832 ns are "832ns", 1234567 ns "1.23ms", 12345678 ns "12ms". */
void top_duration_text(char text[TOP_NUMBER_SZ], uint64_t ns);

/* A number of bytes or events: above 1024 in K, M, ...; @is_whole: without decimals. */
void top_size_text(char text[TOP_NUMBER_SZ], double v, int is_whole);

/* A floating-point number of JSON, with all its digits. */
void top_json_double(char text[TOP_NUMBER_SZ], double v);

#endif /* SAKER_TOP_NUMBER_H */
