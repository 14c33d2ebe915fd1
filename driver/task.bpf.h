/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of events about a task: IDs, command line, memory, capabilities and cgroups. */
#ifndef DRIVER_TASK_BPF_H
#define DRIVER_TASK_BPF_H

#include "path.bpf.h"
#include <bpf/bpf_core_read.h>

#define ARGS_SZ 4096u /* arguments and environment, each */
#define CGROUPS_SZ 4096u
#define CGROUP_DEPTH 12 /* of deeper paths "/..." and the last components are recorded */
#define CGROUP_SUBSYS 5
#define COMM_SZ 16
#define ARGV_MAX 16 /* pointers that are followed when an exec failed */

/* Returns the number of @pid in the namespace at @level; 0 is the machine's first. */
static __always_inline struct upid pid_at(struct pid *pid, u32 level)
{
	struct upid upid = {};
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	bpf_probe_read_kernel(&upid, sizeof(upid), numbers + level * sizeof(upid));
	return upid;
}

/* Returns the number of @pid as level @level sees it; 0: not visible there. */
static __always_inline s64 pid_nr(struct pid *pid, u32 level)
{
	return level > BPF_CORE_READ(pid, level) ? 0 : pid_at(pid, level).nr;
}

/* The innermost number: the one the task itself sees. */
static __always_inline struct upid pid_innermost(struct pid *pid)
{
	return pid_at(pid, BPF_CORE_READ(pid, level));
}

static __always_inline s64 task_vtid(struct task_struct *task)
{
	return pid_innermost(BPF_CORE_READ(task, thread_pid)).nr;
}

static __always_inline s64 task_vpid(struct task_struct *task)
{
	return pid_innermost(BPF_CORE_READ(task, group_leader, thread_pid)).nr;
}

/* Returns the start of the first process in the task's PID namespace, since the epoch. */
static __always_inline u64 task_pidns_start(struct task_struct *task)
{
	struct pid_namespace *ns = pid_innermost(BPF_CORE_READ(task, thread_pid)).ns;

	return BPF_CORE_READ(ns, child_reaper, start_boottime) + cfg.epoch_offset;
}

/*
 * Returns whether the task, or its next child, lives in a PID namespace other than the machine's.
 */
static __always_inline bool task_in_pidns(struct task_struct *task)
{
	return BPF_CORE_READ(task, nsproxy, pid_ns_for_children, level) ||
	       BPF_CORE_READ(task, thread_pid, level);
}

/* Returns the terminal as in /proc/PID/stat; 0: none. */
static __always_inline s32 task_tty(struct task_struct *task)
{
	struct tty_struct *tty = BPF_CORE_READ(task, signal, tty);
	u32 minor;

	if (!tty)
		return 0;
	minor = BPF_CORE_READ(tty, driver, minor_start) + BPF_CORE_READ(tty, index);
	return (minor & 0xff) | (u32)BPF_CORE_READ(tty, driver, major) << 8 |
	       (minor & ~0xffu) << 12;
}

static __always_inline s32 task_loginuid(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->loginuid))
		return -1;
	return BPF_CORE_READ(task, loginuid.val);
}

/* Pages of one kind; per-CPU counts that the kernel has not added yet are missing. */
static __always_inline u32 mm_pages(struct mm_struct *mm, u32 kind)
{
	struct mm_struct___v61 *old = (void *)mm;
	s64 n = 0;

	if (bpf_core_field_exists(old->rss_stat.count)) {
		struct mm_rss_stat___v61 *stat =
			(void *)mm + bpf_core_field_offset(struct mm_struct___v61, rss_stat);

		bpf_probe_read_kernel(&n, sizeof(n), (s64 *)stat + kind);
	} else {
		void *stat = (void *)mm + bpf_core_field_offset(struct mm_struct, rss_stat);

		stat += kind * bpf_core_type_size(struct percpu_counter);
		bpf_probe_read_kernel(&n, sizeof(n),
				      stat + bpf_core_field_offset(struct percpu_counter, count));
	}
	return n < 0 ? 0 : n;
}

#define KB_PER_PAGE 4

/* The format has 32 bits: a program with address sanitizers reserves more. */
static __always_inline u32 kb_of_pages(u64 pages)
{
	return pages < 0xffffffffull / KB_PER_PAGE ? (u32)(pages * KB_PER_PAGE) : 0xffffffffu;
}

