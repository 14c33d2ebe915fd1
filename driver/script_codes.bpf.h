/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code objects of interpreters: which ones were sent. A code object is sent as an event once,
 * before the first sample with a frame of it.
 */
#ifndef DRIVER_SCRIPT_CODES_BPF_H
#define DRIVER_SCRIPT_CODES_BPF_H

#include "compiler.bpf.h"
#include "maps.bpf.h"
#include "shared/interp.h"
#include "shared/walk_state.h"

#define SCRIPT_SENT_BITS 15

/* Tags of what was sent, by their hash. A tag that another one replaced is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1u << SCRIPT_SENT_BITS);
	__type(key, u32);
	__type(value, u64);
} scripts_sent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, INTERP_PROCESSES_MAX);
	__type(key, struct interp_key);
	__type(value, struct interp_process);
} interp_processes SEC(".maps");

static __always_inline u64 *script_sent(u64 tag)
{
	u32 at = tag >> (64 - SCRIPT_SENT_BITS);

	return bpf_map_lookup_elem(&scripts_sent, &at);
}

/* Notes that a frame of the code object at @code was put. */
static __always_inline void script_used(struct user_walk *w, u32 walker, u64 code, u32 check)
{
	const u64 tag =
		((code ^ w->space << 16) * 0x9e3779b97f4a7c15ull ^ check) * 0xc2b2ae3d27d4eb4full;
	const u64 *sent = script_sent(tag);
	struct walk_code *c;

	if (!sent || ONCE(*sent) == tag || w->n_codes >= WALK_CODES_MAX)
		return;
	c = &w->codes[w->n_codes & (WALK_CODES_MAX - 1)];
	c->code = code;
	c->tag = tag;
	c->check = check;
	c->walker = walker;
	w->n_codes++;
}

#endif /* DRIVER_SCRIPT_CODES_BPF_H */
