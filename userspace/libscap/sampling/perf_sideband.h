/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of code on one CPU: a record for each mapping of code, fork, exec and exit,
 * in a perf buffer. This is its only reader. Records of one buffer are in the order of their times,
 * those of several are not.
 */
#ifndef SCAP_SAMPLING_PERF_SIDEBAND_H
#define SCAP_SAMPLING_PERF_SIDEBAND_H

#include "sampling/map_event.h"

struct code_ring;

enum code_record_type {
	CODE_MAP,
	CODE_FORK, /* of a process */
	CODE_EXEC,
	CODE_EXIT, /* of a process's last thread, or of its first */
	CODE_LOST, /* records did not find room */
};

struct code_record {
	enum code_record_type type;
	uint64_t boot_ns;
	uint32_t pid, parent;
	struct code_map map; /* of no file: no path, as in /proc */
	char comm[16]; /* of an exec */
	uint64_t n_lost;
};

enum {
	CODE_RING_WAKES = 1, /* poll() on its descriptor tells of a record; else nobody is woken */
	CODE_RING_BUILD_IDS = 2, /* mappings have them where the kernel finds them in memory */
};

/* Fills from here on. -ENODEV: the CPU is offline. */
int code_ring_open(struct code_ring **out, unsigned int cpu, int flags);
void code_ring_close(struct code_ring *r);
int code_ring_fd(const struct code_ring *r);

/* Sees what is complete now; the others see what was then. */
void code_ring_refresh(struct code_ring *r);
/* The first record, borrowed with its path until it is popped; NULL: there is none. */
const struct code_record *code_ring_peek(struct code_ring *r);
void code_ring_pop(struct code_ring *r);
/* The kernel gets back the room of what was popped. */
void code_ring_release(struct code_ring *r);

#endif /* SCAP_SAMPLING_PERF_SIDEBAND_H */
