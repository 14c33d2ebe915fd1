/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: private events about a live capture itself, such as lost events on a CPU and steps of the
 * clock. Readers use them to mark uncertain state of threads and files, and to convert times.
 */
#ifndef SCAP_LIVE_LIVE_NOTES_H
#define SCAP_LIVE_LIVE_NOTES_H

#include "ring/clock_offset.h"
#include "ring/ring.h"

struct live_notes;

/* NULL: no memory. */
struct live_notes *live_notes_new(void);
void live_notes_free(struct live_notes *n);

/* Notes what CPU @cpu lost for the reason @why (@lost) since the last note, at the time when that
 * began. Returns 1 if nothing is left to note; 0: no room. */
int live_notes_lost(struct live_notes *n, unsigned int cpu, unsigned int why,
		    const struct ring_lost *lost, const struct clock_offset *epoch);

/* Notes that from @boot_ns on the epoch is @offset after the boot clock, @step more than before. */
void live_notes_clock_step(struct live_notes *n, uint64_t boot_ns, int64_t step, int64_t offset);

/* Values of the parameter action of EVT_SAMPLER_E, in files. */
enum sampler_action { SAMPLER_START, SAMPLER_PAUSE, SAMPLER_RESUME, SAMPLER_STOP };

void live_notes_sampler(struct live_notes *n, uint64_t boot_ns, enum sampler_action action,
			const struct scap_sampler_stats *st);

/* Returns the note with the lowest time, its ts on the boot clock; NULL: none. Borrowed until the
 * pop after it. */
const struct ppm_evt_hdr *live_notes_first(const struct live_notes *n, uint16_t *cpu);
void live_notes_pop(struct live_notes *n);

#endif /* SCAP_LIVE_LIVE_NOTES_H */