/* vm_size, vm_rss, vm_swap, in kB */
static __always_inline void put_vm(struct rec *r, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 rss;

	if (!mm) {
		put_u32(r, 0);
		put_u32(r, 0);
		put_u32(r, 0);
		return;
	}
	rss = mm_pages(mm, MM_FILEPAGES) + mm_pages(mm, MM_ANONPAGES) + mm_pages(mm, MM_SHMEMPAGES);
	put_u32(r, kb_of_pages(BPF_CORE_READ(mm, total_vm)));
	put_u32(r, kb_of_pages(rss));
	put_u32(r, kb_of_pages(mm_pages(mm, MM_SWAPENTS)));
}

/* exe and args of the running program: its first string, and the others. */
static __always_inline void put_command(struct rec *r, struct task_struct *task)
{
	u64 at = BPF_CORE_READ(task, mm, arg_start);
	u64 end = BPF_CORE_READ(task, mm, arg_end);
	u64 n = at < end ? copy_user_text((void *)r->base, r->off, at, UNREADABLE_IS_NA) : 0;

	n = widen(r->slot, n, PATH_SZ);
	put_str_done(r, n, PATH_SZ);
	widen_off(r);
	at += n;
	put_user_bytes_apart(r, at, end - at, ARGS_SZ);
	widen_off(r);
}

struct strings_text {
	u64 len; /* hidden from the verifier here, see widen() */
	u8 text[2 * ARGS_SZ];
};

/* Used only by exits of calls, of which a CPU has one at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct strings_text));
} strings_scratch SEC(".maps");

struct strings_walk {
	struct strings_text *s;
	u64 argv;
};

/* Copies one more string. A callback of bpf_loop, whose body is verified once. */
static long strings_step(u32 i, void *ctx)
{
	const struct strings_walk *w = ctx;
	struct strings_text *s = w->s;
	u64 addr, len = ONCE(s->len) & (2 * ARGS_SZ - 1);
	s64 n;

	addr = user_ulong(w->argv + ulong_size() * i, UNREADABLE);
	if (!addr || len >= ARGS_SZ)
		return 1;
	n = bpf_probe_read_user_str(&s->text[len], ARGS_SZ, (void *)addr);
	if (n < 0) {
		n = store_na(&s->text[len]);
	} else if (!n) { /* empty, before 6.4 */
		s->text[len] = 0;
		n = 1;
	}
	ONCE(s->len) = len + written(n, ARGS_SZ);
	return addr == UNREADABLE; /* the strings that follow are unknown */
}

/* Copies the strings that @argv points to, from number @first on. Verified once, as path_text. */
__noinline int strings_text(struct strings_text *s, u64 argv, u32 first)
{
	struct strings_walk w = {.s = s, .argv = argv + ulong_size() * first};

	if (!s)
		return -1;
	ONCE(s->len) = 0;
	bpf_loop(ARGV_MAX, strings_step, &w, 0);
	return 0;
}

/* Puts these strings, one after the other; begin must have ARGS_SZ. */
static __always_inline void put_strings(struct rec *r, u64 argv, u32 first)
{
	struct strings_text *s;
	u32 zero = 0;
	u64 len;

	s = bpf_map_lookup_elem(&strings_scratch, &zero);
	if (!s || !argv) {
		put_empty(r);
		return;
	}
	strings_text(s, argv, first);
	len = widen(r->slot, ONCE(s->len), ARGS_SZ);
	bpf_probe_read_kernel(put_here(r), len, s->text);
	put_done(r, len);
	widen_off(r);
}

struct cgroup_text {
	u64 task; /* the task; a number, since functions verified on their own cannot take a task */
	u64 at; /* end of the text; hidden from the verifier here, see widen() */
	u64 up[CGROUP_DEPTH]; /* levels that are walked: a group and its ancestors */
	u8 text[CGROUPS_SZ + NAME_SZ];
};

/* Used by exits of calls, or by forks and execs, of which a CPU has one at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct cgroup_text));
} cgroup_scratch SEC(".maps");

static __always_inline struct kernfs_node *kernfs_parent(struct kernfs_node *kn)
{
	struct kernfs_node___v614 *old = (void *)kn;

	if (bpf_core_field_exists(old->parent))
		return BPF_CORE_READ(old, parent);
	return BPF_CORE_READ(kn, __parent);
}

/* What does not fit is left out: who makes cgroups chooses names, but not what is in front of
 * them. */
static __always_inline void cgroup_char(struct cgroup_text *s, char c)
{
	u64 at = ONCE(s->at);

	if (at >= CGROUPS_SZ)
		return;
	s->text[at & (CGROUPS_SZ - 1)] = c;
	ONCE(s->at) = at + 1;
}

