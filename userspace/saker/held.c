// SPDX-License-Identifier: Apache-2.0
/*
 * Each process has a list of events that changed its state since the file last had it. A child's
 * list begins with its birth, before which the file must have the parent's state at that time:
 * lists are written from the oldest unknown ancestor on. A list that grows too long is written,
 * needed or not: memory is bounded, and nothing is lost.
 */
#include "held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "hash.h"
#include "held_list.h"
#include "process.h"
#include "thread.h"

enum {
	LIST_MAX = 1 << 20, /* maximum bytes of one process */
	TOTAL_MAX = 64 << 20, /* of all */
	ENTERS_MAX = 1 << 16, /* threads that are in a call */
	FORMERS_MAX = 1 << 20, /* former parents of all processes */
	CLOSE_RANGE_UNSHARE = 1 << 1,
	OF_MEMORY = -1, /* a group of HELD_SETS; the others belong to threads, by TID */
};

/* An ended parent of a process. Its end must be in the file: it gave the process its next parent.
 */
struct held_former {
	int64_t pid;
	struct held_former *next;
};

/* A process, by PID. One whose end was lost leaves its events to the next with its PID: then more
 * is written than needed, never less. */
struct held_proc {
	int64_t pid;
	uint32_t refs; /* references: the table's, and those of children that the file does not have
			*/
	uint8_t is_known; /* the file has it */
	uint8_t is_ended; /* ended, kept for its children */
	uint64_t visit;
	struct held_proc *from; /* the process it inherited from; NULL: the file has that one */
	struct held_proc *next_due;
	struct held_former *formers; /* owned */
	struct held_list list;
};

/* The last enter of a thread: its exit decides what happens to it. */
struct held_enter {
	struct scap_evt evt; /* followed by its hdr */
};

/* Hash table by number; open addressing, values are freed by their owners. */
struct table {
	struct table_slot {
		int64_t key;
		void *value; /* NULL: free */
	} * slots; /* owned */
	size_t n, n_slots; /* n_slots is 0 or a power of two */
	uint64_t seed;
};

struct held {
	struct sinsp *insp;
	held_put_fn put;
	void *ctx;
	const struct held
		*first; /* the file began with the processes that this one needed; NULL: with all */
	struct table procs, enters, needed;
	size_t bytes; /* size of all lists */
	size_t n_formers;
	uint64_t visit;
	uint64_t n_taken; /* number of state events so far */
	uint8_t needs_all; /* no memory to decide */
	int64_t released_pid; /* process whose needs were last written; -1: none */
	uint64_t released_at; /* n_taken then */
	struct held_reducer *reducer; /* owned */
};

/* ---- tables ---- */

static size_t table_home(const struct table *t, int64_t key)
{
	return scap_hash_number(t->seed, (uint64_t)key) & (t->n_slots - 1);
}

static struct table_slot *table_slot(const struct table *t, int64_t key)
{
	size_t i = table_home(t, key);

	while (t->slots[i].value && t->slots[i].key != key)
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

static void *table_find(const struct table *t, int64_t key)
{
	return t->n ? table_slot(t, key)->value : NULL;
}

static int table_grow(struct table *t)
{
	struct table to = *t;

	to.n_slots = t->n_slots ? t->n_slots * 2 : 64;
	to.slots = calloc(to.n_slots, sizeof(*to.slots));
	if (!to.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].value)
			*table_slot(&to, t->slots[i].key) = t->slots[i];
	free(t->slots);
	*t = to;
	return 0;
}

/* @key must be new. */
static int table_add(struct table *t, int64_t key, void *value)
{
	if (t->n * 2 >= t->n_slots && table_grow(t))
		return -ENOMEM;
	*table_slot(t, key) = (struct table_slot){key, value};
	t->n++;
	return 0;
}

static void table_remove(struct table *t, int64_t key)
{
	size_t hole, i;

	if (!table_find(t, key))
		return;
	hole = i = (size_t)(table_slot(t, key) - t->slots);
	for (;;) {
		i = (i + 1) & (t->n_slots - 1);
		if (!t->slots[i].value)
			break;
		if (((i - table_home(t, t->slots[i].key)) & (t->n_slots - 1)) >=
		    ((i - hole) & (t->n_slots - 1))) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].value = NULL;
	t->n--;
}

