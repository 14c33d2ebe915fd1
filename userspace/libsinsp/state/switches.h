/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time of threads. The driver records the kernel's count of each thread; the difference of two
 * counts is the time in between. In files without counts the time is that since the switch before,
 * which is exact only if the file has all switches.
 */
#ifndef SINSP_STATE_SWITCHES_H
#define SINSP_STATE_SWITCHES_H

#include <stdint.h>

struct sinsp_thread;

#define SINSP_CPUS_MAX 8192 /* maximum of Linux */

/* The thread on a CPU, and the start of its turn. */
struct sinsp_turn {
	uint64_t since_ns; /* 0: no switch seen on this CPU */
	int64_t tid; /* 0: idle; -1: unknown */
};

struct sinsp_switches {
	struct sinsp_turn *turns; /* one per CPU */
	uint32_t n;
	uint8_t has_gaps; /* a switch is missing: another thread left the CPU than the last one that
			     came */
};

/* Returns the turn on @cpu for writing; NULL: no such CPU, or no memory. */
struct sinsp_turn *sinsp_switches_of(struct sinsp_switches *w, uint32_t cpu);
void sinsp_switches_fini(struct sinsp_switches *w);

/* Sets *ns to the time that @t ran since its last count, now that at @now it is @count. Returns 1,
 * or 0 if there was no count, or it belongs to another thread with that TID. */
int sinsp_cpu_time_since(const struct sinsp_thread *t, uint64_t count, uint64_t now, uint64_t *ns);
/* Returns the count at @now of a thread on the CPU of @turn; @count is that of the last tick. */
uint64_t sinsp_cpu_time_at(const struct sinsp_thread *t, const struct sinsp_turn *turn,
			   uint64_t count, uint64_t now);

#endif /* SINSP_STATE_SWITCHES_H */
