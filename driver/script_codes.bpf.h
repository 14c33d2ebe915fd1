/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the walkers of interpreters share: reads of objects, and which code objects were sent. A
 * code object is sent as an event once, before the first sample with a frame of it.
 */
#ifndef DRIVER_SCRIPT_CODES_BPF_H
#define DRIVER_SCRIPT_CODES_BPF_H

#include "compiler.bpf.h"
#include "maps.bpf.h"
#include "other_memory.bpf.h"
#include "shared/interp.h"
#include "shared/user_walk.h"

#define SCRIPT_SENT_BITS 15

/* Tags of what was sent, by their first bits, those of a hash of the address. What another code
 * object replaced, at its address or elsewhere, is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1u << SCRIPT_SENT_BITS);
	__type(key, u32);
	__type(value, u64);
} scripts_sent SEC(".maps");

/* Results of a step of a walker. */
enum { SCRIPT_MORE, SCRIPT_END, SCRIPT_FULL, SCRIPT_OTHER };

/* Computes the checksum of a code object from three of its numbers. */
static __always_inline u32 script_check(u64 a, u64 b, u64 c)
{
	return ((a ^ b << 32 ^ c) * 0x9e3779b97f4a7c15ull) >> (64 - STACK_SCRIPT_BITS);
}

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

/* Returns the tag of a code object with this checksum; @at: a hash of its address. */
static __always_inline u64 script_tag(u64 at, u32 check)
{
	return at >> (64 - SCRIPT_SENT_BITS) << (64 - SCRIPT_SENT_BITS) |
	       (at ^ check) * 0xc2b2ae3d27d4eb4full >> SCRIPT_SENT_BITS;
}

#define GLIBC_KEYS_AT 0x310 /* from the thread pointer: pairs of a serial number and a value */
#define GLIBC_KEYS 32

/* Returns the value of the thread for a key of pthread_key_create; 0: none, or not found. */
static __always_inline u64 thread_value(struct user_walk *w, u32 key)
{
	if (!w->tls || key >= GLIBC_KEYS || read_word(w, w->tls + GLIBC_KEYS_AT + key * 16ull + 8))
		return 0;
	return w->word;
}

#define GLIBC_DTV_AT 8 /* from the thread pointer: blocks of thread-local storage, by module */

/* Returns the address of a thread-local variable by its module and offset, which lie at @slot for
 * __tls_get_addr; 0: not found. */
static __always_inline u64 thread_variable(struct user_walk *w, u64 slot)
{
	u64 at;

	if (!w->tls || read_word(w, slot))
		return 0;
	at = w->word * 16;
	if (read_word(w, w->tls + GLIBC_DTV_AT) || read_word(w, w->word + at))
		return 0;
	at = w->word;
	return read_word(w, slot + 8) ? 0 : w->word + at;
}

/* Returns a number in the object that was read last. */
static __always_inline u64 object_u64(const struct user_walk *w, u16 at)
{
	return *(const u64 *)(w->object + (at & (WALK_SCRIPT_SZ - 8)));
}

static __always_inline u16 object_u16(const struct user_walk *w, u16 at)
{
	return *(const u16 *)(w->object + (at & (WALK_SCRIPT_SZ - 2)));
}

static __always_inline u32 object_u32(const struct user_walk *w, u16 at)
{
	return *(const u32 *)(w->object + (at & (WALK_SCRIPT_SZ - 4)));
}

/* Appends a frame for what the runtime does. It comes before all frames of the language. */
static __always_inline int walk_put_state(struct user_walk *w, u32 walker, enum stack_state state)
{
	return walk_put_code(w, walker, state, 0, 0);
}

/* Notes that a frame of the code object at @code was put. @at and @file: see struct walk_code. */
static __always_inline void script_used(struct user_walk *w, u32 walker, u64 code, u32 check,
					u64 at, u64 file)
{
	struct walk_code *c;
	const u64 *sent;
	u8 *slot;

	/* Names belong to a PID; a child of vfork has the memory of its parent. */
	w->scratch = (code ^ w->space << 16 ^ (u64)w->pid << 42) * 0x9e3779b97f4a7c15ull;
	w->scratch = script_tag(w->scratch, check);
	sent = script_sent(w->scratch);
	if (!sent || ONCE(*sent) == w->scratch || w->n_codes >= WALK_CODES_MAX)
		return;
	slot = &w->code_slots[w->scratch & (WALK_CODE_SLOTS - 1)];
	if (*slot < w->n_codes && w->codes[*slot].tag == w->scratch)
		return;
	*slot = w->n_codes;
	c = &w->codes[w->n_codes & (WALK_CODES_MAX - 1)];
	c->code = code;
	c->tag = w->scratch;
	c->at = at;
	c->file = file;
	c->check = check;
	c->walker = walker;
	w->n_codes++;
}

/*
 * Returns whether the frames at @next, of another activation, belong to the first one, which ended
 * with @r. A program puts the first frame of an activation before it calls the loop, and removes
 * it after the loop's end: a walk between the two has one native frame of a loop less than there
 * are activations. It finds this out at its end (scripts_left), and begins again.
 */
static __always_inline int script_joins(struct user_walk *w, u32 walker, int r, u64 next)
{
	if (r != SCRIPT_END || w->joins != walker || !next)
		return 0;
	w->joins = 0;
	return 1;
}

#endif /* DRIVER_SCRIPT_CODES_BPF_H */
