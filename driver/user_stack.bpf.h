/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the user stack of the current task, from the registers that it left user mode with.
 *
 * The walker has its memory to itself: one per CPU and depth of nesting, since a sample may
 * interrupt another. Reads never fault pages in, and each address is checked before it is read: a
 * read that fails costs as much as twenty that do not. One failing read ends the walk.
 */
#ifndef DRIVER_USER_STACK_BPF_H
#define DRIVER_USER_STACK_BPF_H

#include "maps.bpf.h"
#include "user_walk.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DRV_LEVELS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct user_walk));
} user_walks SEC(".maps");

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

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

/* UNWIND_CACHE_SZ entries of each CPU, one CPU's behind the other's. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_CACHE_SZ);
	__type(key, u32);
	__type(value, struct unwind_cached);
} unwind_cache SEC(".maps");

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

static __always_inline struct unwind_cached *walk_cached(const struct user_walk *w, u32 i)
{
	u32 at = bpf_get_smp_processor_id() * UNWIND_CACHE_SZ + (i & (UNWIND_CACHE_SZ - 1));

	(void)w;
	return bpf_map_lookup_elem(&unwind_cache, &at);
}

/* Finds the process's mappings. False: nothing is known of them yet, and frame pointers must do. */
static __always_inline bool find_process(struct user_walk *w)
{
	u32 pid = w->pid; /* on the stack, where Linux 6.1 wants keys */
	struct unwind_process *p;

	w->n_maps = 0;
	if (!sampler_cfg.tables)
		return true;
	p = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (!p)
		return false;
	w->gen = ONCE(p->gen);
	barrier();
	w->maps = p->maps;
	w->n_maps = p->n_maps;
	p->n_walks++; /* some may be missed: it is only to see which processes are sampled */
	barrier();
	return w->n_maps && ONCE(p->gen_end) == w->gen;
}

/* A callback of bpf_loop. */
static long user_step(u32 i, void *ctx)
{
	(void)i;
	return walk_step(*(struct user_walk **)ctx);
}

/* The user stack of the current task, into @w. A function of its own to the verifier. */
__noinline int user_frames(struct user_walk *w)
{
	bool known;

	if (!w)
		return 0;
	known = find_process(w);
	if (walk_begin(w))
		return 0;
	bpf_loop(STACK_USER_MAX, user_step, &w, 0);
	/* What frame pointers led to may be all, or not. */
	if (!known && w->end != STACK_END_DEPTH && w->end != STACK_END_FAULT)
		w->end = STACK_END_NEW;
	return 0;
}

#endif /* DRIVER_USER_STACK_BPF_H */