/* ---- processes ---- */

static void list_clear(struct held *h, struct held_proc *p)
{
	h->bytes -= p->list.cap;
	held_list_clear(&p->list);
}

static void formers_free(struct held *h, struct held_proc *p)
{
	while (p->formers) {
		struct held_former *f = p->formers;

		p->formers = f->next;
		h->n_formers--;
		free(f);
	}
}

/* And its ancestors that nothing else needs. */
static void proc_put(struct held *h, struct held_proc *p)
{
	while (p) {
		struct held_proc *from = p->from;

		p->refs--;
		if (p->refs == 1 && p->is_ended) {
			p->refs = 0;
			table_remove(&h->procs, p->pid);
		}
		if (p->refs)
			return;
		list_clear(h, p);
		formers_free(h, p);
		h->bytes -= sizeof(*p);
		free(p);
		p = from;
	}
}

static void proc_set_known(struct held *h, struct held_proc *p)
{
	struct held_proc *from = p->from;

	p->is_known = 1;
	p->from = NULL;
	proc_put(h, from);
}

int held_needs(const struct held *h, int64_t pid)
{
	return !h || h->needs_all || table_find(&h->needed, pid);
}

static void add_needed(struct held *h, int64_t pid)
{
	static char mark;

	if (!table_find(&h->needed, pid) && table_add(&h->needed, pid, &mark))
		h->needs_all = 1;
}

/* With the ends that led to its parent. */
static void note_need(struct held *h, int64_t pid)
{
	const struct held_proc *p;

	if (table_find(&h->needed, pid))
		return;
	add_needed(h, pid);
	p = table_find(&h->procs, pid);
	for (const struct held_former *f = p ? p->formers : NULL; f; f = f->next)
		add_needed(h, f->pid);
}

/* NULL: no memory. */
static struct held_proc *proc_new(struct held *h, int64_t pid, struct held_proc *from)
{
	struct held_proc *p = calloc(1, sizeof(*p));

	if (!p || table_add(&h->procs, pid, p)) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->refs = 1;
	p->is_known = !from && held_needs(h->first, pid);
	p->from = from;
	if (from)
		from->refs++;
	h->bytes += sizeof(*p);
	return p;
}

/* The process @pid has ended, or its PID was reused. */
static void proc_remove(struct held *h, int64_t pid)
{
	struct held_proc *p = table_find(&h->procs, pid);

	if (!p)
		return;
	table_remove(&h->procs, pid);
	if (p->pid == pid)
		p->is_ended = 0;
	proc_put(h, p);
}

static void proc_end(struct held *h, int64_t pid)
{
	struct held_proc *p = table_find(&h->procs, pid);

	if (p && p->pid == pid && p->refs > 1)
		p->is_ended = 1;
	else
		proc_remove(h, pid);
}

/* Returns the entry of a thread's process. A process that begins during the file is added at its
 * birth, before its other events. */
static struct held_proc *proc_of(struct held *h, const struct sinsp_thread *t)
{
	struct held_proc *p = table_find(&h->procs, t->pid);

	return p ?: proc_new(h, t->pid, NULL);
}

/* @child inherits the state of @parent. */
static struct held_proc *proc_born(struct held *h, const struct sinsp_thread *child,
				   const struct sinsp_thread *parent)
{
	struct held_proc *p = table_find(&h->procs, child->pid), *from;

	if (p && p->is_ended && p->pid == child->pid) {
		proc_remove(h, child->pid);
		p = NULL;
	}
	if (p || !parent || parent->pid == child->pid)
		return p ?: proc_of(h, child);
	from = proc_of(h, parent);
	if (!from)
		return NULL;
	if (child->files != parent->files)
		return proc_new(h, child->pid, from);
	/* Changes to an fd table that both share apply to the other's. */
	if (table_add(&h->procs, child->pid, from))
		return NULL;
	from->refs++;
	return from;
}

