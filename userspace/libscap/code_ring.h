/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of code on one CPU: a record for each mapping, fork, exec and exit, in a
 * perf buffer.
 */
#ifndef SCAP_CODE_RING_H
#define SCAP_CODE_RING_H

#include "map_event.h"

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
	struct code_map map; /* its path is borrowed until the next call */
};

/* @wakes: poll() on its descriptor tells of a record; else nobody is woken. -ENODEV: the CPU is
 * offline. */
int code_ring_open(struct code_ring **out, unsigned int cpu, int wakes);
void code_ring_close(struct code_ring *r);
int code_ring_fd(const struct code_ring *r);

/* The next record, 1; 0: there is none now. */
int code_ring_next(struct code_ring *r, struct code_record *rec);

#endif /* SCAP_CODE_RING_H */
