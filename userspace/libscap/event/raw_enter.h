/* SPDX-License-Identifier: Apache-2.0 */
/* The enter event of a call of which only the six arguments are known. */
#ifndef SCAP_EVENT_RAW_ENTER_H
#define SCAP_EVENT_RAW_ENTER_H

#include "event/event.h"
#include "event/event_table.h"
#include "shared/convert.h"

/* Builds the event of @rec (REC_F_RAW_ENTER) in @buf. 0, -ENOSPC, or -EBADMSG. */
int scap_raw_enter(void *buf, size_t buf_sz, const struct rec_hdr *rec);

/* The rows of the call @nr whose pointers a raw enter follows, in its order: how many, at most
 * @max. */
unsigned int scap_raw_carried(unsigned int nr, const struct call_row **rows, unsigned int max);

#endif /* SCAP_EVENT_RAW_ENTER_H */
