/* SPDX-License-Identifier: GPL-2.0 */
/* How the driver's walks reach memory: the stack of the current task, tables, a cache. */
#ifndef DRIVER_WALK_MEMORY_BPF_H
#define DRIVER_WALK_MEMORY_BPF_H

#include "maps.bpf.h"
#include "walk_state.h"

struct unwind_chunk_template {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, UNWIND_CHUNK_SZ);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_CHUNKS_MAX);
	__uint(key_size, sizeof(u32));
	__array(values, struct unwind_chunk_template);
} unwind_chunks SEC(".maps");

/* By CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct unwind_cache);
} unwind_caches SEC(".maps");

static __always_inline int walk_fill(struct user_walk *w, u32 sz, u64 addr)
{
	/* "R2 unbounded memory access": as it is stored and loaded, its bound is not known. */
	if (sz > WALK_WINDOW)
		return -1;
	return bpf_probe_read_user(w->window, sz, (void *)addr);
}

static __always_inline const u64 *walk_chunk(const struct user_walk *w, u32 chunk)
{
	void *map = bpf_map_lookup_elem(&unwind_chunks, &chunk);
	u32 zero = 0;

	(void)w;
	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

/* The walkers of interpreters, each a function of a header of its own. To the verifier this is a
 * function apart, and without rows it is none. */
static __noinline int walk_script(struct user_walk *w, u32 walker)
{
	switch (walker) {
#define X(sym, name, fn)                                                                           \
	case STACK_WALKER_##sym:                                                                   \
		return fn(w);
		STACK_WALKERS(X)
#undef X
	default:
		return w ? 0 : 1;
	}
}

/* NULL: this CPU came up after the start. */
static __always_inline struct unwind_cache *walk_cache(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&unwind_caches, &cpu);
}

#endif /* DRIVER_WALK_MEMORY_BPF_H */