static __always_inline void cgroup_str(struct cgroup_text *s, const void *str)
{
	u64 at = ONCE(s->at), n;

	if (at >= CGROUPS_SZ)
		return;
	at &= CGROUPS_SZ - 1;
	n = written(bpf_probe_read_kernel_str(&s->text[at], NAME_SZ, str), NAME_SZ);

	if (n)
		ONCE(s->at) = at + n - 1;
}

/* Appends the path of a cgroup with its NUL. Verified once, as path_text. */
__noinline int cgroup_path(struct cgroup_text *s, u64 kn_addr)
{
	struct kernfs_node *kn = (void *)kn_addr;

	if (!s)
		return -1;
	for (int i = 0; i < CGROUP_DEPTH; i++) {
		struct kernfs_node *parent = kn ? kernfs_parent(kn) : NULL;

		ONCE(s->up[i]) = parent ? (u64)kn : 0;
		kn = parent;
	}
	if (!ONCE(s->up[0]))
		cgroup_char(s, '/');
	if (kn && kernfs_parent(kn))
		cgroup_str(s, "/...");
	for (int i = CGROUP_DEPTH - 1; i >= 0; i--) {
		kn = (void *)ONCE(s->up[i]);
		if (!kn)
			continue;
		cgroup_char(s, '/');
		cgroup_str(s, BPF_CORE_READ(kn, name));
	}
	cgroup_char(s, 0);
	return 0;
}

static __always_inline u64 css_node(struct css_set *set, u32 id)
{
	struct cgroup_subsys_state *css = NULL;
	void *subsys = (void *)set + bpf_core_field_offset(struct css_set, subsys);

	bpf_probe_read_kernel(&css, sizeof(css), subsys + id * sizeof(css));
	return (u64)BPF_CORE_READ(css, cgroup, kn);
}

/* Appends "name=/path" of one subsystem, if the kernel has it. */
#define CGROUP_OF(set, subsys, s)                                                                  \
	do {                                                                                       \
		if (bpf_core_enum_value_exists(enum cgroup_subsys_id, subsys##_cgrp_id)) {         \
			cgroup_str(s, #subsys "=");                                                \
			cgroup_path(s, css_node(set, bpf_core_enum_value(enum cgroup_subsys_id,    \
									 subsys##_cgrp_id)));      \
		}                                                                                  \
	} while (0)

/*
 * In the unified hierarchy a subsystem's group may be a distant ancestor, where the subsystem was
 * last enabled: the task's own group is recorded as well, unless it is the same as that of memory,
 * usually the deepest.
 */
static __always_inline void unified_text(struct cgroup_text *s, struct css_set *set)
{
	u64 kn = (u64)BPF_CORE_READ(set, dfl_cgrp, kn);

	if (!kernfs_parent((void *)kn))
		return;
	if (bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id) &&
	    kn == css_node(set, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id)))
		return;
	cgroup_str(s, "unified=");
	cgroup_path(s, kn);
}

/* Writes the text of all subsystems of a task. Verified once, as path_text. */
__noinline int cgroups_text(struct cgroup_text *s)
{
	struct task_struct *task;
	struct css_set *set;

	if (!s)
		return -1;
	task = (void *)ONCE(s->task);
	set = BPF_CORE_READ(task, cgroups);
	ONCE(s->at) = 0;
	CGROUP_OF(set, cpuset, s);
	CGROUP_OF(set, cpu, s);
	CGROUP_OF(set, cpuacct, s);
	CGROUP_OF(set, io, s);
	CGROUP_OF(set, memory, s);
	unified_text(s, set);
	return 0;
}

/* Puts the cgroups of the task: "cpuset=/path", a NUL, and so on. */
static __always_inline void put_cgroups(struct rec *r, struct task_struct *task)
{
	struct cgroup_text *s;
	u32 zero = 0;
	u64 len;

	s = bpf_map_lookup_elem(&cgroup_scratch, &zero);
	if (!s) {
		put_empty(r);
		return;
	}
	ONCE(s->task) = (u64)task;
	cgroups_text(s);
	len = widen(r->slot, ONCE(s->at), CGROUPS_SZ);
	bpf_probe_read_kernel(put_here(r), len, s->text);
	put_done(r, len);
	widen_off(r);
}

static __always_inline void put_cwd(struct rec *r, struct task_struct *task)
{
	struct fs_struct *fs = BPF_CORE_READ(task, fs);

	put_path(r, &fs->pwd);
}

/* Puts a comm with its NUL. */
static __always_inline void put_comm(struct rec *r, struct task_struct *task)
{
	put_kernel_str(r, task->comm, sizeof(task->comm));
}

#endif /* DRIVER_TASK_BPF_H */
