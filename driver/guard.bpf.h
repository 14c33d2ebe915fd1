/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guards text that another thread can change during a call: in a process with several threads the
 * paths of a call are copied at its enter, and the exit has the copy. If the memory has changed by
 * then, the record is marked (REC_F_CHANGED).
 *
 * A process with one thread pays nothing: only a process that shares its memory by other means
 * could change it during a call. The kernel makes its own copy between ours and the end of the
 * call; a text that changes twice is only visible in an object of the kernel: the path of an open
 * file.
 */
#ifndef DRIVER_GUARD_BPF_H
#define DRIVER_GUARD_BPF_H

#include "inout.bpf.h"
#include "path.bpf.h"

/* Both texts of a call, one after the other. */
struct guard {
	u16 at[6]; /* by argument: where it begins, counted from 1; 0: not readable, or not text */
	u32 end;
	u8 text[2 * PATH_SZ]; /* half: a helper may write as much again */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct guard);
} guards SEC(".maps");

/* For calls with SAME_ rows: the argument that they read, the same in all these rows, and in the
 * upper half the one that they write, that of the OUT_ rows. 0: no such rows. */
static const u8 same_args[DRV_MAX_NR] = {
#define A(param, arg, kind, ...) | (ARG_IS_SAME(ARG_##kind) ? (arg) : 0)
#define AF A
#define AX(param, arg, kind, ...)                                                                  \
	| (ARG_IS_SAME(ARG_##kind) ? (arg) : ARG_IS_OUT(ARG_##kind) ? (arg) << 4 : 0)
#define AXF AX
#define AE A
#define SYS(nr, name, event, filler, ...) [nr] = 0 __VA_ARGS__,
#include "syscalls.def"
#include "undef_rows.h"
};

/* Marks a call that writes the memory it reads. */
static __always_inline void note_same(struct drv_call *call)
{
	u32 nr = call->nr, args;

	if (nr >= DRV_MAX_NR || !(call_traits[nr] & COPIES_SAME))
		return;
	args = same_args[nr];
	if (args >> 4 && call->args[args & 7] == call->args[args >> 4 & 7])
		call->flags |= CALL_F_SAME;
}

/* Appends a copy of argument @i. */
static __always_inline void guard_copy(struct guard *g, u64 addr, u32 i)
{
	u32 at = ONCE(g->end);
	long n;

	g->at[i] = 0;
	if (at > PATH_SZ)
		return;
	n = bpf_probe_read_user_str(&g->text[at], PATH_SZ - 1, (void *)addr);
	if (n <= 0)
		return;
	g->at[i] = at + 1;
	ONCE(g->end) = at + n;
}

/* Verified on its own, as guard_differs. */
__noinline int guard_fill(struct guard *g, struct drv_call *call, u32 texts)
{
	if (!g || !call)
		return -1;
	ONCE(g->end) = 0;
	for (u32 i = 0; i < 5; i++)
		if (texts >> i & 1)
			guard_copy(g, call->args[i], i);
	return 0;
}

/* Returns whether another task can change @task's memory. Typed pointers, since this runs at each
 * such enter: one load instead of two calls by BPF_CORE_READ. */
static __always_inline bool shares_memory(struct task_struct *task)
{
	struct mm_struct *mm = untrusted_task(task)->mm;

	return mm && mm->mm_users.counter > 1;
}

/* Copies the texts at the enter of @call by @task. */
static __always_inline void guard_enter(struct task_struct *task, struct drv_call *call)
{
	struct guard *g;
	u32 texts;

	if (call->nr >= DRV_MAX_NR)
		return;
	texts = call_traits[call->nr] & COPIES;
	if (!texts)
		return;
	note_memory(task, call);
	if (texts & COPIES_SAME)
		note_same(call);
	if (texts & COPIES_INOUT || call->flags & CALL_F_SAME)
		inout_fill(call);
	if (!cfg.task_storage || !(texts & COPIES_TEXTS) || !shares_memory(task))
		return;
	g = bpf_task_storage_get(&guards, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (g && !guard_fill(g, call, texts))
		call->flags |= CALL_F_GUARDED;
}

/* Returns the texts of @call of @task; NULL: they were not copied. */
static __always_inline struct guard *guard_of(struct task_struct *task, const struct drv_call *call)
{
	if (!cfg.task_storage || !(call->flags & CALL_F_GUARDED))
		return NULL;
	return bpf_task_storage_get(&guards, task, NULL, 0);
}

/* Returns where the copy of argument @i begins; NULL: there is none. */
static __always_inline const u8 *guard_text(struct guard *g, u32 i)
{
	u32 at = i < 6 ? g->at[i] : 0;

	return at && at <= PATH_SZ ? &g->text[at - 1] : NULL;
}

struct text_pair {
	const u8 *a, *b;
	u32 differ;
};

/* Compares eight bytes, up to the end of the text. A callback of bpf_loop. */
static long text_step(u32 i, void *ctx)
{
	struct text_pair *p = ctx;
	u32 at = 8 * i;
	u64 a, b, nul;

	if (at > PATH_SZ - 8)
		return 1;
	a = *(u64 *)(p->a + at);
	b = *(u64 *)(p->b + at);
	nul = (a - 0x0101010101010101ull) & ~a & 0x8080808080808080ull;
	nul &= -nul; /* the highest bit of the first NUL; 0: no NUL */
	if (nul) {
		a &= (nul << 1) - 1;
		b &= (nul << 1) - 1;
	}
	p->differ = a != b;
	return p->differ || nul;
}

/* Returns 1 if the text at @addr differs from the copy of argument @i; @addr 0: if the path in @s
 * does. */
__noinline int guard_differs(struct guard *g, struct path_scratch *s, u32 i, u64 addr)
{
	struct text_pair p = {};

	if (!g || !s)
		return 0;
	p.a = guard_text(g, i);
	p.b = addr ? s->text : &s->text[ONCE(s->pos) & (PATH_SZ - 1)];
	if (!p.a)
		return 1;
	if (addr && bpf_probe_read_user_str(s->text, PATH_SZ, (void *)addr) <= 0)
		return 1;
	bpf_loop(PATH_SZ / 8, text_step, &p, 0);
	return p.differ;
}

/* Copies the text of argument @i at the enter to byte @off. Returns its length, 0 if unknown.
 * Verified on its own. */
__noinline u64 copy_guarded(struct rec_bytes *rec, u64 off, u32 i)
{
	struct drv_call *call = &this_slot()->call;
	struct guard *g = guard_of(bpf_get_current_task_btf(), call);
	const u8 *text = g ? guard_text(g, i) : NULL;
	struct path_scratch *s;
	u32 zero = 0;
	u64 n;

	if (!rec || !text)
		return 0;
	s = bpf_map_lookup_elem(&path_scratch, &zero);
	if (s && guard_differs(g, s, i, i < 6 ? call->args[i] : 0))
		call->flags |= REC_F_CHANGED;
	off = bounded(off, REC_OFF_MAX);
	n = written(bpf_probe_read_kernel_str(&rec->at[off], PATH_SZ, text), PATH_SZ);
	if (n)
		return n;
	rec->at[off] = 0;
	return 1;
}

/* Puts the text of argument @i at the enter; false: unknown. */
static __always_inline bool put_guarded(struct rec *r, u32 i)
{
	u64 n;

	if (!cfg.task_storage || !(r->slot->call.flags & CALL_F_GUARDED))
		return false;
	n = bounded(copy_guarded((void *)r->base, r->off, i), PATH_SZ);
	if (!n)
		return false;
	put_done(r, n);
	return true;
}

/* Puts the text of argument @i; begin must have PATH_SZ. */
static __always_inline void put_arg_str(struct rec *r, u32 i)
{
	if (!put_guarded(r, i))
		put_user_text(r, arg(r, i));
	widen_off(r);
}

/* Puts the path of the file that the call opened, if it may differ from argument @i: nothing in a
 * process of one thread, or if both are equal. */
static __always_inline void put_opened_path(struct rec *r, struct file *file, u32 i)
{
	struct guard *g = guard_of(bpf_get_current_task_btf(), &r->slot->call);
	struct path_scratch *s = g && file ? path_make(&file->f_path) : NULL;

	if (s && guard_differs(g, s, i, 0))
		put_made_path(r, s);
	else
		put_empty(r);
}

#endif /* DRIVER_GUARD_BPF_H */
