/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redaction: captured values are overwritten by asterisks. Lengths, and the NULs between strings,
 * remain, so an event stays valid. A source overwrites before it returns an event or its state, so
 * that no caller of it sees the values.
 */
#ifndef SCAP_REDACT_REDACT_H
#define SCAP_REDACT_REDACT_H

#include "event/event_table.h"
#include "state.h"

struct scap_redact; /* what is overwritten; for the sources of one thread */

/* Kinds of values that are overwritten as a whole. */
enum scap_redact_kind {
	SCAP_REDACT_BUFFERS = 1 << 0,
	SCAP_REDACT_ARGS = 1 << 1,
	SCAP_REDACT_ENV = 1 << 2,
};

/* Returns 0 or -ENOMEM. */
int scap_redact_new(struct scap_redact **out);
void scap_redact_free(struct scap_redact *r);

/* Adds a kind by its name, or returns -ENOENT. */
int scap_redact_add(struct scap_redact *r, const char *name);
/* Returns the name of kind @i; NULL after the last. */
const char *scap_redact_name(unsigned int i);
/* Adds a regular expression: what it matches in any value is overwritten. Returns 0; -EINVAL with
 * the reason in *why (256 bytes) and the place in *at; -ENOMEM. */
int scap_redact_add_pattern(struct scap_redact *r, const char *text, size_t len, char *why,
			    size_t *at);
/* Returns the kinds that were added: enum scap_redact_kind. */
unsigned int scap_redact_kinds(const struct scap_redact *r);

struct scap_redact_counts {
	uint64_t n; /* values and matches that were overwritten */
	uint64_t n_unsearched; /* of these: values whose search exceeded its limit */
};

void scap_redact_get_counts(const struct scap_redact *r, struct scap_redact_counts *counts);
/* Counts from 0 again: the same events are read once more. */
void scap_redact_restart(struct scap_redact *r);

/* ---- for sources ---- */

/* Returns whether the event @evt, with the parameters @ps, may have values to overwrite. */
int scap_redact_wants(const struct scap_redact *r, const struct ppm_evt_hdr *evt,
		      const struct scap_params *ps);
/* Overwrites the values of an event in @copy, a copy of it. */
void scap_redact_event(struct scap_redact *r, void *copy, const struct ppm_evt_hdr *evt,
		       const struct scap_params *ps);
/* Overwrites the values of a state in place; its text must be writable. */
void scap_redact_state(struct scap_redact *r, const struct scap_state *st);

#endif /* SCAP_REDACT_REDACT_H */