/* The process @pid gets another parent, since @parent ends. */
static int note_former(struct held *h, int64_t pid, int64_t parent)
{
	struct held_proc *p = table_find(&h->procs, pid) ?: proc_new(h, pid, NULL);
	struct held_former *f;

	if (!p)
		return -ENOMEM;
	if (table_find(&h->needed, pid)) {
		add_needed(h, parent);
		return 0;
	}
	/* Children can get new parents any number of times. */
	if (h->n_formers >= FORMERS_MAX) {
		h->needs_all = 1;
		return 0;
	}
	f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct held_former){parent, p->formers};
	p->formers = f;
	h->n_formers++;
	return 0;
}

static int note_formers(struct held *h, const struct sinsp_process *parent)
{
	int err = 0;

	/* The second pass knows what is needed. */
	if (h->first || h->needs_all)
		return 0;
	for (const struct sinsp_process *c = parent->children; c && !err && !h->needs_all;
	     c = c->next_child)
		err = note_former(h, c->pid, parent->pid);
	return err;
}

/* ---- what events do ---- */

static int is_named(const struct sinsp_evt *e, const char *name)
{
	return e->info->name[0] == name[0] && !strncmp(e->info->name, name, strlen(name));
}

static int64_t param(const struct sinsp_evt *e, const char *name, int64_t none)
{
	const int at = scap_event_param(e->raw.type, name);
	const struct scap_param *v =
		at >= 0 && (unsigned int)at < e->params.n ? &e->params.v[at] : NULL;

	if (v && v->len == sizeof(int64_t))
		return (int64_t)get_u64(v->p);
	return v && v->len == sizeof(int32_t) ? (int32_t)get_u32(v->p) : none;
}

/* First parameter of an exit. */
static int64_t result(const struct sinsp_evt *e)
{
	return e->params.n && e->params.v[0].len == sizeof(int64_t)
		       ? (int64_t)get_u64(e->params.v[0].p)
		       : 0;
}

static int has_exit(const struct sinsp_evt *e)
{
	const struct scap_event_info *exit;

	if (!evt_is_enter(e->raw.type) || evt_is_private(e->raw.type))
		return 0;
	exit = scap_event_info(e->raw.type + 1);
	return exit && !(exit->flags & EF_UNUSED);
}

static int is_clone(const struct sinsp_evt *e)
{
	return !evt_is_enter(e->raw.type) &&
	       (is_named(e, "clone") || is_named(e, "fork") || is_named(e, "vfork"));
}

static int is_procexit(const struct sinsp_evt *e)
{
	return e->raw.type == EVT_PROCEXIT_E || e->raw.type == EVT_PROCEXIT_16_E;
}

/* Returns the thread that a clone created, from either side; NULL: unknown. */
static const struct sinsp_thread *cloned(const struct held *h, const struct sinsp_evt *e)
{
	if (result(e) <= 0)
		return e->thread;
	return e->thread->vtid == e->thread->tid
		       ? sinsp_thread_find(h->insp, result(e))
		       : sinsp_thread_in_pidns(h->insp, e->thread, result(e));
}

/* Returns the thread that created it if that is another one than the event's; NULL: unknown. */
static const struct sinsp_thread *cloner(const struct held *h, const struct sinsp_evt *e)
{
	return result(e) > 0 ? e->thread : sinsp_thread_find(h->insp, e->thread->ptid);
}

/* Failed calls, and events whose effect the state at the begin of the file contains. */
static int has_no_effect(const struct sinsp_evt *e)
{
	if (e->in_snapshot)
		return 1;
	if (evt_is_enter(e->raw.type) || result(e) >= 0)
		return 0;
	return e->info->flags & EF_CREATES_FD || is_clone(e) || is_named(e, "exec") ||
	       is_named(e, "chdir") || is_named(e, "fchdir");
}

static struct held_what what_of_file(const struct sinsp_evt *e)
{
	const int64_t given = param(e, "fd", param(e, "oldfd", -1));
	struct held_what w = {.key = e->fdnum};

