/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf sideband: the kernel's records of code mappings, forks, execs and exits on one CPU, in a
 * perf buffer. This is its only reader. Records of one buffer are in order of time, those of
 * several are not.
 */
#ifndef SCAP_SAMPLING_PERF_SIDEBAND_H
#define SCAP_SAMPLING_PERF_SIDEBAND_H

#include "sampling/map_event.h"

struct code_ring;

enum code_record_type {
	CODE_MAP,
	CODE_FORK, /* of a process */
	CODE_EXEC,
	CODE_EXIT, /* of the last thread of a process, or of its first */
	CODE_LOST, /* the buffer had no room for records */
};

struct code_record {
	enum code_record_type type;
	uint64_t boot_ns;
	uint32_t pid, parent;
	struct code_map map; /* its path is empty if it maps no file */
	char comm[16]; /* of an exec */
	uint64_t n_lost;
};

enum {
	CODE_RING_WAKES = 1, /* poll() on the descriptor reports a record; else nothing is woken */
	CODE_RING_BUILD_IDS = 2, /* mappings have build IDs that the kernel finds in memory */
};

/* Opens the buffer. Returns -ENODEV if the CPU is offline. */
int code_ring_open(struct code_ring **out, unsigned int cpu, int flags);
void code_ring_close(struct code_ring *r);
int code_ring_fd(const struct code_ring *r);

/* Reads what is complete now; the other functions use that. */
void code_ring_refresh(struct code_ring *r);
/* Returns the first record, borrowed with its path until the pop; NULL: none. */
const struct code_record *code_ring_peek(struct code_ring *r);
void code_ring_pop(struct code_ring *r);
/* Gives the room of popped records back to the kernel. */
void code_ring_release(struct code_ring *r);

#endif /* SCAP_SAMPLING_PERF_SIDEBAND_H */
