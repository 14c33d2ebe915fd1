/* SPDX-License-Identifier: Apache-2.0 */
/* An event, as a source delivers it. */
#ifndef SCAP_EVENT_EVENT_H
#define SCAP_EVENT_EVENT_H

#include <stdint.h>

#include "shared/record.h"

enum scap_evt_flags {
	SCAP_EVT_F_HIDDEN = 1 << 0, /* an enter that was not a record of its own, or whose call did
				       not block: hidden by default */
	SCAP_EVT_F_BLOCKED = 1 << 1, /* an enter whose call blocked */
	SCAP_EVT_F_FULL =
		1 << 2, /* an exit that also has the parameters of its enter; from saker only */
	SCAP_EVT_F_CLAMPED =
		1 << 3, /* ts_ns was moved forward to keep the order; true_ns is the real time */
	SCAP_EVT_F_STATE_ONLY = 1 << 4, /* changes state and is not shown (EVF blocks) */
	SCAP_EVT_F_IA32 = 1 << 5,
	SCAP_EVT_F_CHANGED = 1 << 6, /* an exit: another thread changed an argument in memory during
					the call; the event shows the value at the enter */
	SCAP_EVT_F_BEFORE = 1 << 7, /* an enter of a call that was under way when the capture began;
				       ts_ns is when it was seen, its real time is unknown */
};

/* hdr and what it points to are borrowed until the next call on the source. */
struct scap_evt {
	const struct ppm_evt_hdr *hdr; /* do not use its ts: use ts_ns */
	uint64_t num; /* from 1; 0: a private event, which takes no number */
	uint64_t ts_ns; /* since the epoch */
	uint64_t true_ns; /* = ts_ns unless moved */
	uint16_t cpu;
	uint16_t type; /* = hdr->type, below EVT_PUBLIC_MAX or from EVT_PRIVATE (events.h) */
	uint16_t nr; /* system call number, if known; else REC_NR_NONE */
	uint16_t flags;
};

#endif /* SCAP_EVENT_EVENT_H */
