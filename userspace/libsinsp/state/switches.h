/* SPDX-License-Identifier: Apache-2.0 */
/* When each CPU last changed from one thread to another: what a thread ran follows from it. */
#ifndef SINSP_STATE_SWITCHES_H
#define SINSP_STATE_SWITCHES_H

#include <stdint.h>

#define SINSP_CPUS_MAX 8192 /* what Linux can be built for */

struct sinsp_switches {
	uint64_t *last_ns; /* of a CPU; 0: it has not been seen */
	uint32_t n;
	uint64_t ran_ns; /* of the current event, a switch: how long the thread that leaves ran */
	uint8_t ran_known;
};

/* When @cpu last changed, to be changed; NULL: no such CPU, or no memory. */
uint64_t *sinsp_switches_of(struct sinsp_switches *w, uint32_t cpu);
void sinsp_switches_fini(struct sinsp_switches *w);

#endif /* SINSP_STATE_SWITCHES_H */
