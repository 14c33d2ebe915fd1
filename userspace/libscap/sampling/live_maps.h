/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code lies where in which process, told by the kernel as it changes: a buffer per CPU with a
 * record for each mapping of code, fork and exec, made into the map events of the stream. What a
 * process had before the capture began is read from /proc when it is first asked for, which the
 * first sample of it does: most processes never have one.
 */
#ifndef SCAP_SAMPLING_LIVE_MAPS_H
#define SCAP_SAMPLING_LIVE_MAPS_H

#include "ring/ring.h"

struct live_maps;

/* The buffers fill from here on. 0 or a negative errno after saying why. */
int live_maps_open(struct live_maps **out, const struct scap_log *log);
void live_maps_close(struct live_maps *m);

/* CPU @cpu has come online. If it was before, its buffer ended with that: it gets another. Else it
 * gets one at the end. */
void live_maps_revive(struct live_maps *m, unsigned int cpu);

/* One buffer per CPU, as sources of a merge. */
unsigned int live_maps_n(const struct live_maps *m);
unsigned int live_maps_cpu(const struct live_maps *m, unsigned int i);
void live_maps_refresh(struct live_maps *m, unsigned int i);
/* Boot time of the first record; UINT64_MAX: there is none. */
uint64_t live_maps_key(struct live_maps *m, unsigned int i);
/* It as an event, borrowed until the next call; NULL: it is none after all. */
const struct ppm_evt_hdr *live_maps_event(struct live_maps *m, unsigned int i);
void live_maps_pop(struct live_maps *m, unsigned int i);
void live_maps_release(struct live_maps *m, unsigned int i);

/*
 * A sample of process @pid is about to be delivered: if nothing is known of its mappings, what
 * /proc has waits to be delivered before.
 */
void live_maps_need(struct live_maps *m, uint32_t pid);
/* The process has ended. */
void live_maps_forget(struct live_maps *m, uint32_t pid);

/* The next event that waits, borrowed until the next call; NULL: none. */
const struct ppm_evt_hdr *live_maps_next(struct live_maps *m);

#endif /* SCAP_SAMPLING_LIVE_MAPS_H */
