/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads run. The kernel counts it for each and the driver tells the count; what a thread ran
 * is the difference to what was told before. In files without the count it follows from who is on
 * each CPU, and since when, which is known only as far as all switches are in the file.
 */
#ifndef SINSP_STATE_SWITCHES_H
#define SINSP_STATE_SWITCHES_H

#include <stdint.h>

struct sinsp_thread;

#define SINSP_CPUS_MAX 8192 /* what Linux can be built for */

/* A thread's turn on a CPU. */
struct sinsp_turn {
	uint64_t since_ns; /* 0: the CPU has not been seen */
	int64_t tid; /* 0: nobody's, the CPU is idle; -1: not known */
};

struct sinsp_switches {
	struct sinsp_turn *turns; /* the current one of each CPU */
	uint32_t n;
	uint8_t has_gaps; /* somebody left a CPU and no switch told so */
};

/* The turn on @cpu, to be changed; NULL: no such CPU, or no memory. */
struct sinsp_turn *sinsp_switches_of(struct sinsp_switches *w, uint32_t cpu);
void sinsp_switches_fini(struct sinsp_switches *w);

/* What @t ran since its count was told last, now that at @now it is @count. 1; 0: not known, as
 * nothing was told, or of another thread of that number. */
int sinsp_ran_since(const struct sinsp_thread *t, uint64_t count, uint64_t now, uint64_t *ns);
/* The count at @now of a thread that is on the CPU of @turn, from @count, that of the last tick. */
uint64_t sinsp_ran_until(const struct sinsp_thread *t, const struct sinsp_turn *turn,
			 uint64_t count, uint64_t now);

#endif /* SINSP_STATE_SWITCHES_H */
