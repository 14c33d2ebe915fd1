/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sampler without a capture: takes stack samples only; no system call is hooked. One at a time.
 * Everything not described here is as in a capture (scap_sampler_opts).
 *
 * create --> start --> read ... --> stop --> read --> close
 *
 * It may be started again after a stop. Samples wait in a buffer for each CPU; a full one drops new
 * samples, and reports their number when it continues.
 */
#ifndef SCAP_SAMPLING_SCAP_SAMPLER_H
#define SCAP_SAMPLING_SCAP_SAMPLER_H

#include "scap.h"

struct scap_sampler;

struct scap_sampler_create_opts {
	size_t sz; /* sizeof(struct scap_sampler_create_opts); new fields go last */
	const struct scap_sampler_opts *sampler; /* NULL: 99 samples per second on each CPU */
	const struct scap_select *select; /* only these tasks; NULL: all */
	int ring_kind; /* as in scap_open_opts */
	size_t ring_sz;
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
};

/* Creates the buffers; nothing is sampled yet. Returns -EEXIST if there is another sampler. opts
 * may be NULL. */
int scap_sampler_create(struct scap_sampler **out, const struct scap_sampler_create_opts *opts);

/* Starts or stops. @options must be 0. Returns -EINVAL if it already runs, or does not run. */
int scap_sampler_start(struct scap_sampler *s, uint32_t options);
int scap_sampler_stop(struct scap_sampler *s, uint32_t options);

/*
 * Reads all samples since the last read, and changes of the mappings of any process: events one
 * after the other, in order of time, each aligned to 8 bytes (see scap_sampler_event). *actual is
 * their size, 0 if there are none. Returns -EINVAL if @len is less than *actual; nothing was read
 * then. @options must be 0.
 */
int scap_sampler_read(struct scap_sampler *s, uint32_t options, void *buf, size_t len,
		      size_t *actual);

/* Returns the event at offset *at of what was read, and moves *at behind it. NULL: no more events.
 * Its time is since the epoch. */
const struct ppm_evt_hdr *scap_sampler_event(const void *buf, size_t len, size_t *at);

void scap_sampler_get_stats(const struct scap_sampler *s, struct scap_sampler_stats *st);

/* Stops and frees it. NULL is allowed. */
void scap_sampler_close(struct scap_sampler *s);

#endif /* SCAP_SAMPLING_SCAP_SAMPLER_H */
