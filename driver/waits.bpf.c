/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Off-CPU samples of threads that wait when the capture begins or ends. sched_switch reports
 * neither: a thread that slept before the start has no slot, and one that still sleeps at the end
 * is not switched in. Before the sampler's hooks are attached, the iterator waits_begun creates
 * slots for the former, whose wait counts from the start; after they are detached, waits_left sends
 * samples of the latter. So a slot has one user at a time.
 */
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define TASK_SLEEPS (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)

/* Returns whether @task, which need not be the current one, is selected. With a cgroup filter it is
 * not: the kernel checks the cgroup of the current task only. */
static __always_inline bool is_selected(struct task_struct *task)
{
	u32 mark = cfg.tasks & DRV_TASKS_MARKS ? mark_of(task->tgid) : 0;

	if (is_self(task) || mark & DRV_MARKS_SUPPRESS)
		return false;
	if (cfg.tasks & DRV_TASKS_MARKED && !(mark & DRV_MARK_SELECTED))
		return false;
	if (cfg.tasks & DRV_TASKS_THREADS && !(mark_of(task->pid) & DRV_MARK_THREAD))
		return false;
	if (cfg.tasks & DRV_TASKS_COMM && !comm_listed(&sel_comms, task) &&
	    !comm_listed(&sel_comms, task->group_leader))
		return false;
	if (cfg.tasks & DRV_TASKS_UID && !uid_listed(task))
		return false;
	return !(cfg.tasks & DRV_TASKS_CGROUP);
}

/* Returns whether @task waits. Kernel threads sleep when they have no work: they count only in
 * uninterruptible waits. */
static __always_inline bool is_waiting(struct task_struct *task)
{
	const u32 state = task->__state;

	if (task->on_cpu || !(state & TASK_SLEEPS))
		return false;
	return task->mm || (state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD));
}

/* Creates the slot of a thread that waits. Its user stack is walked by waits_stacks, or when the
 * thread returns to user mode. */
static __always_inline int begin_wait(struct task_struct *task)
{
	struct off_slot *slot = off_make(task);
	struct pt_regs *regs = user_regs(task);
	s64 n;

	if (!slot || slot->out_ns)
		return 0;
	slot->wake_ns = 0;
	slot->state = task->__state;
	slot->call = call_of(task);
	slot->arg = arg_of(task, slot->call);
	slot->is_older = 1;
	n = sampler_cfg.kernel ? bpf_get_task_stack(task, slot->kernel, sizeof(slot->kernel), 0)
			       : 0;
	slot->n_kernel = n > 0 ? n / 8 : 0;
	slot->n_user = 0;
	slot->id = 0;
	slot->end = regs && sampler_cfg.user ? STACK_END_FAULT : STACK_END_NONE;
	slot->ip = regs ? regs->ip : 0;
	slot->sp = regs ? regs->sp : 0;
	slot->bp = regs ? regs->bp : 0;
	slot->out_ns = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("?iter/task")
int waits_begun(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return task && is_waiting(task) && is_selected(task) ? begin_wait(task) : 0;
}

/* Buffer for the copied stack of a waiting thread: one iterator runs at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_copy);
} waits_stack SEC(".maps");

/* Copies the stack of a thread other than the current one, as copy_stack does; may sleep. */
static __always_inline void copy_stack_of(struct stack_copy *c, u64 sp, u64 top,
					  struct task_struct *task)
{
	u64 off = 0;

	sp &= ~7ull;
	c->at = (sp & (STACK_COPY_PAGE - 1)) >= RED_ZONE_SZ ? sp - RED_ZONE_SZ : sp;
	for (u32 i = 0; i < STACK_COPY_PAGES; i++) {
		const u64 at = c->at + off, n = STACK_COPY_PAGE - (at & (STACK_COPY_PAGE - 1));

		if (at >= top || off > STACK_COPY_MAX - STACK_COPY_PAGE)
			break;
		if (bpf_copy_from_user_task(c->stack + off, n, (void *)at, task, 0))
			break;
		off += n;
	}
	c->sz = off;
}

static __always_inline int send_waiting(struct task_struct *task, struct off_slot *slot)
{
	struct pt_regs *regs = user_regs(task);
	const u64 out_ns = slot->out_ns;
	struct stack_copy *c;
	u32 zero = 0;
	u64 len;

	c = bpf_map_lookup_elem(&waits_stack, &zero);
	if (!regs || !c || regs->cs == USER32_CS || !may_send_copy(task->tgid))
		return 0;
	copy_stack_of(c, regs->sp, stack_top(task, regs->sp), task);
	if (!c->sz)
		return 0;
	c->boot_ns = bpf_ktime_get_boot_ns();
	c->id = new_stack_id(this_sampler());
	c->ip = regs->ip;
	dwarf_regs(c->regs, regs);
	c->pid = task->tgid;
	c->max = sampler_cfg.depth;
	len = bounded(offsetof(struct stack_copy, stack) + (u64)ONCE(c->sz), sizeof(*c));
	if (bpf_ringbuf_output(&stack_copies, c, len, 0) || ONCE(slot->out_ns) != out_ns)
		return 0;
	slot->id = c->id;
	slot->end = STACK_END_NEW;
	return 0;
}

struct waits_walk {
	struct user_walk w;
	u32 code; /* the next code object that is sent; on the stack the verifier would follow it */
	struct rec_bytes script; /* scratch for an event */
	u8 slack[INTERP_LINES_MAX]; /* behind any place in it */
};

/* One iterator runs at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct waits_walk);
} waits_walks SEC(".maps");

static u32 n_other_walks;

struct waiting {
	struct task_struct *task;
	struct waits_walk *walk;
	void *ctx; /* of the program */
};

