/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler of its own, without a capture: stacks and nothing else, and no system call is watched.
 * There is one at a time. What it does not say otherwise is as in a capture (scap_sampler_opts).
 *
 *	create --> start --> read ... --> stop --> read --> close
 *
 * It may be started again after it was stopped. What was sampled waits in a buffer for each CPU; a
 * full one takes nothing new, and tells when it goes on how many it did not take.
 */
#ifndef SCAP_SAMPLING_SCAP_SAMPLER_H
#define SCAP_SAMPLING_SCAP_SAMPLER_H

#include "scap.h"

struct scap_sampler;

struct scap_sampler_create_opts {
	size_t sz; /* sizeof(struct scap_sampler_create_opts); new fields go last */
	const struct scap_sampler_opts *sampler; /* NULL: 99 samples a second of each CPU */
	const struct scap_select *select; /* of these tasks only; NULL: of all */
	int ring_kind; /* as in scap_open_opts */
	size_t ring_sz;
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
};

/* The buffers are there, nothing is sampled. -EEXIST: another one is. opts may be NULL. */
int scap_sampler_create(struct scap_sampler **out, const struct scap_sampler_create_opts *opts);

/* @options must be 0. -EINVAL: it runs already, or does not run. */
int scap_sampler_start(struct scap_sampler *s, uint32_t options);
int scap_sampler_stop(struct scap_sampler *s, uint32_t options);

/*
 * All that was sampled since the last read: events one behind the other, in the order of their
 * times, each at a multiple of 8 bytes (see scap_sampler_event). *actual is their size, 0 if there
 * are none. -EINVAL: @len is less than *actual, and nothing was read. @options must be 0.
 */
int scap_sampler_read(struct scap_sampler *s, uint32_t options, void *buf, size_t len,
		      size_t *actual);

/* The event at *at of what was read, which moves behind it; NULL: there is none. Its time is of the
 * epoch. */
const struct ppm_evt_hdr *scap_sampler_event(const void *buf, size_t len, size_t *at);

void scap_sampler_get_stats(const struct scap_sampler *s, struct scap_sampler_stats *st);

/* Stops it, and frees all. NULL is fine. */
void scap_sampler_close(struct scap_sampler *s);

#endif /* SCAP_SAMPLING_SCAP_SAMPLER_H */
