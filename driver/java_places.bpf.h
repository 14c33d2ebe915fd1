/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What saker keeps of Java's code: what its blob says about an address, the methods there, and what
 * a method is. Finding out takes dozens of reads, and comparing what is kept with the process one.
 *
 * All CPUs share the tables. A slot's serial number is odd while one writes to it. A reader that
 * finds it odd, or changed after reading, does without the slot.
 */
#ifndef DRIVER_JAVA_PLACES_BPF_H
#define DRIVER_JAVA_PLACES_BPF_H

#include "java_blobs.bpf.h"

#define JAVA_PLACES_BITS 13
#define JAVA_METHODS_BITS 12

/* Offsets in structures of all versions. */
#define JAVA_METHOD_CONST 8
#define JAVA_CONST_CONSTANTS 8
#define JAVA_CONST_IDS 32 /* sizes and indexes */
#define JAVA_CONST_SZ 64 /* of what is read */
#define JAVA_CONSTANTS_CACHE 16

struct java_place_slot {
	u64 serial;
	struct walk_java_place place;
};

struct java_method_slot {
	u64 serial;
	struct walk_java_method method;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1u << JAVA_PLACES_BITS);
	__type(key, u32);
	__type(value, struct java_place_slot);
} java_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1u << JAVA_METHODS_BITS);
	__type(key, u32);
	__type(value, struct java_method_slot);
} java_methods SEC(".maps");

/* Reserves a slot for writing. Returns not 0 if another one writes to it. */
static __always_inline int java_reserve(u64 *serial)
{
	const u64 before = ONCE(*serial);

	return before & 1 || __sync_val_compare_and_swap(serial, before, before + 1) != before;
}

static __always_inline void java_release(u64 *serial)
{
	barrier();
	ONCE(*serial) = *serial + 1;
}

/* ---- places ---- */

static __always_inline struct java_place_slot *java_place_slot(const struct user_walk *w, u64 pc,
							       u64 scope)
{
	u32 at = java_mix(java_mix(java_process(w), pc), scope) >> (64 - JAVA_PLACES_BITS);

	return bpf_map_lookup_elem(&java_places, &at);
}

/* Copies the place of @pc and @scope to w->java.place, if it is kept and its blob is still the
 * same. Returns not 0 otherwise. Verified on its own. */
WALK_FUNC int java_place_find(struct user_walk *w, const struct interp_process *p, u64 pc,
			      u64 scope)
{
	const struct java_place_slot *slot;
	u64 serial;

	if (!w || !p)
		return -1;
	slot = java_place_slot(w, pc, scope);
	if (!slot)
		return -1;
	serial = ONCE(slot->serial);
	barrier();
	if (serial & 1 || slot->place.pc != pc || slot->place.scope != scope)
		return -1;
	w->java.place = slot->place;
	barrier();
	if (ONCE(slot->serial) != serial || w->java.place.process != java_process(w))
		return -1;
	return java_is_blob(w, &p->java) ? 0 : -1;
}

static __always_inline void java_place_keep(const struct user_walk *w)
{
	struct java_place_slot *slot = java_place_slot(w, w->java.place.pc, w->java.place.scope);

	if (!slot || java_reserve(&slot->serial))
		return;
	slot->place = w->java.place;
	java_release(&slot->serial);
}

/* ---- methods ---- */

static __always_inline struct java_method_slot *java_method_slot(const struct user_walk *w,
								 u64 method)
{
	u32 at = java_mix(java_process(w), method) >> (64 - JAVA_METHODS_BITS);

	return bpf_map_lookup_elem(&java_methods, &at);
}

static __always_inline u64 java_method_print(const struct walk_java_method *m)
{
	return java_mix(java_mix(m->at, m->constants), m->ids);
}

/* Returns whether the ConstMethod of w->java.method is still the same. */
static __always_inline int java_is_const(struct user_walk *w)
{
	const u64 print = java_method_print(&w->java.method);

	if (java_is_checked(w, w->java.method.method, print))
		return 1;
	if (walk_read(w, w->object, JAVA_CONST_IDS + 8, w->java.method.at) ||
	    object_u64(w, JAVA_CONST_CONSTANTS) != w->java.method.constants ||
	    object_u64(w, JAVA_CONST_IDS) != w->java.method.ids)
		return 0;
	java_checked(w, w->java.method.method, print);
	return 1;
}

/* Copies what is kept of @method to w->java.method, if a frame of the interpreter with this @bcp
 * and @cache can be one of it: both lie in memory that the method leads to. Returns not 0 if
 * it cannot, or is not kept. */
static __always_inline int java_method_find(struct user_walk *w, const struct interp_process *p,
					    u64 method, u64 bcp, u64 cache)
{
	const struct java_method_slot *slot = java_method_slot(w, method);
	u64 serial;

	if (!slot)
		return -1;
	serial = ONCE(slot->serial);
	barrier();
	if (serial & 1 || slot->method.method != method)
		return -1;
	w->java.method = slot->method;
	barrier();
	if (ONCE(slot->serial) != serial || w->java.method.process != java_process(w) ||
	    w->java.method.cache != cache ||
	    bcp - w->java.method.at - p->java.const_method_sz >= w->java.method.n_bytecodes)
		return -1;
	return java_is_const(w) ? 0 : -1;
}

/* Reads @method, and keeps it. Returns not 0 if it is no method. Verified on its own. */
WALK_FUNC int java_read_method(struct user_walk *w, const struct interp_process *p, u64 method)
{
	struct java_method_slot *slot;
	struct walk_java_method *m;

	if (!w || !p || !user_word(method) || read_word(w, method + JAVA_METHOD_CONST))
		return -1;
	m = &w->java.method;
	m->at = w->word;
	if (!user_word(m->at) || walk_read(w, w->object, JAVA_CONST_SZ, m->at))
		return -1;
	m->constants = object_u64(w, JAVA_CONST_CONSTANTS);
	if (!user_word(m->constants) || read_word(w, m->constants + JAVA_CONSTANTS_CACHE))
		return -1;
	m->process = java_process(w);
	m->method = method;
	m->cache = w->word;
	m->ids = object_u64(w, JAVA_CONST_IDS);
	m->n_bytecodes = object_u16(w, p->java.code_sz);
	m->check = script_check(m->at, m->constants, m->ids);
	slot = java_method_slot(w, method);
	if (!slot || java_reserve(&slot->serial))
		return 0;
	slot->method = *m;
	java_release(&slot->serial);
	return 0;
}

#endif /* DRIVER_JAVA_PLACES_BPF_H */
