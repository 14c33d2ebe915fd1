/* SPDX-License-Identifier: Apache-2.0 */
/* Expands records of the driver into events: a call is an enter event and an exit event. */
#ifndef SCAP_EVENT_EXPAND_H
#define SCAP_EVENT_EXPAND_H

#include "event/event.h"
#include "event/event_table.h"

struct scap_expand;

struct scap_expand *scap_expand_new(void); /* NULL: no memory */
void scap_expand_free(struct scap_expand *x);

/* A record that holds a whole call: expands into two events. */
static inline int scap_rec_has_enter(const struct rec_hdr *rec)
{
	return rec->enter_ns && !(rec->flags & (REC_F_ENTER_SENT | REC_F_RAW_ENTER)) &&
	       rec->evt.type & 1;
}

/*
 * Builds the enter event of a finished call or of a raw enter; all of *evt except times, CPU and
 * number, and its parameters unless @params is NULL. Borrowed until the next call of this function.
 * Returns 0, or -EBADMSG for a malformed record.
 */
int scap_expand_enter(struct scap_expand *x, struct scap_evt *evt, struct scap_params *params,
		      const struct rec_hdr *rec);

/* Returns the event that the record holds itself, as scap_expand_enter. Borrowed from the record.
 */
int scap_expand_exit(struct scap_evt *evt, struct scap_params *params, const struct rec_hdr *rec);

#endif /* SCAP_EVENT_EXPAND_H */
