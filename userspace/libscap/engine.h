/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between a source and its engine: live, file or fake. An engine delivers finished
 * events; source.c numbers and counts them. */
#ifndef SCAP_ENGINE_H
#define SCAP_ENGINE_H

#include "scap.h"

/* SCAP_NEW_SECTION where another file begins: numbers restart at 1, as in sysdig. Callers of
 * scap_next get SCAP_NEW_SECTION. */
#define SCAP_NEW_FILE 3

struct scap_engine_ops {
	/* Works as scap_next, but leaves num to source.c. */
	int (*next)(void *engine, struct scap_evt *evt, int timeout_ms);
	/* Works as scap_next_split; NULL: source.c splits. */
	int (*next_split)(void *engine, struct scap_evt *evt, struct scap_params *params,
			  int timeout_ms);
	int (*stop)(void *engine); /* NULL: nothing to stop */
	int (*is_over)(const void *engine); /* NULL: never */
	const struct scap_state *(*state)(const void *engine);
	int (*in_order)(const void *engine); /* NULL: not known */
	const struct scap_skipped *(*skipped)(const void *engine); /* NULL: nothing is */
	int (*is_damaged)(const void *engine); /* NULL: it is not */
	void (*state_drop)(void *engine); /* NULL: keeping the state costs little */
	int (*running)(void *engine, const struct scap_running **out); /* NULL: not known */
	double (*progress)(const void *engine); /* NULL: 0 */
	/* st already has n_events, as counted by source.c. */
	int (*stats)(const void *engine, struct scap_stats *st);
	int (*sampler_stats)(const void *engine, struct scap_sampler_stats *st); /* NULL: none */
	int (*open_code)(const void *engine, uint32_t dev, uint64_t ino); /* NULL: none */
	uint64_t (*begin)(const void *engine); /* NULL: 0 */
	uint64_t (*now)(const void *engine); /* NULL: 0 */
	void (*close)(void *engine);
};

/* Each sets *engine only when it returns 0. */
int scap_live_open(void **engine, const struct scap_open_opts *opts, const struct scap_log *log);
int scap_file_open(void **engine, const struct scap_open_opts *opts, const struct scap_log *log);
/* Opens a live engine that has only a sampler, not yet started. */
int scap_live_open_sampler(void **engine, const struct scap_open_opts *opts,
			   const struct scap_log *log);
struct live_sampler;
struct live_sampler *scap_live_sampler(void *engine);
/* Works as live_sampler_stop; the samples taken so far can still be read, with their stacks. */
int scap_live_stop_sampler(void *engine);
extern const struct scap_engine_ops scap_live_ops, scap_file_ops, scap_fake_ops;

/* Opens a source over an engine that is already open, and takes ownership of it. @redact: as in
 * scap_open_opts. Used by engine_fake.h. */
int scap_open_engine(struct scap **out, const struct scap_engine_ops *ops, void *engine,
		     struct scap_redact *redact, const struct scap_log *log);

#endif /* SCAP_ENGINE_H */
