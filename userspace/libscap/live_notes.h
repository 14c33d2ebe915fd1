/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a live capture has to say itself, as private events in the stream: that records were
 * lost on a CPU, that the clock was set. Whoever reads them knows from where on the state of
 * threads and files may be wrong, and what times mean.
 */
#ifndef SCAP_LIVE_NOTES_H
#define SCAP_LIVE_NOTES_H

#include "config.h"

struct live_notes;

/* For @n_rings CPUs. NULL: no memory. */
struct live_notes *live_notes_new(unsigned int n_rings);
void live_notes_free(struct live_notes *n);

/* The CPU @cpu, of the ring @ring, has the counters @c at @boot_ns: notes by reason what was
 * dropped since the last look. What finds no room is noted at a later look. */
void live_notes_drops(struct live_notes *n, uint64_t boot_ns, unsigned int ring, unsigned int cpu,
		      const struct drv_counters *c);

/* From @boot_ns on the epoch is @offset after the boot clock, @step more than before. */
void live_notes_clock_step(struct live_notes *n, uint64_t boot_ns, int64_t step, int64_t offset);

/* The oldest note, its ts on the boot clock; NULL: none. Borrowed until the pop after it. */
const struct ppm_evt_hdr *live_notes_first(const struct live_notes *n, uint16_t *cpu);
void live_notes_pop(struct live_notes *n);

#endif /* SCAP_LIVE_NOTES_H */