	if (e->info->flags & EF_CREATES_FD && is_named(e, "dup")) {
		w = (struct held_what){HELD_COPIES_FILE, given, result(e)};
		w.is_new = !is_named(e, "dup2") && !is_named(e, "dup3");
		/* Before 2022 the exit lacks the descriptor that is copied. */
		if (given < 0)
			w.kind = HELD_OTHER;
	} else if (is_named(e, "fcntl") && given >= 0 && e->fdnum != given) {
		w = (struct held_what){HELD_COPIES_FILE, given, e->fdnum, .is_new = 1};
	} else if (e->raw.type == EVT_FILE_E) {
		w = (struct held_what){HELD_MAKES_FILE, given};
	} else if (e->info->flags & EF_CREATES_FD && e->fd && e->fdnum == result(e)) {
		w.kind = HELD_MAKES_FILE;
	} else if (e->raw.type == EVT_CLOSE_X && result(e) >= 0) {
		w.kind = HELD_ENDS_FILE;
	} else if (e->info->flags & EF_USES_FD && e->fdnum >= 0 &&
		   !(e->info->flags & EF_CREATES_FD)) {
		w.kind = e->info->flags & (EF_READS_FROM_FD | EF_WRITES_TO_FD) ? HELD_IO
									       : HELD_CHANGES_FILE;
	}
	return w;
}

/* Returns the number of a descriptor, made distinct if the thread has another fd table than the
 * process of the list. */
static int64_t file_key(const struct held *h, const struct held_proc *p, const struct sinsp_evt *e,
			int64_t num)
{
	const struct sinsp_thread *main = sinsp_thread_find(h->insp, p->pid);

	if (num < 0 || num > INT32_MAX || !main || !e->thread || main->files == e->thread->files)
		return num;
	return num | (int64_t)((uint64_t)e->thread->tid << 32);
}

/* Returns whether the thread has its own copy of the fd table from here on. */
static int copies_files(const struct sinsp_evt *e)
{
	const int64_t flags = param(e, "flags", 0);

	return (e->raw.type == EVT_UNSHARE_X && flags & SINSP_CL_FILES) ||
	       (e->raw.type == EVT_CLOSE_RANGE_X && flags & CLOSE_RANGE_UNSHARE);
}

static struct held_what what_of(const struct held *h, const struct held_proc *p,
				const struct sinsp_evt *e)
{
	struct held_what w;

	if (e->raw.type == EVT_SWITCH_E)
		return (struct held_what){HELD_SETS, e->thread->tid};
	if (held_is_of_usage(e->raw.type))
		return (struct held_what){HELD_SETS, OF_MEMORY};
	if (is_procexit(e))
		return (struct held_what){HELD_ENDS_THREAD, e->thread->tid};
	if (is_clone(e)) {
		const struct sinsp_thread *t = cloned(h, e), *by = cloner(h, e);

		if (!t)
			return (struct held_what){HELD_OTHER};
		return (struct held_what){HELD_MAKES_THREAD, t->tid,
					  .copies_files = !by || t->files != by->files};
	}
	if (copies_files(e))
		return (struct held_what){HELD_COPIES_FILES};
	w = what_of_file(e);
	w.key = file_key(h, p, e, w.key);
	w.made = file_key(h, p, e, w.made);
	return w;
}

/* ---- writing ---- */

static int is_gone(void *ctx, int64_t tid)
{
	const struct held *h = ctx;

	return !sinsp_thread_find(h->insp, tid) && !table_find(&h->procs, tid);
}

static int put_held(void *ctx, const struct scap_evt *evt, const struct held_what *what)
{
	struct held *h = ctx;
	struct held_proc *child = what->kind == HELD_MAKES_THREAD && !what->with_next
					  ? table_find(&h->procs, what->key)
					  : NULL;
	int err = h->put(h->ctx, evt);

	/* From here on the file has its birth, and what it inherited. */
	if (!err && child && !child->is_known)
		proc_set_known(h, child);
	return err;
}

static void reduce(struct held *h, struct held_proc *p)
{
	held_list_reduce(h->reducer, &p->list, is_gone, h);
}

static int write_list(struct held *h, struct held_proc *p)
{
	struct held_list list;
	int err;

	if (p->list.n > 1)
		reduce(h, p);
	list = p->list;
	h->bytes -= list.cap;
	p->list = (struct held_list){0};
	p->is_known = 1;
	err = held_list_each(&list, put_held, h);
	held_list_clear(&list);
	return err;
}

