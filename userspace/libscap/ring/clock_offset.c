/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/clock_offset.h"

#include <time.h>

#include "clock.h"

#define NOTICEABLE_NS 10000
#define SLOWER 1024 /* a step back is compensated at this rate */

/* Reads both clocks a few times and returns the reading with the least time between its ends. */
int64_t clock_offset_read(void)
{
	uint64_t best = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_read_ns(CLOCK_BOOTTIME);
		uint64_t epoch = clock_read_ns(CLOCK_REALTIME);
		uint64_t after = clock_read_ns(CLOCK_BOOTTIME);

		if (after - before < best) {
			best = after - before;
			offset = (int64_t)(epoch - before - best / 2);
		}
	}
	return offset;
}

void clock_offset_init(struct clock_offset *e, int64_t offset)
{
	e->leg = (struct clock_offset_leg){0, offset, offset};
	e->next = (struct clock_offset_leg){UINT64_MAX, 0, 0};
}

static int64_t offset_at(const struct clock_offset_leg *leg, uint64_t boot_ns)
{
	int64_t slow;

	if (boot_ns <= leg->from || leg->offset == leg->target)
		return leg->offset;
	slow = leg->offset - (int64_t)((boot_ns - leg->from) / SLOWER);
	return leg->target > slow ? leg->target : slow;
}

int64_t clock_offset_update(struct clock_offset *e, uint64_t boot_ns, int64_t offset)
{
	struct clock_offset_leg *last = e->next.from == UINT64_MAX ? &e->leg : &e->next;
	const int64_t step = offset - last->target;

	if (step > -NOTICEABLE_NS && step < NOTICEABLE_NS)
		return 0;
	if (last == &e->leg)
		e->next.from = boot_ns;
	e->next.target = offset;
	return step;
}

static void begin_next_leg(struct clock_offset *e)
{
	const int64_t offset = offset_at(&e->leg, e->next.from);

	e->leg = e->next;
	e->leg.offset = offset > e->next.target ? offset : e->next.target;
	e->next.from = UINT64_MAX;
}

uint64_t clock_offset_at(const struct clock_offset *e, uint64_t boot_ns)
{
	return boot_ns + (uint64_t)offset_at(&e->leg, boot_ns);
}

uint64_t clock_offset_slow(struct clock_offset *e, uint64_t boot_ns)
{
	if (boot_ns >= e->next.from)
		begin_next_leg(e);
	return clock_offset_at(e, boot_ns);
}
