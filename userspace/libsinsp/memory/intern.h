/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings that many threads and files share: each text is kept once and counted. One
 * without users stays for a while in a ring of fixed size, so that a file that is opened
 * again and again costs no allocation; memory is bounded by what is in use.
 */
#ifndef SINSP_MEMORY_INTERN_H
#define SINSP_MEMORY_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct sinsp_str;

#define SINSP_STR_RETIRED 1024 /* texts without users that are kept */

struct sinsp_strings {
	struct sinsp_str **buckets;
	uint32_t n_buckets, n; /* a power of two; texts, retired ones included */
	uint64_t seed;
	struct sinsp_str *retired[SINSP_STR_RETIRED];
	uint32_t next_retired;
};

int sinsp_strings_init(struct sinsp_strings *st);
void sinsp_strings_fini(struct sinsp_strings *st);

/* The shared copy of @len bytes, which may hold NULs, followed by a NUL. The caller owns
 * one count of it (end with put); "" when there is no memory. */
const char *sinsp_str_get(struct sinsp_strings *st, const char *p, size_t len);
/* One more count of a text that get returned. */
const char *sinsp_str_ref(const char *s);
/* NULL is fine. */
void sinsp_str_put(struct sinsp_strings *st, const char *s);
size_t sinsp_str_len(const char *s);

/* *@dst gives up its text for another. */
void sinsp_str_set(struct sinsp_strings *st, const char **dst, const char *p, size_t len);

#endif /* SINSP_MEMORY_INTERN_H */
