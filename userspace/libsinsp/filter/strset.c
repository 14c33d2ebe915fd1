/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of texts and numbers: hash tables in an arena. */
#include "strset.h"

#include <errno.h>

/* Slots for @n members: more than twice as many, a power of two. */
static uint32_t n_slots(size_t n)
{
	uint32_t slots = 4;

	while (slots < 2 * n + 1)
		slots *= 2;
	return slots;
}

int sinsp_strset_init(struct sinsp_strset *set, struct sinsp_arena *a, size_t n)
{
	const uint32_t slots = n_slots(n);

	*set = (struct sinsp_strset){.mask = slots - 1};
	set->slots = sinsp_arena_alloc(a, slots * sizeof(*set->slots));
	return set->slots ? 0 : -ENOMEM;
}

void sinsp_strset_add(struct sinsp_strset *set, const char *p, size_t len)
{
	const uint32_t hash = sinsp_strset_hash(p, len);
	uint32_t i = hash & set->mask;

	if (sinsp_strset_has(set, p, len))
		return;
	while (set->slots[i].p)
		i = (i + 1) & set->mask;
	set->slots[i] = (struct sinsp_strset_slot){p, (uint32_t)len, hash};
	set->lens |= 1ull << (len < 63 ? len : 63);
}

int sinsp_numset_init(struct sinsp_numset *set, struct sinsp_arena *a, size_t n)
{
	const uint32_t slots = n_slots(n);

	*set = (struct sinsp_numset){.mask = slots - 1};
	set->slots = sinsp_arena_alloc(a, slots * sizeof(*set->slots));
	return set->slots ? 0 : -ENOMEM;
}

void sinsp_numset_add(struct sinsp_numset *set, uint64_t v)
{
	uint32_t i = sinsp_numset_hash(v) & set->mask;

	if (!v)
		set->has_zero = 1;
	if (sinsp_numset_has(set, v))
		return;
	while (set->slots[i])
		i = (i + 1) & set->mask;
	set->slots[i] = v;
}
