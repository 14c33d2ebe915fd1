/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clones. Parent and child both report a clone, in either order; the first of the two events adds
 * the child. Times decide whether a thread with that TID is this child: it starts within the call
 * of its parent, and once.
 */
#include <string.h>

#include "parsers.h"
#include "process_params.h"

/* A thread older than this when its clone event comes is an earlier one with the same TID, unless a
 * better test decides. */
#define STALE_NS 2000000000ull

struct clone {
	int64_t child, parent, pid, vtid, vpid;
	uint32_t flags;
	uint64_t since_ns; /* the child did not start before */
	int in_pidns; /* the child has other IDs in its own PID namespace */
	int inverted; /* the event of the child came first */
};

static void read_clone(const struct sinsp_parse *p, struct clone *c)
{
	int64_t tid = p->e->raw.hdr->tid;

	c->flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);
	c->pid = sinsp_s64(sinsp_evt_param(p, SINSP_P_pid), -1);
	c->vtid = sinsp_s64(sinsp_evt_param(p, SINSP_P_vtid), tid);
	c->vpid = sinsp_s64(sinsp_evt_param(p, SINSP_P_vpid), -1);
	c->in_pidns = (c->flags & SINSP_CL_CHILD_IN_PIDNS) || c->vtid != tid;
	c->since_ns = p->e->raw.true_ns - (p->e->latency_known ? p->e->latency_ns : STALE_NS);
}

/* Copies what the event has of the process of its thread, or of the child that it adds. */
static void set_process(struct sinsp_parse *p, struct sinsp_process *proc)
{
	proc->known = 1;
	process_set_text(p, &proc->exe, sinsp_evt_param(p, SINSP_P_exe));
	process_set_list(p, &proc->args, sinsp_evt_param(p, SINSP_P_args));
	process_set_cgroups(p, proc);
	proc->fdlimit = sinsp_s64(sinsp_evt_param(p, SINSP_P_fdlimit), proc->fdlimit);
	process_set_memory(p, proc);
	proc->pidns_start_ns =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_pidns_init_start_ts), proc->pidns_start_ns);
}

static int is_unknown_thread(const struct sinsp_thread *t)
{
	return !strcmp(t->comm, "<NA>") && t->uid == UINT32_MAX;
}

/* Gives an unknown parent the program of its child. Returns the parent, which may be another struct
 * then, or NULL without memory. */
static struct sinsp_thread *set_parent(struct sinsp_parse *p, struct sinsp_thread *t)
{
	int64_t tid = t->tid;

	if (!is_unknown_thread(t))
		return t;
	if (sinsp_quirk(p->s, SINSP_QUIRK_PARENT_FILES_DROPPED)) {
		sinsp_threads_replace(process_table(p), t);
		t = sinsp_thread_get(p->s, tid);
		if (!t)
			return NULL;
	}
	process_set_comm(p, t);
	if (tid == (int64_t)p->e->raw.hdr->tid) {
		t->known = 1;
		set_process(p, t->proc);
		return t;
	}
	process_set_text(p, &t->proc->exe, sinsp_evt_param(p, SINSP_P_exe));
	process_set_list(p, &t->proc->args, sinsp_evt_param(p, SINSP_P_args));
	return t;
}

/* Returns whether @t is the child of this clone, in the event of the parent. */
static int is_child(const struct sinsp_parse *p, const struct clone *c,
		    const struct sinsp_thread *t)
{
	if (p->e->raw.true_ns < t->snapshot_ns)
		return 1;
	if (sinsp_quirk(p->s, SINSP_QUIRK_CHILD_BY_FLAG))
		return t->flags & SINSP_CL_INVERTED;
	return t->start_ns + (t->snapshot_ns || t->resynced ? SINSP_TICK_NS : 0) >= c->since_ns;
}

/* Returns whether the child of a vfork that began before the section has ended: otherwise the
 * section's state would contain it, since the child runs before its parent returns. */
static int ended_before_section(const struct sinsp_parse *p, const struct clone *c)
{
	return (c->flags & SINSP_CL_VFORK) && !p->e->latency_known && p->e->thread &&
	       sinsp_thread_is_certain(p->s, p->e->thread, p->e->raw.true_ns);
}

/* Returns whether the child's own event added it, or it has ended since. Removes an earlier thread
 * with its TID. */
static int has_child(struct sinsp_parse *p, const struct clone *c)
{
	struct sinsp_thread *t = sinsp_threads_find(process_table(p), c->child);

	if (!t)
		return !sinsp_quirk(p->s, SINSP_QUIRK_ENDED_CHILD_REMADE) && !c->inverted &&
		       (ended_before_section(p, c) ||
			sinsp_threads_has_ended(process_table(p), c->child, c->since_ns));
	if (is_child(p, c, t))
		return 1;
	sinsp_threads_replace(process_table(p), t);
	return 0;
}

static void copy_files(struct sinsp_parse *p, struct sinsp_thread *t,
		       const struct sinsp_thread *parent, const struct clone *c)
{
	const int copies = sinsp_quirk(p->s, SINSP_QUIRK_FILES_COPIED);
	struct sinsp_files *f;

	if (copies && (c->flags & SINSP_CL_THREAD))
		return;
	f = !copies && (c->flags & SINSP_CL_FILES) ? sinsp_files_ref(parent->files)
						   : sinsp_files_copy(parent->files);
	if (!f)
		return;
	sinsp_files_put(&process_table(p)->fds, t->files);
	t->files = f;
}

