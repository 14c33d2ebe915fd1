/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler's side of a live capture: one event of the clock per CPU, the hooks of other reasons,
 * and the account of what they did. Which programs there are, live_load.c knows.
 */
#ifndef SCAP_SAMPLING_LIVE_SAMPLER_H
#define SCAP_SAMPLING_LIVE_SAMPLER_H

#include "scap.h"
#include "shared/sampler.h"

struct bpf_program;
struct live_sampler;

/* The settings of @opts for the driver, once they are checked. 0, or a negative errno after saying
 * what is wrong. */
int live_sampler_config(struct drv_sampler_config *c, const struct scap_sampler_opts *opts,
			const struct scap_log *log);

/* What a sampler is made of, once the driver is loaded. Borrowed until live_sampler_close. */
struct live_sampler_parts {
	const struct drv_sampler_config *config;
	const struct drv_sampler *counts; /* by CPU */
	uint32_t *pause;
	const struct bpf_program *clock;
	const struct bpf_program *hooks[8]; /* those that are loaded, of typed tracepoints */
	const struct bpf_program *tracepoints[SAMPLE_TRACEPOINTS];
};

/* Holds the session, and has its events ready. -EEXIST: another sampler is at work. */
int live_sampler_open(struct live_sampler **out, const struct live_sampler_parts *parts,
		      const struct scap_sampler_opts *opts, const struct scap_log *log);

/* Samples are taken from here on. -EINVAL: they are already. */
int live_sampler_start(struct live_sampler *s);

/* And no more. -EINVAL: they are not. */
int live_sampler_stop(struct live_sampler *s);

int live_sampler_is_running(const struct live_sampler *s);

/*
 * Where only a part of the time is sampled: goes on or pauses, when the next interval has begun. 1:
 * that has changed, *on says to what.
 */
int live_sampler_tick(struct live_sampler *s, uint64_t now_ns, int *on);

/*
 * A CPU that goes offline takes its clock with it. Looks for CPUs without, at most once a second,
 * and gives those that are online one: 1, of *cpu; 0: there is none (any more).
 */
int live_sampler_revive(struct live_sampler *s, uint64_t now_ns, unsigned int *cpu);

void live_sampler_stats(const struct live_sampler *s, struct scap_sampler_stats *st);

/* Ends it, whatever its state. NULL is fine. */
void live_sampler_close(struct live_sampler *s);

#endif /* SCAP_SAMPLING_LIVE_SAMPLER_H */
