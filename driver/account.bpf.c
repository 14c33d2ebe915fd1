/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounting: totals of processes, cgroups, CPUs, disks and calls, independent of a capture
 * (docs/accounting.md).
 *
 * A task is folded: what it used since it was folded last is added to its process and its cgroup.
 * acct_task.seen is what was added already. It only grows, by compare-and-swap, and whoever moves
 * it adds the difference: so folds of one task at the same time add each difference exactly once,
 * and a total never decreases.
 *
 * Programs may be preempted (Linux 7.0), so all values are added to atomically. Only the times of
 * a CPU are not: sched_switch runs with interrupts off.
 */
#include "compiler.bpf.h"
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "shared/account_maps.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct acct_config acct_cfg = {.subsys = ACCT_NO_SUBSYS, .task_storage = 1};

struct acct_losses acct_losses;
u64 acct_rest[ACCT_MAX]; /* of cgroups that found no room */
u32 acct_absent; /* bits of counters that this kernel does not have */

enum { TASK_NEW, TASK_BEGINS, TASK_READY };

/* A task, until it is freed. All zero at first. */
struct acct_task {
	u32 state;
	u64 cgroup; /* whose the next difference is */
	u64 seen[ACCT_MAX];
	u64 count[ACCT_MAX]; /* by hooks; of kernel counters unused */
	u64 read_file, read_first, read_last; /* pages of a file that it read last */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct acct_task);
} acct_tasks SEC(".maps");

/* In its place before Linux 6.4, where task storage cannot be found while another program on the
 * CPU is in it. By the address of the task. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, struct acct_task);
} acct_task_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, struct acct_process);
} acct_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct acct_cgroup);
} acct_cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the number of possible CPUs, before load */
	__type(key, u32);
	__type(value, struct acct_cpu);
} acct_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct acct_call_key);
	__type(value, struct acct_call);
} acct_calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1024);
	__type(key, struct acct_disk_key);
	__type(value, struct acct_disk);
} acct_disks SEC(".maps");

/* Counters by CPU: that of row i on a CPU is at CPU * ACCT_COUNTERS + i. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* for all possible CPUs, before load */
	__type(key, u32);
	__type(value, u32);
} acct_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the number of possible CPUs, before load */
	__type(key, u32);
	__type(value, struct acct_counters);
} acct_counters_seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct acct_cgroup_io_key);
	__type(value, struct acct_cgroup_io);
} acct_cgroup_io SEC(".maps");

/* Of a request under way. */
struct acct_request {
	u64 cgroup;
	u64 issued_ns; /* 0: it waits in a queue of the kernel */
};

/* By the address of the request. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct acct_request);
} acct_requests SEC(".maps");

/* Whose socket it is. */
struct acct_owner {
	u64 cgroup;
	u64 start_ns;
	u32 pid; /* 0: unknown */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct acct_owner);
} acct_owners SEC(".maps");

static __always_inline void add(u64 *to, u64 n)
{
	__sync_fetch_and_add(to, n);
}

