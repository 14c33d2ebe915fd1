/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings of code in each process, as the kernel reports changes: a buffer per CPU with a record
 * for each code mapping, fork and exec, converted into the map events of the stream. Mappings older
 * than the capture are read from /proc when they are first needed, at the first sample of the
 * process: most processes are never sampled.
 */
#ifndef SCAP_SAMPLING_LIVE_MAPS_H
#define SCAP_SAMPLING_LIVE_MAPS_H

#include "ring/ring.h"

struct live_maps;

/* Opens the buffers. Returns 0, or a negative errno after reporting the reason. */
int live_maps_open(struct live_maps **out, const struct scap_log *log);
void live_maps_close(struct live_maps *m);

/* CPU @cpu has come online. If it was online before, its buffer ended with that and is replaced;
 * else a buffer is appended. */
void live_maps_cpu_online(struct live_maps *m, unsigned int cpu);

/* One buffer per CPU, as sources of a merge. */
unsigned int live_maps_n(const struct live_maps *m);
unsigned int live_maps_cpu(const struct live_maps *m, unsigned int i);
void live_maps_refresh(struct live_maps *m, unsigned int i);
/* Returns the boot time of the first record; UINT64_MAX: none. */
uint64_t live_maps_key(struct live_maps *m, unsigned int i);
/* Returns it as an event, borrowed until the next call; NULL: it has none. */
const struct ppm_evt_hdr *live_maps_event(struct live_maps *m, unsigned int i);
void live_maps_pop(struct live_maps *m, unsigned int i);
void live_maps_release(struct live_maps *m, unsigned int i);

/* Call before a sample of process @pid is delivered: if its mappings are unknown, those in /proc
 * are queued for delivery. */
void live_maps_need(struct live_maps *m, uint32_t pid);
/* The process has ended. */
void live_maps_drop(struct live_maps *m, uint32_t pid);

/* Returns the next queued event, borrowed until the next call; NULL: none. */
const struct ppm_evt_hdr *live_maps_next(struct live_maps *m);

#endif /* SCAP_SAMPLING_LIVE_MAPS_H */