/* Writes the lists of @p, after those it inherited from. */
static int write_proc(struct held *h, struct held_proc *p)
{
	struct held_proc *due = NULL, *next;
	int err = 0;

	if (p->is_known && !p->list.n)
		return 0;
	p->refs++;
	for (struct held_proc *at = p; at; at = at->is_known ? NULL : at->from) {
		note_need(h, at->pid);
		at->next_due = due;
		due = at;
	}
	/* Writing a list may make the next processes known; they live as long as needed, since each
	 * except @p has a child that refers to it until then. */
	for (struct held_proc *at = due; at; at = at->next_due)
		at->refs++;
	for (; due; due = next) {
		next = due->next_due;
		if (!err)
			err = write_list(h, due);
		if (!err)
			proc_set_known(h, due);
		proc_put(h, due);
	}
	proc_put(h, p);
	return err;
}

static int write_pid(struct held *h, int64_t pid)
{
	struct held_proc *p = table_find(&h->procs, pid);

	note_need(h, pid);
	if (!p || p->visit == h->visit)
		return 0;
	p->visit = h->visit;
	return write_proc(h, p);
}

static int write_thread(struct held *h, const struct sinsp_thread *t)
{
	return t ? write_pid(h, t->pid) : 0;
}

/* Processes that fields of the thread's process name. */
static int write_family(struct held *h, const struct sinsp_thread *t)
{
	static const enum sinsp_group_kind kinds[] = {SINSP_GROUP_SESSION, SINSP_GROUP_VPGID,
						      SINSP_GROUP_PGID};
	const struct sinsp_thread *a;
	struct sinsp_ancestry walk;
	int err = 0;

	sinsp_ancestry_begin(&walk, h->insp, t);
	while (!err && (a = sinsp_ancestry_next(&walk)))
		err = write_thread(h, a);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !err; i++)
		err = write_thread(h, sinsp_family_leader(h->insp, t, kinds[i]));
	return err;
}

/* Processes in parameters are shown with their names. */
static int write_named(struct held *h, const struct sinsp_evt *e)
{
	int err = 0;

	for (unsigned int i = 0; i < e->params.n && i < e->info->n_params && !err; i++) {
		const struct scap_param *v = &e->params.v[i];
		int64_t pid;

		if (e->info->params[i].type == PT_PID && v->len == sizeof(pid))
			pid = (int64_t)get_u64(v->p);
		else if (e->info->params[i].type == PT_PID32 && v->len == sizeof(int32_t))
			pid = (int32_t)get_u32(v->p);
		else
			continue;
		err = write_thread(h, sinsp_thread_find(h->insp, pid));
		if (!err && e->thread && e->thread->vtid != e->thread->tid)
			err = write_thread(h, sinsp_thread_in_pidns(h->insp, e->thread, pid));
	}
	return err;
}

/* ---- enters ---- */

static struct held_enter *take_out_enter(struct held *h, int64_t tid)
{
	struct held_enter *in = table_find(&h->enters, tid);

	if (in)
		table_remove(&h->enters, tid);
	return in;
}

/* Returns 1 if it is held, 0 if there is no room. */
static int hold_enter(struct held *h, const struct sinsp_evt *e)
{
	const int64_t tid = (int64_t)e->raw.hdr->tid;
	struct held_enter *in;

	free(take_out_enter(h, tid));
	if (h->enters.n >= ENTERS_MAX)
		return 0;
	in = malloc(sizeof(*in) + e->raw.hdr->len);
	if (!in || table_add(&h->enters, tid, in)) {
		free(in);
		return 0;
	}
	in->evt = e->raw;
	in->evt.hdr = memcpy(in + 1, e->raw.hdr, e->raw.hdr->len);
	return 1;
}

/* Returns the enter of an exit, if it was held; owned. */
static struct held_enter *enter_of(struct held *h, const struct sinsp_evt *e)
{
	struct held_enter *in;

	if (evt_is_enter(e->raw.type) && !has_exit(e))
		return NULL;
	in = take_out_enter(h, (int64_t)e->raw.hdr->tid);
	if (in && in->evt.type + 1u == e->raw.type)
		return in;
	free(in);
	return NULL;
}

/* ---- events ---- */

