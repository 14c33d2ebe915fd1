/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of energy: what was used since the last round is split among owners by the time that they
 * used a CPU. Parts are whole numbers, and their sum is exactly what was split.
 *
 * shares_begin --> shares_weigh for each that exists --> shares_split for each zone --> shares_end
 */
#ifndef SAKER_EXPORTER_SHARES_H
#define SAKER_EXPORTER_SHARES_H

#include <stddef.h>
#include <stdint.h>

enum { SHARE_ZONES = 64 };

struct shares;

/* Returns 0 or -ENOMEM. */
int shares_new(struct shares **out, size_t n_zones);
void shares_free(struct shares *s);

void shares_begin(struct shares *s);
/* @total: what the owner (@id, @start) used so far. */
void shares_weigh(struct shares *s, uint64_t id, uint64_t start, uint64_t total);
/* Splits @amount. @whole: what all owners used since the last round, those that ended meanwhile
 * included. Returns the part of those that ended. */
uint64_t shares_split(struct shares *s, size_t zone, uint64_t amount, uint64_t whole);
/* Returns the sum of an owner's parts by zone; NULL: it has none. */
const uint64_t *shares_of(const struct shares *s, uint64_t id, uint64_t start);
/* Drops those that were not weighed in this round. */
void shares_end(struct shares *s);

#endif /* SAKER_EXPORTER_SHARES_H */
