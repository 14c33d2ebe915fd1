/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: each text is kept once and counted. A text without users stays in a ring of
 * fixed size for a while, so that a file that is opened again and again costs no allocation. */
#ifndef SINSP_MEMORY_INTERN_H
#define SINSP_MEMORY_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct sinsp_str;

#define SINSP_STR_RETIRED 1024 /* texts without users that are kept */

struct sinsp_strings {
	struct sinsp_str **buckets;
	uint32_t n_buckets, n; /* n_buckets is a power of two; n counts retired texts, too */
	uint64_t seed;
	size_t n_bytes; /* memory of the texts, without the table */
	struct sinsp_str *retired[SINSP_STR_RETIRED];
	uint32_t next_retired;
	uint64_t n_refused; /* texts that became "" without memory */
};

int sinsp_strings_init(struct sinsp_strings *st);
void sinsp_strings_fini(struct sinsp_strings *st);

/* Returns the shared copy of @len bytes, which may contain NULs, with a NUL added; "" without
 * memory. The caller puts it after use. */
const char *sinsp_str_get(struct sinsp_strings *st, const char *p, size_t len);
/* Adds a reference to a text of sinsp_str_get. */
const char *sinsp_str_ref(const char *s);
/* Drops a reference. NULL is allowed. */
void sinsp_str_put(struct sinsp_strings *st, const char *s);
size_t sinsp_str_len(const char *s);

/* Replaces the text of *@dst. */
void sinsp_str_set(struct sinsp_strings *st, const char **dst, const char *p, size_t len);

#endif /* SINSP_MEMORY_INTERN_H */