/* Walks the stack, as far as its pages are there. A callback of bpf_loop. */
static long walk_waiting(u32 i, void *loop)
{
	const struct waiting *s = loop;
	struct user_walk *w = &s->walk->w;
	struct pt_regs *regs = user_regs(s->task);

	(void)i;
	if (!regs)
		return 1;
	walk_from(w, s->task, regs, sampler_cfg.depth);
	user_frames(w);
	return !w->missed || other_copy(w, s->task);
}

/* Writes the parameters of code object @i of the walk to the scratch. Returns where they end; 0:
 * they are unknown. Verified on its own. */
WALK_FUNC u64 make_script(struct waits_walk *walk, u32 i)
{
	struct rec r = {.n_params = EVT_SCRIPT_E_NPARAMS,
			.off = REC_LENS + 2 * EVT_SCRIPT_E_NPARAMS};

	if (!walk)
		return 0;
	r.base = walk->script.at;
	if (!put_code(&r, &walk->w, &walk->w.codes[i & (WALK_CODES_MAX - 1)]) &&
	    !walk->w.content.is_part)
		return 0;
	return r.off;
}

/* Sends the parameters in the scratch, which end at @end. */
static __always_inline void send_made(const struct waiting *s, u64 end)
{
	struct user_walk *w = &s->walk->w;
	struct rec r;

	if (!begin_at(&r, this_ring(), s->ctx, OPEN_NONE, EVT_SCRIPT_E, 0, EVT_SCRIPT_E_NPARAMS,
		      SCRIPT_ROOM))
		return;
	set_tid(&r, s->task->pid);
	end = widen_in(&w->scratch, end - REC_LENS, 2 * EVT_SCRIPT_E_NPARAMS + (u64)SCRIPT_ROOM);
	if (bpf_probe_read_kernel(r.base + REC_LENS, end, s->walk->script.at + REC_LENS))
		end = 0;
	r.n = EVT_SCRIPT_E_NPARAMS;
	r.off = REC_LENS + widen_in(&w->scratch, end, 2 * EVT_SCRIPT_E_NPARAMS + (u64)SCRIPT_ROOM);
	if (rec_close(&r, 0, 0) && !w->content.is_part)
		note_sent(w->codes[s->walk->code & (WALK_CODES_MAX - 1)].tag);
}