/* Returns the entry of a key; a new one is @none. NULL: there is no room. */
static __always_inline void *entry_of(void *map, const void *key, const void *none)
{
	void *entry = bpf_map_lookup_elem(map, key);

	if (entry)
		return entry;
	bpf_map_update_elem(map, key, none, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

/* ---- cgroups ---- */

#define PATH_DEPTH 10

/* What an entry begins with: too large for the stack. */
static const struct acct_cgroup no_cgroup;

static __always_inline struct cgroup *cgroup_of(struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup_subsys_state *css = NULL;

	if (acct_cfg.subsys < 0)
		return BPF_CORE_READ(set, dfl_cgrp);
	bpf_probe_read_kernel(&css, sizeof(css),
			      (void *)set + bpf_core_field_offset(struct css_set, subsys) +
				      acct_cfg.subsys * sizeof(css));
	return BPF_CORE_READ(css, cgroup);
}

static __always_inline struct kernfs_node *parent_of(struct kernfs_node *kn)
{
	struct kernfs_node___v614 *old = (void *)kn;

	if (bpf_core_field_exists(old->parent))
		return BPF_CORE_READ(old, parent);
	return BPF_CORE_READ(kn, __parent);
}

/* Writes the path of @kn: "/" and the names from the root down, the last ones of a deep path behind
 * "/...", the first ones of a long path. Who makes cgroups may choose names, but not the path of
 * another cgroup. */
static __always_inline void write_path(struct acct_cgroup *c, struct kernfs_node *kn)
{
	struct kernfs_node *up[PATH_DEPTH] = {};
	u64 at = 0;

#pragma unroll
	for (int i = 0; i < PATH_DEPTH; i++) {
		struct kernfs_node *parent = kn ? parent_of(kn) : NULL;

		up[i] = parent ? kn : NULL;
		kn = parent;
	}
	c->path[0] = '/';
	if (kn && parent_of(kn)) {
		__builtin_memcpy(c->path, "/...", 4);
		at = 4;
	}
#pragma unroll
	for (int i = PATH_DEPTH - 1; i >= 0; i--) {
		long n;

		if (!up[i] || at >= ACCT_PATH_SZ)
			continue;
		at = bounded(at, ACCT_PATH_SZ - 1);
		c->path[at] = '/';
		n = bpf_probe_read_kernel_str(&c->path[at + 1], ACCT_NAME_SZ - 1,
					      BPF_CORE_READ(up[i], name));
		if (n > 0)
			at += n; /* of its NUL, which the next name overwrites */
	}
}

/* Adds an entry for the cgroup. Verified once. */
__noinline int cgroup_create(u64 cgrp_addr)
{
	struct cgroup *cgrp = (void *)cgrp_addr;
	struct kernfs_node *kn = BPF_CORE_READ(cgrp, kn);
	u64 id = BPF_CORE_READ(kn, id);
	struct acct_cgroup *c;

	if (bpf_map_update_elem(&acct_cgroups, &id, &no_cgroup, BPF_NOEXIST))
		return 0;
	c = bpf_map_lookup_elem(&acct_cgroups, &id);
	if (!c)
		return 0;
	write_path(c, kn);
	/* Its last task is freed after it was removed. */
	c->is_gone = !(BPF_CORE_READ(cgrp, self.flags) & CSS_ONLINE);
	ONCE(c->is_named) = 1;
	return 0;
}

static __always_inline u64 cgroup_id(struct task_struct *task)
{
	return BPF_CORE_READ(cgroup_of(task), kn, id);
}

/* Returns the entry of a cgroup, and its id; NULL: no room. */
static __always_inline struct acct_cgroup *cgroup_entry(struct cgroup *cgrp, u64 *id)
{
	struct acct_cgroup *c;

	*id = BPF_CORE_READ(cgrp, kn, id);
	c = bpf_map_lookup_elem(&acct_cgroups, id);
	if (c)
		return c;
	cgroup_create((u64)cgrp);
	return bpf_map_lookup_elem(&acct_cgroups, id);
}

static __always_inline void add_to_cgroup(struct acct_cgroup *c, u32 i, u64 n)
{
	add(c ? &c->n[i] : &acct_rest[i], n);
}

/* ctx: cgroup. Of any hierarchy: ids of different ones may be the same. */
SEC("?tp_btf/cgroup_rmdir")
int account_cgroup_removed(u64 *ctx)
{
	struct cgroup *mine = cgroup_of(bpf_get_current_task_btf()), *cgrp = (void *)ctx[0];
	u64 id = BPF_CORE_READ(cgrp, kn, id);
	struct acct_cgroup *c;

	if (BPF_CORE_READ(mine, root) != BPF_CORE_READ(cgrp, root))
		return 0;
	c = bpf_map_lookup_elem(&acct_cgroups, &id);
	if (c)
		ONCE(c->is_gone) = 1;
	return 0;
}

/* ---- processes ---- */

/* Adds an entry, in place of that of a process that had the PID before. Verified once. */
__noinline int process_create(u32 pid, u64 start_ns)
{
	struct acct_process p = {.start_ns = start_ns, .seen_ns = bpf_ktime_get_boot_ns()};

	if (bpf_map_update_elem(&acct_processes, &pid, &p, BPF_ANY))
		add(&acct_losses.processes, 1);
	return 0;
}

/* Returns the entry of a process. NULL: it has none, or another process has its PID now. */
static __always_inline struct acct_process *process_find(u32 pid, u64 start_ns)
{
	struct acct_process *p = bpf_map_lookup_elem(&acct_processes, &pid);

	return p && p->start_ns == start_ns ? p : NULL;
}

static __always_inline u64 process_start(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime);
}

static __always_inline struct acct_process *process_entry(struct task_struct *task)
{
	u64 start_ns = process_start(task);
	u32 pid = task->tgid;
	struct acct_process *p = bpf_map_lookup_elem(&acct_processes, &pid);

	if (p && p->start_ns >= start_ns)
		return p->start_ns == start_ns ? p : NULL;
	process_create(pid, start_ns);
	return process_find(pid, start_ns);
}

/* The same of a task that may be dead: the entry of one that was freed must not be made again. */
static __always_inline struct acct_process *process_of(struct task_struct *task)
{
	if (task->__state & STATE_DEAD)
		return process_find(task->tgid, process_start(task));
	return process_entry(task);
}

static __always_inline void describe(struct acct_process *p, struct task_struct *leader, u64 cgroup)
{
	bpf_probe_read_kernel_str(p->comm, sizeof(p->comm), leader->comm);
	p->cgroup = cgroup;
	p->seen_ns = bpf_ktime_get_boot_ns();
}

/* ---- tasks ---- */

/* The total of a row, of @t and @task: what the kernel counts in the task, or what hooks counted.
 */
#define TOTAL_KERNEL(id, source) (bpf_core_field_exists(task->source) ? (u64)task->source : 0)
#define TOTAL_HOOK(id, source) ONCE(t->count[ACCT_##id])
#define TOTAL_COUNTER(id, source) ONCE(t->count[ACCT_##id])
#define TOTAL_SOCKET(id, source) 0ull

/*
 * Sets what a task begins with. A task that is older than the accounting begins with what it has.
 * So does a new one that is folded at its fork: some kernels copy run_delay from its parent.
 */
static __always_inline void begin_task(struct acct_task *t, struct task_struct *task, bool at_fork)
{
	bool begins = at_fork || task->start_boottime < acct_cfg.began_ns;
	u64 id;

	cgroup_entry(cgroup_of(task), &id);
	t->cgroup = id;
#define BEGIN_KERNEL(id, source)                                                                   \
	if (begins || ACCT_##id == ACCT_WAIT)                                                      \
		t->seen[ACCT_##id] = TOTAL_KERNEL(id, source);
#define BEGIN_HOOK(id, source)
#define BEGIN_COUNTER(id, source)
#define BEGIN_SOCKET(id, source)
#define ACCT(id, name, unit, from, source, help) BEGIN_##from(id, source)
#include "account.def"
	__sync_lock_test_and_set(&t->state, TASK_READY);
}

static __always_inline struct acct_task *task_find(struct task_struct *task)
{
	u64 key = (u64)task;

	if (acct_cfg.task_storage)
		return bpf_task_storage_get(&acct_tasks, task, NULL, 0);
	return bpf_map_lookup_elem(&acct_task_hash, &key);
}

static const struct acct_task no_task;

static __always_inline struct acct_task *task_create(struct task_struct *task)
{
	u64 key = (u64)task;

	if (acct_cfg.task_storage)
		return bpf_task_storage_get(&acct_tasks, task, NULL,
					    BPF_LOCAL_STORAGE_GET_F_CREATE);
	bpf_map_update_elem(&acct_task_hash, &key, &no_task, BPF_NOEXIST);
	return bpf_map_lookup_elem(&acct_task_hash, &key);
}

/* Task storage ends with its task; an entry of the hash would be found again under its address. */
static __always_inline void task_delete(struct task_struct *task)
{
	u64 key = (u64)task;

	if (!acct_cfg.task_storage)
		bpf_map_delete_elem(&acct_task_hash, &key);
}

/* Returns the entry of @task. NULL: no memory, or another CPU creates it right now. */
static __always_inline struct acct_task *task_entry(struct task_struct *task, bool at_fork)
{
	struct acct_task *t = task_find(task) ?: task_create(task);

	if (!t || ONCE(t->state) == TASK_READY)
		return t;
	if (__sync_val_compare_and_swap(&t->state, TASK_NEW, TASK_BEGINS) != TASK_NEW)
		return NULL;
	begin_task(t, task, at_fork);
	return t;
}

#define SWAP_TRIES 4 /* how often another fold may be faster */

/* Returns how far @seen lies behind @now, and moves it there. */
static __always_inline u64 claim(u64 *seen, u64 now)
{
	for (int i = 0; i < SWAP_TRIES; i++) {
		u64 was = ONCE(*seen);

		if (now <= was)
			return 0;
		if (__sync_val_compare_and_swap(seen, was, now) == was)
			return now - was;
	}
	return 0;
}

static __always_inline bool has_changed(const struct acct_task *t, struct task_struct *task)
{
	u64 differs = 0;

#define ACCT(id, name, unit, from, source, help)                                                   \
	differs |= TOTAL_##from(id, source) ^ t->seen[ACCT_##id];
#include "account.def"
	return differs;
}

/* Adds a row of what a task used. */
static __always_inline void fold_row(struct acct_task *t, struct acct_process *p,
				     struct acct_cgroup *c, u32 i, u64 total)
{
	u64 n = claim(&t->seen[i], total);

	if (!n)
		return;
	if (p)
		add(&p->n[i], n);
	add_to_cgroup(c, i, n);
}

/* Adds what @task used since the last time. p: its process; NULL: gone, or no room. */
static __always_inline void fold(struct acct_task *t, struct task_struct *task,
				 struct acct_process *p)
{
	u64 id = t->cgroup;
	struct acct_cgroup *c = bpf_map_lookup_elem(&acct_cgroups, &id);

	if (!c && cgroup_id(task) == id)
		c = cgroup_entry(cgroup_of(task), &id);
	if (!c)
		add(&acct_losses.cgroups, 1);
#define ACCT(id, name, unit, from, source, help)                                                   \
	fold_row(t, p, c, ACCT_##id, TOTAL_##from(id, source));
#include "account.def"
}

/* Folds a task that exists, and notes its present cgroup. */
static __always_inline void fold_task(struct task_struct *task)
{
	struct acct_task *t = task_find(task);
	struct acct_process *p;
	u64 id;

	/* One that is dead and has no entry was folded for the last time meanwhile. */
	if (!t && task->__state & STATE_DEAD)
		return;
	t = task_entry(task, false);
	if (!t)
		return;
	p = process_of(task);
	if (has_changed(t, task))
		fold(t, task, p);
	id = cgroup_id(task);
	if (id != t->cgroup) {
		cgroup_entry(cgroup_of(task), &id);
		t->cgroup = id;
	}
	if (p && task->pid == task->tgid)
		describe(p, task, id);
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct bpf_iter_meta;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
#pragma clang attribute pop

/* Folds all tasks when it is read. */
SEC("iter/task")
int account_fold(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		fold_task(task);
	return 0;
}

/* ctx: cgroup, its path, task. The task is in its new cgroup already. */
SEC("?tp_btf/cgroup_attach_task")
int account_moved(u64 *ctx)
{
	fold_task((void *)ctx[2]);
	return 0;
}

/* ctx: parent, child, which has not run yet. */
SEC("tp_btf/sched_process_fork")
int account_fork(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[1];
	struct acct_process *p = process_entry(task);
	struct acct_task *t;

	task_delete(task);
	/* If a reader begins it right now, hooks may count in it already. */
	t = task_entry(task, true) ?: task_find(task);
	if (!t)
		return 0;
	add(&t->count[ACCT_THREADS], 1);
	if (task->pid != task->tgid)
		return 0;
	add(&t->count[ACCT_PROCESSES], 1);
	if (p)
		describe(p, task, cgroup_id(task));
	return 0;
}

/* ctx: task, which begins to exit. What it uses from here on is added when it is freed: then little
 * is missing if that is not seen. */
SEC("tp_btf/sched_process_exit")
int account_exit(u64 *ctx)
{
	fold_task((void *)ctx[0]);
	return 0;
}

/* ctx: task, which will not run again. Its leader may be freed already. */
SEC("tp_btf/sched_process_free")
int account_free(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct acct_task *t = task_entry(task, false);
	u32 pid = task->tgid;
	struct acct_process *p = process_find(pid, process_start(task));

	if (t)
		fold(t, task, p);
	else
		add(&acct_losses.tasks, 1);
	task_delete(task);
	if (p && task->pid == task->tgid)
		bpf_map_delete_elem(&acct_processes, &pid);
	return 0;
}

/* Counts for a task. One without storage is older than the hooks, and gets it from a reader. */
static __always_inline void count(struct task_struct *task, u32 i, u64 n)
{
	struct acct_task *t = task_find(task);

	if (t)
		add(&t->count[i], n);
}

/* ctx: the task that is woken. */
SEC("?tp_btf/sched_waking")
int account_waking(u64 *ctx)
{
	count((void *)ctx[0], ACCT_WAKEUPS, 1);
	return 0;
}

#define PAGE_SHIFT 12

/* Returns how many of the pages from @first to @last the file has. */
static __always_inline u64 pages_of(struct address_space *mapping, u64 first, u64 last)
{
	s64 sz = BPF_CORE_READ(mapping, host, i_size);

	if (sz <= 0)
		return 0;
	if (last > (u64)(sz - 1) >> PAGE_SHIFT)
		last = (u64)(sz - 1) >> PAGE_SHIFT;
	return last >= first ? last - first + 1 : 0;
}

/*
 * ctx: file, first page, last page. A read that gets only some of its pages at once calls this
 * again for the rest, which is counted already.
 */
SEC("?tp_btf/mm_filemap_get_pages")
int account_cache_read(u64 *ctx)
{
	struct acct_task *t = task_find(bpf_get_current_task_btf());
	u64 first = ctx[1], last = ctx[2];
	bool is_rest;

	if (!t)
		return 0;
	is_rest = ONCE(t->read_file) == ctx[0] && ONCE(t->read_last) == last &&
		  ONCE(t->read_first) < first;
	ONCE(t->read_first) = first;
	if (is_rest)
		return 0;
	ONCE(t->read_file) = ctx[0];
	ONCE(t->read_last) = last;
	add(&t->count[ACCT_CACHE_READ], pages_of((void *)ctx[0], first, last));
	return 0;
}

/* The hooks run once for a folio, which may be large. ctx: the folio. */
static __always_inline u64 folio_pages(u64 *ctx)
{
	struct folio *f = (void *)ctx[0];
	struct folio___earlier *old = (void *)f;

	if (!(*(u64 *)ctx[0] >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(f->_nr_pages))
		return BPF_CORE_READ(f, _nr_pages);
	return bpf_core_field_exists(old->_folio_nr_pages) ? BPF_CORE_READ(old, _folio_nr_pages)
							   : 1;
}

SEC("?tp_btf/mm_filemap_add_to_page_cache")
int account_cache_added(u64 *ctx)
{
	count(bpf_get_current_task_btf(), ACCT_CACHE_ADDED, folio_pages(ctx));
	return 0;
}

SEC("?tp_btf/writeback_dirty_folio")
int account_cache_dirtied(u64 *ctx)
{
	count(bpf_get_current_task_btf(), ACCT_CACHE_DIRTIED, folio_pages(ctx));
	return 0;
}

/* ---- CPUs ---- */

static __always_inline struct acct_cpu *this_cpu(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&acct_cpus, &cpu);
}

/* Runs once on each CPU, in an interrupt: its task may not be switched for long. */
SEC("raw_tp")
int account_begin(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct acct_cpu *c = this_cpu();

	(void)ctx;
#define FROM_KERNEL(id, source)                                                                    \
	if (!bpf_core_field_exists(task->source))                                                  \
		acct_absent |= 1u << ACCT_##id;
#define FROM_HOOK(id, source)
#define FROM_SOCKET(id, source)
#define FROM_COUNTER(id, source)
#define ACCT(id, name, unit, from, source, help) FROM_##from(id, source)
#include "account.def"
#undef FROM_KERNEL
#undef FROM_HOOK
#undef FROM_SOCKET
#undef FROM_COUNTER
	if (c && !c->since_ns) {
		c->is_idle = !task->pid;
		ONCE(c->since_ns) = bpf_ktime_get_boot_ns();
	}
	return 0;
}

/* ctx: preempted, task that leaves, task that comes. */
SEC("?tp_btf/sched_switch")
int account_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	u64 now = bpf_ktime_get_boot_ns(), since;
	struct acct_cpu *c = this_cpu();

	if (!c)
		return 0;
	since = c->since_ns;
	ONCE(c->seq)++;
	if (since && prev->pid)
		ONCE(c->busy_ns) += now - since;
	else if (since)
		ONCE(c->idle_ns) += now - since;
	ONCE(c->since_ns) = now;
	ONCE(c->is_idle) = !next->pid;
	ONCE(c->switches)++;
	ONCE(c->seq)++;
	return 0;
}

/*
 * ctx: CPU, target, step. A CPU that comes back continues where it was: the time that it was
 * offline is neither busy nor idle. Nothing else writes its times then.
 */
SEC("?tp_btf/cpuhp_enter")
int account_hotplug(u64 *ctx)
{
	s64 target = (s32)ctx[1], step = (s32)ctx[2];
	u32 cpu = ctx[0];
	struct acct_cpu *c = bpf_map_lookup_elem(&acct_cpus, &cpu);
	u64 now, from;

	if (!c || !c->since_ns)
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (step == (s64)bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU)) {
		c->offline_ns = now;
	} else if (step == (s64)bpf_core_enum_value(enum cpuhp_state, CPUHP_BRINGUP_CPU) &&
		   target > step && c->offline_ns) {
		from = c->offline_ns > c->since_ns ? c->offline_ns : c->since_ns;
		ONCE(c->since_ns) += now - from;
	}
	return 0;
}

/* ---- counters ---- */

/* Adds what the counters of this CPU counted since they were read last to @task, which ran. */
static __always_inline void credit(struct task_struct *task)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct acct_counters *c = bpf_map_lookup_elem(&acct_counters_seen, &cpu);
	struct acct_task *t = task->pid ? task_find(task) : NULL;

	if (!c)
		return;
#pragma unroll
	for (u32 i = 0; i < ACCT_COUNTERS; i++) {
		struct counter_reading now = {};
		u64 n;

		if (!(acct_cfg.counters & 1u << i) ||
		    bpf_perf_event_read_value(&acct_events, cpu * ACCT_COUNTERS + i, (void *)&now,
					      sizeof(now)))
			continue;
		n = counter_delta(&c->seen[i], &now);
		if (t && n)
			add(&t->count[ACCT_FIRST_COUNTER + i], n);
	}
}

/* ctx: preempted, task that leaves, task that comes. */
SEC("?tp_btf/sched_switch")
int account_counters(u64 *ctx)
{
	credit((void *)ctx[1]);
	return 0;
}

/* Runs on each CPU before a read, in an interrupt. */
SEC("?raw_tp")
int account_flush_counters(void *ctx)
{
	(void)ctx;
	credit(bpf_get_current_task_btf());
	return 0;
}

/* ctx: vector. Softirqs of one CPU do not interrupt each other. */
SEC("?tp_btf/softirq_entry")
int account_softirq_entry(u64 *ctx)
{
	struct acct_cpu *c = this_cpu();
	u64 vector = ctx[0]; /* 6.1 loses the bound of 32 bits */

	if (!c || vector >= ACCT_SOFTIRQS)
		return 0;
	add(&c->softirqs[vector].n, 1);
	c->vector = vector;
	c->softirq_ns = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("?tp_btf/softirq_exit")
int account_softirq_exit(u64 *ctx)
{
	struct acct_cpu *c = this_cpu();
	u64 vector = ctx[0]; /* 6.1 loses the bound of 32 bits */

	if (!c || vector >= ACCT_SOFTIRQS || !c->softirq_ns || c->vector != vector)
		return 0;
	add(&c->softirqs[vector].ns, bpf_ktime_get_boot_ns() - c->softirq_ns);
	c->softirq_ns = 0;
	return 0;
}

/* ---- sockets ---- */

#define AF_INET 2
#define AF_INET6 10
#define ST_SYN_SENT 2
#define ST_LISTEN 10
#define MSG_PEEK 2

/* Makes the current process the owner of the socket. Another one may have had its PID before. */
static __always_inline void own(void *sk)
{
	struct acct_owner *o =
		bpf_sk_storage_get(&acct_owners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	struct task_struct *task = bpf_get_current_task_btf();
	u64 start_ns = task->group_leader->start_boottime;

	if (!o || (o->pid == (u32)task->tgid && o->start_ns == start_ns))
		return;
	o->cgroup = cgroup_id(task);
	o->start_ns = start_ns;
	o->pid = task->tgid;
}

static __always_inline bool is_inet(struct sock *sk)
{
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	return family == AF_INET || family == AF_INET6;
}

static __always_inline void transfer(u64 *ctx, u32 i)
{
	s32 n = ctx[1];

	if (n <= 0 || !is_inet((void *)ctx[0]))
		return;
	count(bpf_get_current_task_btf(), i, n);
	own((void *)ctx[0]);
}

/* ctx: socket, result, flags. */
SEC("?tp_btf/sock_send_length")
int account_sent(u64 *ctx)
{
	transfer(ctx, ACCT_NET_SENT);
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int account_received(u64 *ctx)
{
	if (!(ctx[2] & MSG_PEEK))
		transfer(ctx, ACCT_NET_RECEIVED);
	return 0;
}

/* ctx: socket, old state, new one. In these two the owner is the current process. */
SEC("?tp_btf/inet_sock_set_state")
int account_tcp_state(u64 *ctx)
{
	if (ctx[2] == ST_SYN_SENT || ctx[2] == ST_LISTEN)
		own((void *)ctx[0]);
	return 0;
}

/* Counts for the owner of a socket; without an owner, for the node only. */
static __always_inline void count_for(const struct acct_owner *o, u32 i, u64 n)
{
	struct acct_process *p = o ? process_find(o->pid, o->start_ns) : NULL;
	u64 id = o ? o->cgroup : 0;

	if (p) {
		add(&p->n[i], n);
		id = p->cgroup;
	}
	add_to_cgroup(bpf_map_lookup_elem(&acct_cgroups, &id), i, n);
}

/* ctx: socket, packet. */
SEC("?tp_btf/tcp_retransmit_skb")
int account_retransmit(u64 *ctx)
{
	struct tcp_skb_cb *cb = (void *)ctx[1] + bpf_core_field_offset(struct sk_buff, cb);
	u64 n = BPF_CORE_READ(cb, tcp_gso_segs);

	count_for(bpf_sk_storage_get(&acct_owners, (void *)ctx[0], NULL, 0), ACCT_TCP_RETRANSMITS,
		  n ?: 1);
	return 0;
}

/* ctx: socket or NULL. */
SEC("?tp_btf/tcp_send_reset")
int account_reset_sent(u64 *ctx)
{
	struct sock *sk = (void *)ctx[0];

	count_for(sk ? bpf_sk_storage_get(&acct_owners, sk, NULL, 0) : NULL, ACCT_TCP_RESETS_SENT,
		  1);
	return 0;
}

/* ctx: socket. */
SEC("?tp_btf/tcp_receive_reset")
int account_reset_received(u64 *ctx)
{
	count_for(bpf_sk_storage_get(&acct_owners, (void *)ctx[0], NULL, 0),
		  ACCT_TCP_RESETS_RECEIVED, 1);
	return 0;
}

/* ---- block devices ---- */

/* Returns the cgroup of a request: that of the current thread, or, if this is a kernel thread,
 * which writes pages of others, that of the pages, unless it is of another hierarchy. */
static __always_inline struct cgroup *cgroup_of_request(struct request *rq)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cgroup *mine = cgroup_of(task), *theirs = NULL;
	struct bio *bio = BPF_CORE_READ(rq, bio);

	if (!(task->flags & PF_KTHREAD) || !bio || !bpf_core_field_exists(bio->bi_blkg))
		return mine;
	theirs = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
	return theirs && BPF_CORE_READ(theirs, root) == BPF_CORE_READ(mine, root) ? theirs : mine;
}

/* The cgroup has an entry from here on: a reader drops what is of a cgroup without one. */
static __always_inline void begin_request(struct request *rq, u64 issued_ns)
{
	struct acct_request r = {.issued_ns = issued_ns};
	u64 key = (u64)rq;

	cgroup_entry(cgroup_of_request(rq), &r.cgroup);
	if (bpf_map_update_elem(&acct_requests, &key, &r, BPF_ANY))
		add(&acct_losses.requests, 1);
}

/* ctx: request, which the current thread begins. */
SEC("?tp_btf/block_io_start")
int account_block_start(u64 *ctx)
{
	begin_request((void *)ctx[0], 0);
	return 0;
}

/* ctx: request. One that is issued again counts from then on. */
SEC("?tp_btf/block_rq_issue")
int account_block_issue(u64 *ctx)
{
	u64 key = ctx[0], now = bpf_ktime_get_boot_ns();
	struct acct_request *r = bpf_map_lookup_elem(&acct_requests, &key);

	if (r)
		ONCE(r->issued_ns) = now;
	else
		begin_request((void *)key, now);
	return 0;
}

static const struct acct_disk no_disk;

static __always_inline struct acct_disk *disk_of(struct request *rq)
{
	struct gendisk *disk = BPF_CORE_READ(rq, q, disk);
	struct acct_disk_key key = {};
	struct acct_disk *d;

	key.major = BPF_CORE_READ(disk, major);
	key.minor = BPF_CORE_READ(disk, first_minor);
	d = entry_of(&acct_disks, &key, &no_disk);
	if (!d)
		add(&acct_losses.requests, 1);
	return d;
}

/* Returns the bucket of a time: the first one i with ns <= 2^i us. */
static __always_inline u32 bucket_of(u64 ns)
{
	u32 i = 0;

	for (; i < ACCT_BUCKETS - 1; i++)
		if (ns <= 1000ull << i)
			break;
	return i;
}

static const struct acct_cgroup_io no_io;

/* Counts a request that is done. */
static __always_inline void end_request(struct acct_disk *d, u32 op, u64 rq)
{
	struct acct_cgroup_io_key key = {.op = op};
	struct acct_request *found = bpf_map_lookup_elem(&acct_requests, &rq), r;
	struct acct_cgroup_io *io;
	u64 ns;
	u32 i;

	add(&d->io[op].n, 1);
	if (!found)
		return;
	r = *found;
	bpf_map_delete_elem(&acct_requests, &rq);
	if (!r.issued_ns)
		return;
	ns = bpf_ktime_get_boot_ns() - r.issued_ns;
	i = bucket_of(ns);
	if (i >= ACCT_BUCKETS)
		return;
	add(&d->io[op].ns, ns);
	add(&d->io[op].buckets[i], 1);
	key.cgroup = r.cgroup;
	io = entry_of(&acct_cgroup_io, &key, &no_io);
	if (!io) {
		add(&acct_losses.requests, 1);
		return;
	}
	add(&io->ns, ns);
	add(&io->buckets[i], 1);
}

/* ctx: request, error, bytes. A request may be completed in parts. */
SEC("?tp_btf/block_rq_complete")
int account_block_complete(u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	u32 op = BPF_CORE_READ(rq, cmd_flags) & REQ_OP_MASK, n = ctx[2];
	struct acct_disk *d = disk_of(rq);

	if (!d)
		return 0;
	if (op > ACCT_IO_OTHER)
		op = ACCT_IO_OTHER;
	add(&d->io[op].bytes, n);
	if ((u32)ctx[1])
		add(&d->io[op].errors, 1);
	if (n >= BPF_CORE_READ(rq, __data_len))
		end_request(d, op, (u64)rq);
	return 0;
}

/* ---- calls ---- */

#define NR_RT_SIGRETURN 15
#define NR_RT_SIGRETURN_IA32 173
#define MAX_ERRNO 4095

static const struct acct_call no_call;

/* Returns the entry of a call; NULL: no room. Its cgroup has one then, too, as above. */
static __always_inline struct acct_call *call_entry(struct acct_call_key *key,
						    struct task_struct *task)
{
	struct acct_call *c = bpf_map_lookup_elem(&acct_calls, key);

	if (c)
		return c;
	cgroup_entry(cgroup_of(task), &key->cgroup);
	return entry_of(&acct_calls, key, &no_call);
}

/* ctx: registers, result. */
SEC("?tp_btf/sys_exit")
int account_call(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[0];
	struct acct_call_key key = {.cgroup = cgroup_id(task)};
	bool ia32 = task->thread_info.status & TS_COMPAT;
	s32 nr = regs->orig_ax;
	struct acct_call *c;

	if (nr < 0) /* the registers are those before the signal */
		nr = ia32 ? NR_RT_SIGRETURN_IA32 : NR_RT_SIGRETURN;
	key.nr = ia32 ? (u32)nr | ACCT_IA32 : (u32)nr;
	c = call_entry(&key, task);
	if (!c) {
		add(&acct_losses.calls, 1);
		return 0;
	}
	add(&c->n, 1);
	if (ctx[1] >= (u64)-MAX_ERRNO)
		add(&c->n_failed, 1);
	return 0;
}
