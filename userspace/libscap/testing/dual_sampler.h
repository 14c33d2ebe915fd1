/* SPDX-License-Identifier: Apache-2.0 */
/* Takes each stack twice at one instant: a clock event gives the frames that the driver found, and
 * registers with a copy of the stack, from which another unwinder finds them. */
#ifndef SCAP_TESTING_DUAL_SAMPLER_H
#define SCAP_TESTING_DUAL_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"
#include "shared/unwind_selftest.h"

#define DUAL_REGS 17 /* by DWARF number, then ip */
#define DUAL_RBP 6
#define DUAL_RSP 7
#define DUAL_IP 16

struct dual_sample {
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t regs[DUAL_REGS];
	const uint8_t *stack; /* from regs[DUAL_RSP] on */
	size_t stack_sz;
	const struct unwind_selftest *ours;
};

/* The sample is borrowed. */
typedef void (*dual_sample_fn)(void *ctx, const struct dual_sample *s);

struct dual_sampler_opts {
	unsigned int hz;
	uint32_t root; /* this process and its descendants; 0: all */
	dual_sample_fn take;
	void *ctx;
	struct scap_log log;
};

struct dual_sampler;

/* Opens it; when it returns, running processes have their tables, or it timed out. Returns 0 or a
 * negative errno. */
int dual_sampler_open(struct dual_sampler **out, const struct dual_sampler_opts *opts);
void dual_sampler_close(struct dual_sampler *d);

/* Passes what has come to the function, for @timeout_ms. */
void dual_sampler_step(struct dual_sampler *d, int timeout_ms);

/* Returns the number of samples of which one half was lost. */
uint64_t dual_sampler_lost(const struct dual_sampler *d);

#endif /* SCAP_TESTING_DUAL_SAMPLER_H */
