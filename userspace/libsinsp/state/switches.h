/* SPDX-License-Identifier: Apache-2.0 */
/* Who is on each CPU, and since when: what a thread ran follows from it. */
#ifndef SINSP_STATE_SWITCHES_H
#define SINSP_STATE_SWITCHES_H

#include <stdint.h>

#define SINSP_CPUS_MAX 8192 /* what Linux can be built for */

/* A thread's turn on a CPU. */
struct sinsp_turn {
	uint64_t since_ns; /* 0: the CPU has not been seen */
	int64_t tid; /* 0: nobody's, the CPU is idle; -1: not known */
};

struct sinsp_switches {
	struct sinsp_turn *turns; /* the current one of each CPU */
	uint32_t n;
	uint64_t ran_ns; /* of the current event, a switch: how long the thread that leaves ran */
	uint8_t ran_known;
};

/* The turn on @cpu, to be changed; NULL: no such CPU, or no memory. */
struct sinsp_turn *sinsp_switches_of(struct sinsp_switches *w, uint32_t cpu);
void sinsp_switches_fini(struct sinsp_switches *w);

#endif /* SINSP_STATE_SWITCHES_H */
