/* SPDX-License-Identifier: Apache-2.0 */
/* Raw enters: enter events of calls of which only the six arguments are known. */
#ifndef SCAP_EVENT_RAW_ENTER_H
#define SCAP_EVENT_RAW_ENTER_H

#include "event/event.h"
#include "event/event_table.h"
#include "shared/convert.h"

/* Builds the enter event of @rec (REC_F_RAW_ENTER) in @buf. Returns 0, -ENOSPC, or -EBADMSG. */
int scap_raw_enter(void *buf, size_t buf_sz, const struct rec_hdr *rec);

/* Finds the parameters of call @nr whose pointers a raw enter follows, in order. Returns their
 * number, at most @max. */
unsigned int scap_raw_carried(unsigned int nr, const struct call_row **rows, unsigned int max);

#endif /* SCAP_EVENT_RAW_ENTER_H */
