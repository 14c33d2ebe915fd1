/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the driver as events: one call is an enter and an exit. */
#ifndef SCAP_EVENT_EXPAND_H
#define SCAP_EVENT_EXPAND_H

#include "event/event.h"
#include "event/event_table.h"

struct scap_expand;

struct scap_expand *scap_expand_new(void); /* NULL: no memory */
void scap_expand_free(struct scap_expand *x);

/* A finished call whose enter is still to be made of it: two events. */
static inline int scap_rec_has_enter(const struct rec_hdr *rec)
{
	return rec->enter_ns && !(rec->flags & (REC_F_ENTER_SENT | REC_F_RAW_ENTER)) &&
	       rec->evt.type & 1;
}

/*
 * The enter of a finished call or of a raw enter; all of *evt but the times, the CPU and
 * the number. Borrowed until the next call here. 0, or -EBADMSG for a malformed record.
 */
int scap_expand_enter(struct scap_expand *x, struct scap_evt *evt, const struct rec_hdr *rec);

/* The event that the record carries itself. Borrowed from the record. */
int scap_expand_exit(struct scap_evt *evt, const struct rec_hdr *rec);

#endif /* SCAP_EVENT_EXPAND_H */
