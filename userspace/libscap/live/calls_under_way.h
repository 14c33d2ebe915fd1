/* SPDX-License-Identifier: Apache-2.0 */
/* Calls under way: those that were in progress when a live capture began, as raw enters
 * in the order in which they were seen. */
#ifndef SCAP_LIVE_CALLS_UNDER_WAY_H
#define SCAP_LIVE_CALLS_UNDER_WAY_H

#include "shared/record.h"

struct calls_under_way;

/* Reads the driver's iterator @fd to its end, and keeps the calls entered before @begin_ns, boot
 * clock. Returns 0, or a negative errno with *out untouched. */
int calls_under_way_read(struct calls_under_way **out, int fd, uint64_t begin_ns);
void calls_under_way_free(struct calls_under_way *s);

/* Returns the first record; NULL: none left. Borrowed until the pop after it. */
const struct rec_hdr *calls_under_way_first(const struct calls_under_way *s);
void calls_under_way_pop(struct calls_under_way *s);

#endif /* SCAP_LIVE_CALLS_UNDER_WAY_H */