/* Gives @t a copy of its parent's root and working directory, or shares them if the clone does. */
static void copy_fs(struct sinsp_parse *p, struct sinsp_thread *t,
		    const struct sinsp_thread *parent, const struct clone *c)
{
	const uint32_t shares =
		sinsp_quirk(p->s, SINSP_QUIRK_THREADS_SHARE_CWD) ? SINSP_CL_THREAD : SINSP_CL_FS;
	struct sinsp_threads *tt = process_table(p);
	struct sinsp_fs *fs;

	fs = c->flags & shares ? sinsp_fs_ref(parent->fs) : sinsp_fs_copy(&tt->fses, parent->fs);
	if (!fs)
		return;
	sinsp_fs_put(&tt->fses, &tt->strings, t->fs);
	t->fs = fs;
}

static int64_t parent_tid(const struct sinsp_parse *p, const struct clone *c,
			  const struct sinsp_thread *parent)
{
	return (c->flags & SINSP_CL_PARENT) && !sinsp_quirk(p->s, SINSP_QUIRK_PARENT_IS_CALLER)
		       ? parent->ptid
		       : c->parent;
}

static void fill_process(struct sinsp_parse *p, struct sinsp_thread *t,
			 const struct sinsp_thread *parent)
{
	struct sinsp_thread *real = sinsp_threads_find(process_table(p), t->ptid);

	sinsp_process_inherit(&process_table(p)->strings, t->proc, parent->proc);
	sinsp_process_adopt(t->proc, real ? real->proc : NULL);
	if (real)
		real->has_children = 1;
	set_process(p, t->proc);
}

static void fill_child(struct sinsp_parse *p, struct sinsp_thread *t,
		       const struct sinsp_thread *parent, const struct clone *c)
{
	t->known = t->vtid_known = 1;
	t->as_of_ns = p->e->raw.true_ns;
	t->born = c->inverted;
	t->ptid = parent_tid(p, c, parent);
	t->flags = c->flags | (c->inverted ? SINSP_CL_INVERTED : 0);
	t->start_ns = p->e->raw.true_ns;
	t->ran_at_ns = c->since_ns; /* its CPU time was 0 then */
	t->uid = sinsp_u64(sinsp_evt_param(p, SINSP_P_uid), UINT32_MAX);
	t->gid = sinsp_u64(sinsp_evt_param(p, SINSP_P_gid), UINT32_MAX);
	if (c->in_pidns) {
		t->vtid = c->vtid;
		t->vpid = c->vpid;
	}
	process_set_comm(p, t);
	process_set_faults(p, t);
	if (t->tid == t->pid)
		fill_process(p, t, parent);
	else if (!t->proc->known)
		set_process(p, t->proc);
	sinsp_thread_mark(p->s, t, parent);
}

static void add_child(struct sinsp_parse *p, const struct clone *c)
{
	int64_t pid = c->flags & SINSP_CL_THREAD ? c->pid : c->child;
	int share = (c->flags & SINSP_CL_FILES) && pid != c->child;
	struct sinsp_thread *t = sinsp_threads_add(process_table(p), c->child, pid, share);
	const struct sinsp_thread *parent = sinsp_threads_find(process_table(p), c->parent);

	if (!t || !parent)
		return;
	if (!share)
		copy_files(p, t, parent, c);
	copy_fs(p, t, parent, c);
	fill_child(p, t, parent, c);
}

static void make_child(struct sinsp_parse *p, const struct clone *c)
{
	struct sinsp_thread *parent = sinsp_thread_get(p->s, c->parent);

	if (parent && !has_child(p, c) &&
	    (parent = sinsp_threads_find(process_table(p), c->parent)) && set_parent(p, parent))
		add_child(p, c);
	/* The thread of the event may be new, or another struct. */
	p->e->thread = sinsp_threads_find(process_table(p), p->e->raw.hdr->tid);
}

/*
 * Returns whether @t is an earlier thread with the TID of the thread that starts, whose end was not
 * seen. A child may wait long for a CPU: the thread that its parent's event added is the child,
 * unless records were lost.
 */
static int is_stale(const struct sinsp_parse *p, const struct sinsp_thread *t)
{
	const int by_age = sinsp_quirk(p->s, SINSP_QUIRK_STALE_BY_AGE);
	const uint64_t now = p->e->raw.true_ns;

	if (now < t->snapshot_ns)
		return 0;
	if (!by_age && (t->born || !t->known || t->enter_type != SINSP_NO_TYPE))
		return 1;
	if (!by_age && !t->snapshot_ns && sinsp_thread_is_certain(p->s, t, now))
		return 0;
	return t->start_ns && now - t->start_ns > STALE_NS;
}

/* Handles the child's event; the parent's may have come first. */
static void clone_in_child(struct sinsp_parse *p, struct clone *c)
{
	struct sinsp_thread *t = p->e->thread;

	if (t && is_stale(p, t)) {
		sinsp_threads_replace(process_table(p), t);
		t = p->e->thread = NULL;
	}
	if (t) {
		t->born = 1;
		if (c->in_pidns) {
			t->vtid = c->vtid;
			t->vpid = c->vpid;
		}
		return;
	}
	c->child = p->e->raw.hdr->tid;
	c->parent = c->flags & SINSP_CL_THREAD ? c->pid
					       : sinsp_s64(sinsp_evt_param(p, SINSP_P_ptid), -1);
	c->inverted = 1;
	make_child(p, c);
}

void sinsp_parse_clone(struct sinsp_parse *p)
{
	int64_t res = sinsp_result(p);
	struct clone c = {.child = res, .parent = p->e->raw.hdr->tid};

	if (res < 0)
		return;
	read_clone(p, &c);
	if (res == 0)
		clone_in_child(p, &c);
	else if (!c.in_pidns) /* the parent has the child's PID in its own namespace only */
		make_child(p, &c);
}
