/* SPDX-License-Identifier: GPL-2.0 */
/* Memory access of the driver's walks: the stack of the current task, tables, a cache. */
#ifndef DRIVER_WALK_MEMORY_BPF_H
#define DRIVER_WALK_MEMORY_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

#include "script_places.bpf.h"
#include "shared/walk_state.h"
#include "walk_beam.bpf.h"
#include "walk_java.bpf.h"
#include "walk_lua.bpf.h"
#include "walk_node.bpf.h"
#include "walk_perl.bpf.h"
#include "walk_php.bpf.h"
#include "walk_python.bpf.h"
#include "walk_ruby.bpf.h"

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
	/*
	 * "R2 unbounded memory access": the verifier loses the bound when it is stored and loaded.
	 */
	if (sz > WALK_WINDOW)
		return -1;
	return walk_read(w, w->window, sz, addr);
}

static __always_inline const u64 *walk_chunk(const struct user_walk *w, u32 chunk)
{
	void *map = bpf_map_lookup_elem(&unwind_chunks, &chunk);
	u32 zero = 0;

	(void)w;
	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

/* Calls the walker of an interpreter, each a function in a header of its own, verified on its own.
 */
static __always_inline int walk_script(struct user_walk *w, u32 walker)
{
	struct interp_key key = {.pid = w->pid, .walker = walker};
	struct interp_process *p = bpf_map_lookup_elem(&interp_processes, &key);

	if (!p)
		return 0;
	switch (walker) {
#define X(sym, number, name, fn)                                                                   \
	case STACK_WALKER_##sym:                                                                   \
		return fn(w, p);
		STACK_WALKERS(X)
#undef X
	default:
		return 0;
	}
}

#define PROBES_MAX 64 /* maximum number of nested return probes of a thread that are searched */
#define PROBE_SLOT 128 /* [uprobes] begins with the code that return probes return to */

/* Finds the original of a probed instruction, which runs elsewhere. */
static __always_inline int probed_insn(struct user_walk *w, struct task_struct *task)
{
	struct uprobe_task *utask = NULL;
	u64 off;

	if (!bpf_core_field_exists(utask->xol_vaddr))
		return -1;
	utask = BPF_CORE_READ(task, utask);
	if (!utask || !BPF_CORE_READ(utask, active_uprobe))
		return -1;
	off = w->ip - BPF_CORE_READ(utask, xol_vaddr);
	if (off >= PROBE_SLOT)
		return -1;
	w->ip = BPF_CORE_READ(utask, vaddr) + off;
	return 0;
}

/* Returns the innermost return probe of @task; NULL: none, or unknown. */
static __always_inline struct return_instance *return_probes(struct task_struct *task)
{
	struct uprobe_task *utask = NULL;

	if (!bpf_core_field_exists(utask->return_instances))
		return NULL;
	utask = BPF_CORE_READ(task, utask);
	return utask ? BPF_CORE_READ(utask, return_instances) : NULL;
}

/* Finds the original return address of a function that returns to a probe, by the place of its
 * return address. The probe has pushed some words by the time it calls the kernel. */
static __always_inline int probed_return(struct user_walk *w, struct task_struct *task)
{
	struct return_instance *r = return_probes(task);

	for (u32 i = 0; i < PROBES_MAX && r; i++) {
		const u64 sp = BPF_CORE_READ(r, stack) + 8;

		if (w->exact ? sp >= w->sp : sp == w->sp) {
			w->ip = BPF_CORE_READ(r, orig_ret_vaddr);
			w->sp = sp;
			w->exact = 0;
			return 0;
		}
		r = BPF_CORE_READ(r, next);
	}
	return -1;
}

/* Verified on its own. */
static __noinline int walk_probe(struct user_walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!w || w->other)
		return -1;
	if (w->exact && (w->ip & 4095) >= PROBE_SLOT)
		return probed_insn(w, task);
	return probed_return(w, task);
}

/* NULL: this CPU has none. */
static __always_inline struct unwind_cache *walk_cache(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&unwind_caches, &cpu);
}

#endif /* DRIVER_WALK_MEMORY_BPF_H */
