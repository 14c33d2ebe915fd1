/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler of a live capture: one clock event per CPU, the hooks of other triggers, and the
 * counters. live_load.c chooses the programs. */
#ifndef SCAP_SAMPLING_LIVE_SAMPLER_H
#define SCAP_SAMPLING_LIVE_SAMPLER_H

#include "scap.h"
#include "shared/sampler.h"

struct bpf_program;
struct live_sampler;

/* Checks @opts and sets the driver's settings. Returns 0, or a negative errno after reporting what
 * is wrong. */
int live_sampler_config(struct drv_sampler_config *c, const struct scap_sampler_opts *opts,
			const struct scap_log *log);

/* Parts of a sampler, once the driver is loaded. Borrowed until live_sampler_close. */
struct live_sampler_parts {
	const struct drv_sampler_config *config;
	const struct drv_sampler *counts; /* by CPU */
	uint32_t *pause;
	const struct bpf_program *clock;
	const struct bpf_program *hooks[8]; /* loaded programs of typed tracepoints */
	const struct bpf_program *tracepoints[SAMPLE_TRACEPOINTS];
};

/* Takes the session, and opens the events. Returns -EEXIST if another sampler is running. */
int live_sampler_open(struct live_sampler **out, const struct live_sampler_parts *parts,
		      const struct scap_sampler_opts *opts, const struct scap_log *log);

/* Starts sampling. Returns -EINVAL if it runs already. */
int live_sampler_start(struct live_sampler *s);

/* Stops sampling. Returns -EINVAL if it does not run. */
int live_sampler_stop(struct live_sampler *s);

int live_sampler_is_running(const struct live_sampler *s);

/* With probabilistic sampling: switches it on or off when the next interval has begun. Returns 1 if
 * that changed, with the state in *on. */
int live_sampler_tick(struct live_sampler *s, uint64_t now_ns, int *on);

/* A CPU that goes offline loses its clock. Looks for CPUs without one, at most once a second, and
 * opens it on those that are online. Returns 1 with *cpu; 0: none (left). */
int live_sampler_revive(struct live_sampler *s, uint64_t now_ns, unsigned int *cpu);

void live_sampler_stats(const struct live_sampler *s, struct scap_sampler_stats *st);

/* Ends it in any state. NULL is allowed. */
void live_sampler_close(struct live_sampler *s);

#endif /* SCAP_SAMPLING_LIVE_SAMPLER_H */