/* Sends one code object, as soon as its pages are there. A callback of bpf_loop. */
static long name_waiting(u32 i, void *loop)
{
	struct waiting *s = loop;
	struct user_walk *w = &s->walk->w;
	u64 end;

	(void)i;
	if (s->walk->code >= w->n_codes)
		return 1;
	end = make_script(s->walk, s->walk->code);
	if (w->missed && !other_copy(w, s->task))
		return 0;
	if (end) {
		pin_iter();
		send_made(s, end);
		unpin_iter();
	}
	s->walk->code++;
	return 0;
}

/* Keeps the stack of a thread that still waits since @out_ns. */
static __always_inline void keep_waiting(struct task_struct *task, struct off_slot *slot,
					 struct user_walk *w, u64 out_ns)
{
	if (ONCE(slot->out_ns) != out_ns)
		return;
	off_keep_user(slot, w, task);
	barrier();
	if (ONCE(slot->out_ns) == out_ns)
		return;
	/* It ran meanwhile, and the slot may have parts of two stacks. */
	ONCE(slot->n_user) = 0;
	ONCE(slot->end) = STACK_END_FAULT;
}

/* Walks the stack of a thread that waits, and sends what names its frames. */
static __always_inline int walk_other(void *ctx, struct task_struct *task, struct off_slot *slot)
{
	struct waiting s = {.task = task, .ctx = ctx};
	const u64 out_ns = slot->out_ns;
	struct pt_regs *regs = user_regs(task);
	u32 zero = 0;

	s.walk = bpf_map_lookup_elem(&waits_walks, &zero);
	if (!s.walk || !regs || regs->cs == USER32_CS)
		return 0;
	s.walk->w.other = ++n_other_walks ?: ++n_other_walks;
	s.walk->w.missed = 0;
	s.walk->code = 0;
	s.walk->w.level = DRV_LEVELS; /* it may be preempted by walks of all levels */
	bpf_loop(OTHER_PAGES, walk_waiting, &s, 0);
	if (lacks_tables(&s.walk->w))
		return send_waiting(task, slot);
	bpf_loop(OTHER_PAGES + WALK_CODES_MAX, name_waiting, &s, 0);
	keep_waiting(task, slot, &s.walk->w, out_ns);
	return 0;
}

/* Walks the stacks of threads that have a slot of waits_begun. A page may be on a file system that
 * hangs, so the thread that runs this iterator may hang: nothing may wait for it. */
SEC("?iter.s/task")
int waits_stacks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct off_slot *slot = task && !task->on_cpu ? off_find(task) : NULL;

	if (!slot || !slot->out_ns || slot->id || slot->n_user || slot->end != STACK_END_FAULT)
		return 0;
	return walk_other(ctx, task, slot);
}

static __always_inline int end_wait(void *ctx, struct task_struct *task)
{
	struct drv_sample_counts *c = &this_sampler()->by[SAMPLE_SRC_OFF_CPU];
	struct off_slot *slot = off_find(task);
	u64 now = bpf_ktime_get_boot_ns();

	count(&c->runs);
	if (!slot || !slot->out_ns)
		return filtered(c, SAMPLE_FILTER_NO_START);
	if (now - slot->out_ns < sampler_cfg.off_min_ns)
		return filtered(c, SAMPLE_FILTER_SHORT);
	slot->wake_ns = 0; /* it was not woken, or did not run since */
	return off_send(c, ctx, task, slot, now, false);
}

SEC("?iter/task")
int waits_left(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || !is_waiting(task))
		return 0;
	pin_iter();
	end_wait(ctx, task);
	unpin_iter();
	return 0;
}
