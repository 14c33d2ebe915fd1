/* SPDX-License-Identifier: GPL-2.0 */
/* Puts texts and tables of a code object into its event. */
#ifndef DRIVER_SCRIPT_TEXT_BPF_H
#define DRIVER_SCRIPT_TEXT_BPF_H

#include "enter.bpf.h"
#include "script_codes.bpf.h"

/* A text in the memory of the process. */
struct script_text {
	u64 at; /* address of the characters; 0: none */
	u64 len; /* bytes */
	u8 kind; /* enum interp_text */
};

/* Puts bytes of the process, at most @max, a constant. */
static __always_inline void put_script_bytes(struct rec *r, struct user_walk *w, u64 at, u64 len,
					     u32 max)
{
	u64 n = widen_in(&w->scratch, at ? len : 0, max);

	if (n && bpf_probe_read_user(put_here(r), n, (void *)at))
		n = 0;
	put_done(r, widen_in(&w->scratch, n, max));
	r->off = widen_in(&w->scratch, r->off, REC_OFF_MAX);
}

#endif /* DRIVER_SCRIPT_TEXT_BPF_H */
