/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables of a live capture: a thread that receives each exec and code mapping, and writes
 * the tables by which the driver walks stacks. At the start it reads running processes, chosen
 * ones and those with the most CPU time first. It walks stacks that were sampled before their
 * tables were there itself, and passes them to the reader of events by the ids of their samples.
 */
#ifndef SCAP_UNWIND_LIVE_UNWIND_H
#define SCAP_UNWIND_LIVE_UNWIND_H

#include "scap.h"
#include "unwind/running.h"

struct live_unwind;

/* Descriptors of the driver's maps. */
struct live_unwind_maps {
	int chunks, procs;
	int interps; /* -1: none */
	int copies; /* the ring of stacks sampled before their tables; -1: none */
};

struct live_unwind_opts {
	size_t max_sz; /* maximum size of all tables in bytes; 0: 64 MiB */
	struct chosen_procs chosen; /* their tables are built first. Copied */
};

int live_unwind_open(struct live_unwind **out, const struct live_unwind_maps *maps,
		     const struct live_unwind_opts *opts, const struct scap_log *log);
void live_unwind_close(struct live_unwind *u);

/* Waits until the processes running at the start have tables: the chosen ones if there are any,
 * else all. Returns 0, or -ETIMEDOUT. */
int live_unwind_wait(struct live_unwind *u, int timeout_ms);

/* Returns 1 and removes the stack with @id, an event owned by the caller (free); NULL: the stack
 * stays as the driver sent it. Returns 0 if it is not walked yet. */
int live_unwind_pop_stack(struct live_unwind *u, struct ppm_evt_hdr **out, uint64_t id);

/* CPU @cpu has come online, for the first time or again: its code mappings are followed. From any
 * thread. */
void live_unwind_cpu_online(struct live_unwind *u, unsigned int cpu);

/* Works as kept_files_open, for files that the thread found mapped. From any thread. */
int live_unwind_open_file(struct live_unwind *u, uint32_t dev, uint64_t ino);

/* Waits until everything that happened so far is processed, stacks included. Returns 0, or
 * -ETIMEDOUT. */
int live_unwind_settle(struct live_unwind *u, int timeout_ms);

void live_unwind_stats(struct live_unwind *u, struct scap_unwind_stats *st);

#endif /* SCAP_UNWIND_LIVE_UNWIND_H */
