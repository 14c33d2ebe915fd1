/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share of a CPU that each thread used in an interval of a live capture. /proc is read at both
 * ends of the interval, in steps of a tick; a thread that ends within has the kernel's count of its
 * procexit event. A use is unknown, not 0, if a thread has no first read although it is older than
 * the interval, or no second one and no count.
 */
#ifndef SINSP_STATE_CPU_USE_H
#define SINSP_STATE_CPU_USE_H

#include <stdint.h>

struct sinsp;
struct sinsp_evt;
struct sinsp_thread;

/* The current interval. */
struct sinsp_cpu_clock {
	uint64_t begin_ns; /* CLOCK_BOOTTIME; 0: nothing is measured */
	uint64_t begin_real_ns;
	uint64_t length_ns; /* expected */
};

/* Computes the use of all known threads since the call before, and begins an interval of about
 * @length_ns. Does nothing where /proc is not that of the captured machine. */
void sinsp_cpu_use_read(struct sinsp *s, uint64_t length_ns);

/* Sets *percent to the use by a thread in the interval in which it ends; @evt is its procexit
 * event. Returns 1, or 0 if it is unknown. */
int sinsp_cpu_use_at_exit(const struct sinsp_evt *evt, double *percent);

#endif /* SINSP_STATE_CPU_USE_H */