/* Returns the process whose state the event changes; NULL: none, or unknown. */
static const struct sinsp_thread *owner_of(const struct held *h, const struct sinsp_evt *e)
{
	const struct sinsp_thread *t = NULL;
	int64_t pid;

	if (e->raw.type == EVT_COMM_E)
		return sinsp_thread_find(h->insp, param(e, "tid", -1));
	if (!e->thread)
		return NULL;
	if (e->raw.type == EVT_SETPGID_X && (pid = param(e, "pid", 0)) > 0)
		t = sinsp_thread_in_pidns(h->insp, e->thread, pid);
	return t ?: e->thread;
}

/* A birth counts as an event of the parent: earlier ones are inherited. The current parent may be
 * another one. */
static struct held_proc *proc_for(struct held *h, const struct sinsp_evt *e,
				  const struct sinsp_thread *owner)
{
	struct held_proc *p = proc_of(h, owner);
	const int is_birth = is_clone(e) && !result(e);

	return p && p->from && is_birth ? p->from : p;
}

/*
 * A thread that executes a program continues as the main thread, whose end was reported before, and
 * ends the others: their births may be left out, and with them the file must not have that end,
 * which would be that of the process.
 */
static void note_exec(struct held *h, const struct sinsp_evt *e)
{
	struct held_proc *p;

	if (!e->thread || evt_is_enter(e->raw.type) || result(e) < 0 || !is_named(e, "exec"))
		return;
	p = table_find(&h->procs, e->thread->pid);
	if (p)
		held_list_drop_end(&p->list, e->thread->tid);
}

/* Adds the entry of a process whose birth the event reports. */
static int note_birth(struct held *h, const struct sinsp_evt *e)
{
	const struct sinsp_thread *child;

	if (!e->thread || !is_clone(e) || result(e) < 0)
		return 0;
	child = cloned(h, e);
	return child && !proc_born(h, child, cloner(h, e)) ? -ENOMEM : 0;
}

/* Returns whether its process has no thread left. */
static int ends_process(const struct sinsp_evt *e)
{
	if (!is_procexit(e) || !e->thread)
		return 0;
	for (const struct sinsp_thread *t = e->thread->proc->threads; t; t = t->sibling)
		if (t != e->thread && !t->exited)
			return 0;
	return 1;
}

static int add(struct held *h, struct held_proc *p, const struct scap_evt *evt,
	       const struct held_what *what)
{
	const size_t cap = p->list.cap;
	const int err = held_list_add(&p->list, evt, what);

	h->bytes += p->list.cap - cap;
	return err;
}

static int hold(struct held *h, struct held_proc *p, const struct sinsp_evt *e)
{
	struct held_enter *in = enter_of(h, e);
	struct held_what what = what_of(h, p, e), first = what;
	int err = 0;

	first.with_next = 1;
	if (in)
		err = add(h, p, &in->evt, &first);
	if (!err)
		err = add(h, p, &e->raw, &what);
	free(in);
	if (!err && p->list.len > p->list.reduce_at) {
		reduce(h, p);
		if (p->list.len > LIST_MAX)
			err = write_proc(h, p);
	}
	if (!err && h->bytes > TOTAL_MAX)
		err = write_proc(h, p);
	return err;
}

static int put_end(void *ctx, const struct scap_evt *evt, const struct held_what *what)
{
	const struct held *h = ctx;

	return what->kind == HELD_ENDS_THREAD ? h->put(h->ctx, evt) : 0;
}

/* The end of a process. A process that the file has is written to its end; others are held for
 * their children. */
static int hold_end(struct held *h, struct held_proc *p, const struct sinsp_evt *e)
{
	int err = note_formers(h, e->thread->proc) ?: hold(h, p, e);

	if (!err && p->is_known && p->refs > 1)
		err = write_proc(h, p);
	else if (!err && p->is_known)
		err = held_list_each(&p->list, put_end, h);
	proc_end(h, e->thread->pid);
	return err;
}

int held_is_of_usage(unsigned int type)
{
	const unsigned int exit = type | 1;

	return type == EVT_SWITCH_E || exit == EVT_BRK_X || exit == EVT_MMAP_X ||
	       exit == EVT_MMAP2_X || exit == EVT_MUNMAP_X;
}

