/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of stuck threads: calls that were in progress when a live capture began, as raw enters
 * in the order in which they were seen. */
#ifndef SCAP_LIVE_CALLS_UNDER_WAY_H
#define SCAP_LIVE_CALLS_UNDER_WAY_H

#include "shared/record.h"

struct live_stuck;

/* Reads the driver's iterator @fd to its end, and keeps the calls entered before @begin_ns, boot
 * clock. Returns 0, or a negative errno with *out untouched. */
int live_stuck_read(struct live_stuck **out, int fd, uint64_t begin_ns);
void live_stuck_free(struct live_stuck *s);

/* Returns the first record; NULL: none left. Borrowed until the pop after it. */
const struct rec_hdr *live_stuck_first(const struct live_stuck *s);
void live_stuck_pop(struct live_stuck *s);

#endif /* SCAP_LIVE_CALLS_UNDER_WAY_H */
