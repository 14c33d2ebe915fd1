/* SPDX-License-Identifier: Apache-2.0 */
/* One event, as a source delivers it. */
#ifndef SCAP_EVENT_EVENT_H
#define SCAP_EVENT_EVENT_H

#include <stdint.h>

#include "shared/record.h"

enum scap_evt_flags {
	SCAP_EVT_F_HIDDEN = 1 << 0, /* an enter that was never a record of its own, or not of a
				       blocked call: not shown unless asked for */
	SCAP_EVT_F_BLOCKED = 1 << 1, /* an enter whose call went to sleep */
	SCAP_EVT_F_FULL =
		1 << 2, /* an exit that carries its enter's parameters, from a saker source */
	SCAP_EVT_F_CLAMPED =
		1 << 3, /* ts_ns was moved up to keep the order; true_ns is the real time */
	SCAP_EVT_F_STATE_ONLY = 1 << 4, /* updates state, is not shown (EVF blocks) */
	SCAP_EVT_F_IA32 = 1 << 5,
	SCAP_EVT_F_CHANGED = 1 << 6, /* an exit: another thread changed an argument in memory; what
					is told was there at the enter */
	SCAP_EVT_F_BEFORE = 1 << 7, /* an enter of a call that was under way when the capture began,
				       which is all that is known of when; ts_ns is when it was
				       seen */
};

/* One event. hdr and what it points to are borrowed until the next call on the source. */
struct scap_evt {
	const struct ppm_evt_hdr *hdr; /* its ts is not to be used: ts_ns is */
	uint64_t num; /* from 1; 0: a private event, which takes no number */
	uint64_t ts_ns; /* since the epoch */
	uint64_t true_ns; /* = ts_ns unless clamped */
	uint16_t cpu;
	uint16_t type; /* = hdr->type, below EVT_PUBLIC_MAX or from EVT_PRIVATE (events.h) */
	uint16_t nr; /* the real system call number, where known; else REC_NR_NONE */
	uint16_t flags;
};

#endif /* SCAP_EVENT_EVENT_H */
