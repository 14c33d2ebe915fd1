/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables of a live capture: a thread that hears of each exec and mapping of code, and writes
 * the tables where the driver walks stacks by them. At the start it reads what runs already, those
 * first that used most of the CPU. Stacks that were sampled before their tables were there it walks
 * itself, and gives to the reader of events by the ids of their samples.
 */
#ifndef SCAP_UNWIND_LIVE_UNWIND_H
#define SCAP_UNWIND_LIVE_UNWIND_H

#include "scap.h"

struct live_unwind;

/* The driver's. */
struct live_unwind_maps {
	int chunks, procs;
	int cold; /* the ring of stacks that were sampled before their tables; -1: there is none */
};

struct live_unwind_opts {
	size_t max_sz; /* bytes of all tables; 0: 64 MiB */
	const int32_t *first; /* processes whose tables come before those of others. Copied */
	size_t n_first;
};

int live_unwind_open(struct live_unwind **out, const struct live_unwind_maps *maps,
		     const struct live_unwind_opts *opts, const struct scap_log *log);
void live_unwind_close(struct live_unwind *u);

/* Waits until what ran at the start has its tables: those named first, if there are any, else all.
 * 0, or -ETIMEDOUT. */
int live_unwind_wait(struct live_unwind *u, int timeout_ms);

/* 1: takes out the stack that has @id, an event that the caller owns (free); NULL: the stack stays
 * as the driver told it. 0: it is not walked yet. */
int live_unwind_take(struct live_unwind *u, struct ppm_evt_hdr **out, uint64_t id);

/* CPU @cpu has come online, again or for the first time: what maps code on it is heard of. From any
 * thread. */
void live_unwind_revive(struct live_unwind *u, unsigned int cpu);

/* As kept_files_open, of what the thread found mapped. From any thread. */
int live_unwind_open_file(struct live_unwind *u, uint32_t dev, uint64_t ino);

/* Waits until all that happened so far is known, stacks included. 0, or -ETIMEDOUT. */
int live_unwind_settle(struct live_unwind *u, int timeout_ms);

void live_unwind_stats(struct live_unwind *u, struct scap_unwind_stats *st);

#endif /* SCAP_UNWIND_LIVE_UNWIND_H */