/* Decides whether it is held or written at once. Losses, containers and mappings belong to the
 * capture. */
static int is_of_process(const struct sinsp_evt *e)
{
	return e->raw.type == EVT_FILE_E || e->raw.type == EVT_COMM_E ||
	       (!evt_is_private(e->raw.type) && !(e->info->category & EC_INTERNAL) &&
		!(e->info->flags & EF_SKIPPARSERESET) && !evt_is_of_container(e->raw.type)) ||
	       is_procexit(e) || e->raw.type == EVT_SWITCH_E;
}

int held_take(struct held *h, const struct sinsp_evt *e)
{
	const struct sinsp_thread *t = owner_of(h, e);
	struct held_proc *p;
	int err;

	if (!t || !is_of_process(e))
		return 0;
	if (has_exit(e))
		return hold_enter(h, e);
	if (has_no_effect(e)) {
		free(enter_of(h, e));
		return 1;
	}
	h->visit++;
	h->n_taken++;
	note_exec(h, e);
	err = note_birth(h, e);
	p = err ? NULL : proc_for(h, e, t);
	if (!p)
		return -ENOMEM;
	err = ends_process(e) ? hold_end(h, p, e) : hold(h, p, e);
	if (is_procexit(e))
		free(take_out_enter(h, e->thread->tid));
	return err ?: 1;
}

/* Most events belong to the same process as the event before, whose needs have not changed. */
static int write_needed(struct held *h, const struct sinsp_thread *t)
{
	int err;

	if (h->released_pid == t->pid && h->released_at == h->n_taken)
		return 0;
	err = write_family(h, t) ?: write_thread(h, t);
	h->released_pid = t->pid;
	h->released_at = h->n_taken;
	return err;
}

int held_release(struct held *h, const struct sinsp_evt *e)
{
	const struct sinsp_thread *child;
	struct held_enter *in;
	struct held_proc *p;
	int err = 0;

	if (!e->info)
		return 0;
	h->visit++;
	note_exec(h, e);
	err = note_birth(h, e);
	if (!err && e->thread)
		err = write_needed(h, e->thread);
	if (!err)
		err = write_named(h, e);
	in = is_of_process(e) ? enter_of(h, e) : NULL;
	if (in && !err)
		err = h->put(h->ctx, &in->evt);
	free(in);
	if (err)
		return err;
	if (e->info->flags & EF_MODIFIES_STATE)
		h->released_pid = -1;
	/* A birth that it reports goes to the file with it. */
	if (e->thread && is_clone(e) && (child = cloned(h, e)) &&
	    (p = table_find(&h->procs, child->pid)) && !p->is_known)
		proc_set_known(h, p);
	if (ends_process(e))
		proc_end(h, e->thread->pid);
	return 0;
}

/* A process without an entry is in the file. */
static void forget_procs(struct held *h)
{
	struct table t = h->procs;

	h->procs = (struct table){.seed = t.seed};
	for (size_t i = 0; i < t.n_slots; i++)
		if (t.slots[i].value)
			((struct held_proc *)t.slots[i].value)->is_ended = 0;
	for (size_t i = 0; i < t.n_slots; i++)
		proc_put(h, t.slots[i].value);
	free(t.slots);
}

void held_forget(struct held *h)
{
	forget_procs(h);
	h->released_pid = -1;
}

int held_new(struct held **out, struct sinsp *insp, const struct held *first, held_put_fn put,
	     void *ctx)
{
	struct held *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->insp = insp;
	h->first = first;
	h->put = put;
	h->ctx = ctx;
	h->released_pid = -1;
	h->reducer = held_reducer_new();
	if (!h->reducer) {
		free(h);
		return -ENOMEM;
	}
	h->procs.seed = h->enters.seed = h->needed.seed = scap_hash_seed(h);
	*out = h;
	return 0;
}

void held_free(struct held *h)
{
	if (!h)
		return;
	forget_procs(h);
	for (size_t i = 0; i < h->enters.n_slots; i++)
		free(h->enters.slots[i].value);
	free(h->enters.slots);
	free(h->needed.slots);
	held_reducer_free(h->reducer);
	free(h);
}
