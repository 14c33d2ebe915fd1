/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: clone, exec, exit, and their credentials. Parent and child both report a clone, in
 * either order; the first of the two events adds the child. Times decide whether a thread with that
 * TID is this child: it starts within the call of its parent, and once.
 */
#include <string.h>

#include "parsers.h"
#include "state/pathname.h"

/* A thread older than this when its clone event comes is an earlier one with the same TID, unless a
 * better test decides. */
#define STALE_NS 2000000000ull

enum { PR_SET_NAME = 15, RLIMIT_NOFILE_2022 = 7 }; /* values of the format */
enum { EXVAT_AT_EMPTY_PATH = 1, EXE_WRITABLE = 1, AT_FDCWD_2022 = -100 };
enum { EXE_KINDS = SCAP_EXE_UPPER_LAYER | SCAP_EXE_MEMFD | SCAP_EXE_LOWER_LAYER };

static struct sinsp_threads *table(const struct sinsp_parse *p)
{
	return &p->s->threads;
}

static void set_text(const struct sinsp_parse *p, const char **dst, const struct scap_param *v)
{
	if (v)
		sinsp_str_set(&table(p)->strings, dst, (const char *)v->p, sinsp_text_len(v));
}

static void set_name(const struct sinsp_parse *p, struct sinsp_thread *t,
		     const struct scap_param *v)
{
	if (v)
		sinsp_thread_set_comm(table(p), t, (const char *)v->p, sinsp_text_len(v));
}

static void set_list(const struct sinsp_parse *p, const char **dst, const struct scap_param *v)
{
	sinsp_str_set(&table(p)->strings, dst, v ? (const char *)v->p : "", v ? v->len : 0);
}

/* Without the parameter the inherited cgroups stay. */
static void set_cgroups(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_cgroups);
	const char *text = v ? (const char *)v->p : proc->cgroups;

	sinsp_process_set_cgroups(table(p), proc, text, v ? v->len : sinsp_str_len(text));
}

/* Events before 2015 have no comm: exe stands for it. */
static void set_comm(const struct sinsp_parse *p, struct sinsp_thread *t)
{
	int had_comm = p->row->at[SINSP_P_comm] >= 0;

	set_name(p, t, sinsp_evt_param(p, had_comm ? SINSP_P_comm : SINSP_P_exe));
}

static void set_memory(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	proc->vmsize_kb = sinsp_u64(sinsp_evt_param(p, SINSP_P_vm_size), proc->vmsize_kb);
	proc->vmrss_kb = sinsp_u64(sinsp_evt_param(p, SINSP_P_vm_rss), proc->vmrss_kb);
	proc->vmswap_kb = sinsp_u64(sinsp_evt_param(p, SINSP_P_vm_swap), proc->vmswap_kb);
}

static void set_faults(const struct sinsp_parse *p, struct sinsp_thread *t)
{
	t->pfmajor = sinsp_u64(sinsp_evt_param(p, SINSP_P_pgft_maj), t->pfmajor);
	t->pfminor = sinsp_u64(sinsp_evt_param(p, SINSP_P_pgft_min), t->pfminor);
}

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
	set_text(p, &proc->exe, sinsp_evt_param(p, SINSP_P_exe));
	set_list(p, &proc->args, sinsp_evt_param(p, SINSP_P_args));
	set_cgroups(p, proc);
	proc->fdlimit = sinsp_s64(sinsp_evt_param(p, SINSP_P_fdlimit), proc->fdlimit);
	set_memory(p, proc);
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
		sinsp_threads_replace(table(p), t);
		t = sinsp_thread_get(p->s, tid);
		if (!t)
			return NULL;
	}
	set_comm(p, t);
	if (tid == (int64_t)p->e->raw.hdr->tid) {
		t->known = 1;
		set_process(p, t->proc);
		return t;
	}
	set_text(p, &t->proc->exe, sinsp_evt_param(p, SINSP_P_exe));
	set_list(p, &t->proc->args, sinsp_evt_param(p, SINSP_P_args));
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
	struct sinsp_thread *t = sinsp_threads_find(table(p), c->child);

	if (!t)
		return !sinsp_quirk(p->s, SINSP_QUIRK_ENDED_CHILD_REMADE) && !c->inverted &&
		       (ended_before_section(p, c) ||
			sinsp_threads_has_ended(table(p), c->child, c->since_ns));
	if (is_child(p, c, t))
		return 1;
	sinsp_threads_replace(table(p), t);
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
	if (!f) {
		sinsp_warn_fd_limit(p->s);
		return;
	}
	sinsp_files_put(&table(p)->fds, t->files);
	t->files = f;
}

/* Gives @t a copy of its parent's root and working directory, or shares them if the clone does. */
static void copy_fs(struct sinsp_parse *p, struct sinsp_thread *t,
		    const struct sinsp_thread *parent, const struct clone *c)
{
	const uint32_t shares =
		sinsp_quirk(p->s, SINSP_QUIRK_THREADS_SHARE_CWD) ? SINSP_CL_THREAD : SINSP_CL_FS;
	struct sinsp_threads *tt = table(p);
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

/* After a loss the parameter cwd replaces an uncertain directory. */
static void set_cwd(struct sinsp_parse *p, struct sinsp_thread *t)
{
	const struct scap_param *cwd = sinsp_evt_param(p, SINSP_P_cwd);
	char text[SINSP_PATH_SZ + 1];
	size_t n;

	if (sinsp_quirk(p->s, SINSP_QUIRK_CWD_PARAM_IGNORED) || !cwd || cwd->p[0] != '/' ||
	    sinsp_fs_is_certain(p->s, t->fs))
		return;
	n = sinsp_parse_path(p, text, "/", 1, (const char *)cwd->p, cwd->len);
	if (text[n - 1] != '/')
		text[n++] = '/';
	sinsp_str_set(&table(p)->strings, &t->fs->cwd, text, n);
	t->fs->as_of_ns = p->e->raw.true_ns;
}

static void fill_process(struct sinsp_parse *p, struct sinsp_thread *t,
			 const struct sinsp_thread *parent)
{
	struct sinsp_thread *real = sinsp_threads_find(table(p), t->ptid);

	sinsp_process_inherit(&table(p)->strings, t->proc, parent->proc);
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
	set_comm(p, t);
	set_faults(p, t);
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
	struct sinsp_thread *t = sinsp_threads_add(table(p), c->child, pid, share);
	const struct sinsp_thread *parent = sinsp_threads_find(table(p), c->parent);

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

	if (parent && !has_child(p, c) && (parent = sinsp_threads_find(table(p), c->parent)) &&
	    set_parent(p, parent))
		add_child(p, c);
	/* The thread of the event may be new, or another struct. */
	p->e->thread = sinsp_threads_find(table(p), p->e->raw.hdr->tid);
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
		sinsp_threads_replace(table(p), t);
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

static size_t exec_directory(const struct sinsp_parse *p, int64_t dirfd, char *out)
{
	const struct sinsp_fd *dir = NULL;
	const char *name = p->e->thread->fs->cwd;
	size_t n;

	if (dirfd != AT_FDCWD_2022) {
		dir = sinsp_thread_fd(p->e->thread, dirfd);
		name = dir ? dir->name : "<UNKNOWN>";
	}
	n = strnlen(name, SINSP_PATH_SZ / 2);
	memcpy(out, name, n);
	if (dir)
		out[n++] = '/';
	return n;
}

/* Sets the path of the executed file: as the kernel prints it, else the argument of the call. */
static void set_exepath(struct sinsp_parse *p)
{
	const struct scap_param *trusted = sinsp_evt_param(p, SINSP_P_trusted_exepath);
	const struct scap_param *path = sinsp_call_param(p, SINSP_P_filename);
	const char **exepath = &p->e->thread->proc->exepath;
	char dir[SINSP_PATH_SZ], text[SINSP_PATH_SZ];
	int64_t dirfd = AT_FDCWD_2022;
	size_t n;

	if (trusted && sinsp_text_len(trusted)) {
		if (strlen(p->e->thread->fs->root) > 1 &&
		    !sinsp_quirk(p->s, SINSP_QUIRK_EXEPATH_AS_IS)) {
			n = sinsp_parse_path(p, text, "/", 1, (const char *)trusted->p,
					     trusted->len);
			sinsp_str_set(&table(p)->strings, exepath, text, n);
		} else {
			set_text(p, exepath, trusted);
		}
		return;
	}
	if (p->e->raw.type == EVT_EXECVEAT_X) {
		path = sinsp_call_param(p, SINSP_P_pathname);
		dirfd = sinsp_s64(sinsp_call_param(p, SINSP_P_dirfd), AT_FDCWD_2022);
	}
	if (!path)
		return;
	if (!strncmp((const char *)path->p, "<NA>", path->len)) {
		set_text(p, exepath, path);
		return;
	}
	n = exec_directory(p, dirfd, dir);
	if (!sinsp_text_len(path) && n > 1) /* AT_EMPTY_PATH: the descriptor itself */
		n = sinsp_path_join(text, SINSP_PATH_STRICT, "", 0, dir, n - 1);
	else
		n = sinsp_parse_path(p, text, dir, n, (const char *)path->p, path->len);
	sinsp_str_set(&table(p)->strings, exepath, text, n);
}

static int closes_on_exec(const struct sinsp_fd *fd, void *ctx)
{
	(void)ctx;
	return fd->flags & SINSP_FD_F_CLOEXEC;
}

/* Moves table, directory and times of the thread that called exec to the leader, under whose TID it
 * continues. */
static void replace_leader(struct sinsp_parse *p, struct sinsp_thread *t)
{
	struct sinsp_thread *from = sinsp_threads_find(table(p), p->s->execed_tid);
	struct sinsp_files *files = t->files;
	struct sinsp_fs *fs = t->fs;

	if (!from || from->proc != t->proc)
		return;
	t->files = from->files;
	t->fs = from->fs;
	from->files = files;
	from->fs = fs;
	t->exec_ns = from->exec_ns;
	t->ran_ns = from->ran_ns;
	t->ran_at_ns = from->ran_at_ns;
}

/* Ends the other threads of the process, unshares its files and closes those with O_CLOEXEC, as the
 * kernel does before a new program begins. */
static void begin_program(struct sinsp_parse *p, struct sinsp_thread *t)
{
	struct sinsp_fd_mem *mem = &table(p)->fds;

	replace_leader(p, t);
	for (const struct sinsp_thread *x = t->proc->threads; x; x = x->sibling)
		if (x != t)
			sinsp_threads_note_end(table(p), x->tid, p->e->raw.true_ns);
	sinsp_threads_end_siblings(table(p), t);
	if (t->files->refs > 1) {
		struct sinsp_files *own = sinsp_files_copy(t->files);

		if (!own)
			return;
		sinsp_files_put(mem, t->files);
		t->files = own;
	}
	sinsp_files_sweep(mem, t->files, closes_on_exec, NULL);
}

/* Clears the flags of the clone: exec ends the sharing of files. */
static void reset_flags(struct sinsp_thread *t)
{
	t->flags &= SINSP_CL_INVERTED;
}

static void set_capabilities(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	proc->caps_known = sinsp_evt_param(p, SINSP_P_cap_effective) != NULL;
	proc->cap_inheritable =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_cap_inheritable), proc->cap_inheritable);
	proc->cap_permitted =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_cap_permitted), proc->cap_permitted);
	proc->cap_effective =
		sinsp_u64(sinsp_evt_param(p, SINSP_P_cap_effective), proc->cap_effective);
}

/* Sets the facts about the program's file. Events before 2023 only have whether it is writable;
 * saker's own events do not cover overlays. */
static void set_exe(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);
	uint8_t known = flags & EXE_KINDS;

	if (p->s->native)
		known |= SCAP_EXE_MEMFD;
	else if (sinsp_evt_param(p, SINSP_P_trusted_exepath))
		known = EXE_KINDS;
	proc->exe_writable = flags & EXE_WRITABLE;
	proc->exe_kind = flags & EXE_KINDS;
	proc->exe_kind_known = known;
	proc->exe_ino = sinsp_u64(sinsp_evt_param(p, SINSP_P_exe_ino), 0);
	proc->exe_ctime_ns = sinsp_u64(sinsp_evt_param(p, SINSP_P_exe_ino_ctime), 0);
	proc->exe_mtime_ns = sinsp_u64(sinsp_evt_param(p, SINSP_P_exe_ino_mtime), 0);
}

/* Sets the process group. The event has it twice under one name: in the innermost PID namespace
 * and, behind the path of the program, in the first one. */
static void set_group(const struct sinsp_parse *p, struct sinsp_thread *t)
{
	int path = p->row->at[SINSP_P_trusted_exepath];
	const struct scap_params *ps = &p->e->params;

	t->proc->vpgid = sinsp_s64(sinsp_evt_param(p, SINSP_P_pgid), t->proc->vpgid);
	if (path >= 0 && (unsigned int)path + 1 < ps->n)
		t->proc->pgid = sinsp_s64(&ps->v[path + 1], t->proc->pgid);
}

void sinsp_parse_execve(struct sinsp_parse *p)
{
	struct sinsp_thread *t = p->e->thread;
	struct sinsp_process *proc;

	if (sinsp_result(p) < 0 || !t)
		return;
	if (t->tid == t->pid && !sinsp_quirk(p->s, SINSP_QUIRK_EXEC_KEEPS_THREADS))
		begin_program(p, t);
	proc = t->proc;
	t->known = proc->known = 1;
	t->as_of_ns = p->e->raw.true_ns;
	t->resynced = 0;
	set_comm(p, t);
	sinsp_str_set(&table(p)->strings, &proc->name, t->comm, strlen(t->comm));
	set_cwd(p, t);
	set_exepath(p);
	set_text(p, &proc->exe, sinsp_evt_param(p, SINSP_P_exe));
	set_list(p, &proc->args, sinsp_evt_param(p, SINSP_P_args));
	if (sinsp_evt_param(p, SINSP_P_env))
		set_list(p, &proc->env, sinsp_evt_param(p, SINSP_P_env));
	set_cgroups(p, proc);
	if (t->ptid == -1)
		t->ptid = sinsp_s64(sinsp_evt_param(p, SINSP_P_ptid), -1);
	proc->fdlimit = sinsp_s64(sinsp_evt_param(p, SINSP_P_fdlimit), proc->fdlimit);
	proc->tty = sinsp_u64(sinsp_evt_param(p, SINSP_P_tty), proc->tty);
	proc->tty_known |= sinsp_evt_param(p, SINSP_P_tty) != NULL;
	proc->loginuid = sinsp_u64(sinsp_evt_param(p, SINSP_P_loginuid), proc->loginuid);
	set_exe(p, proc);
	set_group(p, t);
	t->uid = sinsp_u64(sinsp_evt_param(p, SINSP_P_uid), t->uid);
	t->gid = sinsp_u64(sinsp_evt_param(p, SINSP_P_gid), t->gid);
	set_capabilities(p, proc);
	set_memory(p, proc);
	set_faults(p, t);
	reset_flags(t);
	t->suppressed &= ~SINSP_SUPPRESSED_NAME;
	sinsp_thread_mark(p->s, t, NULL);
}

/* Returns whether records of a kind were lost. Markers without counts by kind stand for all
 * kinds. */
static int has_lost(const struct sinsp_parse *p, enum sinsp_param kind)
{
	return sinsp_u64(sinsp_evt_param(p, kind), 1) != 0;
}

/*
 * Marks state as uncertain: names of descriptors after the loss of any event that changes
 * descriptors or tables; the identity of threads after lost clones and execs. A lost exit only
 * leaves an ended thread.
 */
void sinsp_parse_lost(struct sinsp_parse *p)
{
	int threads = has_lost(p, SINSP_P_clone) || has_lost(p, SINSP_P_exec);
	int fds = threads || has_lost(p, SINSP_P_open) || has_lost(p, SINSP_P_close) ||
		  has_lost(p, SINSP_P_state);

	if (threads)
		sinsp_threads_drop_dead(table(p));
	sinsp_resync_lost(&p->s->resync,
			  sinsp_u64(sinsp_evt_param(p, SINSP_P_to), p->e->raw.true_ns), fds,
			  threads, has_lost(p, SINSP_P_exit));
}

/* Computes the time on the CPU by the clock, since the switch before. If that switch shows another
 * thread, one is missing, and the time is unknown. */
static int ran_this_turn(const struct sinsp_parse *p, const struct sinsp_turn *turn, uint64_t *ns)
{
	const uint64_t now = p->e->raw.true_ns;

	if (!turn || !turn->since_ns || turn->since_ns > now ||
	    turn->tid != (int64_t)p->e->raw.hdr->tid)
		return 0;
	*ns = now - turn->since_ns;
	return 1;
}

/* Computes the time on the CPU by the kernel's count; by the clock if the thread had no count
 * before. */
static int ran_by_count(const struct sinsp_parse *p, const struct sinsp_turn *turn, uint64_t count,
			uint64_t *ns)
{
	struct sinsp_thread *t = p->e->thread;
	int known = t && sinsp_cpu_time_since(t, count, p->e->raw.true_ns, ns);

	if (!known && ran_this_turn(p, turn, ns)) {
		known = 1;
		*ns = *ns < count ? *ns : count;
	}
	if (t) {
		t->ran_ns = count;
		t->ran_at_ns = p->e->raw.true_ns;
	}
	return known;
}

static void count_exec_time(struct sinsp_parse *p, const struct sinsp_turn *turn,
			    const struct scap_param *count)
{
	struct sinsp_evt *e = p->e;

	if (count)
		e->ran_known = ran_by_count(p, turn, sinsp_u64(count, 0), &e->ran_ns);
	else
		e->ran_known = ran_this_turn(p, turn, &e->ran_ns);
	if (e->thread)
		e->thread->exec_ns += e->ran_ns;
}

/* Adds the time since the last tick: the kernel's count in procexit stops there. */
static void count_last_time(struct sinsp_parse *p)
{
	const struct sinsp_turn *turn = sinsp_switches_of(&p->s->switches, p->e->raw.cpu);
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_ran);
	struct sinsp_evt *e = p->e;
	uint64_t count;

	if (!v)
		return;
	count = sinsp_cpu_time_at(e->thread, turn, sinsp_u64(v, 0), e->raw.true_ns);
	e->ran_known = ran_by_count(p, turn, count, &e->ran_ns);
	e->thread->exec_ns += e->ran_ns;
}

void sinsp_parse_procexit(struct sinsp_parse *p)
{
	if (!p->e->thread)
		return;
	count_last_time(p);
	p->s->ended_tid = p->e->thread->tid;
	p->s->reaper_tid = sinsp_s64(sinsp_evt_param(p, SINSP_P_reaper_tid), -1);
	sinsp_threads_note_end(table(p), p->e->thread->tid, p->e->raw.true_ns);
}

static void set_id(const struct sinsp_parse *p, uint32_t *id, enum sinsp_param whole,
		   enum sinsp_param effective)
{
	const struct scap_param *v = sinsp_call_param(p, effective);
	uint32_t to = sinsp_u64(v ? v : sinsp_call_param(p, whole), UINT32_MAX);

	/* -1 leaves the ID unchanged. */
	if (to != UINT32_MAX)
		*id = to;
}

void sinsp_parse_setuid(struct sinsp_parse *p)
{
	if (sinsp_result(p) >= 0 && p->e->thread)
		set_id(p, &p->e->thread->uid, SINSP_P_uid, SINSP_P_euid);
}

void sinsp_parse_setgid(struct sinsp_parse *p)
{
	if (sinsp_result(p) >= 0 && p->e->thread)
		set_id(p, &p->e->thread->gid, SINSP_P_gid, SINSP_P_egid);
}

void sinsp_parse_setsid(struct sinsp_parse *p)
{
	struct sinsp_thread *t = p->e->thread;

	if (sinsp_result(p) < 0 || !t)
		return;
	if (sinsp_quirk(p->s, SINSP_QUIRK_SETSID_KEEPS_GROUP)) {
		t->proc->sid = sinsp_result(p);
		return;
	}
	/* The result is a number of the caller's PID namespace; sessions are numbered in the first
	 * one. The leader also leads a new group. */
	t->proc->sid = t->proc->pgid = t->pid;
	t->proc->vpgid = t->vpid;
}

void sinsp_parse_setpgid(struct sinsp_parse *p)
{
	int64_t pid = sinsp_s64(sinsp_call_param(p, SINSP_P_pid), 0);
	int64_t pgid = sinsp_s64(sinsp_call_param(p, SINSP_P_pgid), 0);
	struct sinsp_thread *t = p->e->thread, *leader;

	if (sinsp_result(p) < 0 || !t)
		return;
	t = pid ? sinsp_thread_in_pidns(p->s, t, pid) : t;
	if (!t)
		return;
	leader = pgid ? sinsp_thread_in_pidns(p->s, p->e->thread, pgid) : t;
	t->proc->vpgid = pgid ? pgid : t->vpid;
	t->proc->pgid = leader ? leader->pid : -1;
}

void sinsp_parse_prctl(struct sinsp_parse *p)
{
	const struct scap_param *name = sinsp_evt_param(p, SINSP_P_arg2_str);

	if (sinsp_result(p) < 0 || !p->e->thread || !name ||
	    sinsp_u64(sinsp_evt_param(p, SINSP_P_option), 0) != PR_SET_NAME)
		return;
	set_name(p, p->e->thread, name);
	sinsp_thread_mark(p->s, p->e->thread, NULL);
}

/* Another thread set the name, or a write to /proc did. */
void sinsp_parse_comm(struct sinsp_parse *p)
{
	const struct scap_param *name = sinsp_evt_param(p, SINSP_P_comm);
	struct sinsp_thread *t =
		sinsp_thread_find(p->s, sinsp_s64(sinsp_evt_param(p, SINSP_P_tid), -1));

	if (!t || !name || p->e->raw.true_ns < t->snapshot_ns)
		return;
	set_name(p, t, name);
	sinsp_thread_mark(p->s, t, NULL);
}

static void set_fdlimit(struct sinsp_thread *t, const struct scap_param *limit)
{
	int64_t n = sinsp_s64(limit, -1);

	if (t && n != -1)
		t->proc->fdlimit = n;
}

void sinsp_parse_rlimit(struct sinsp_parse *p)
{
	if (sinsp_result(p) >= 0 &&
	    sinsp_u64(sinsp_call_param(p, SINSP_P_resource), 0) == RLIMIT_NOFILE_2022)
		set_fdlimit(p->e->thread, sinsp_evt_param(p, SINSP_P_cur));
}

void sinsp_parse_prlimit(struct sinsp_parse *p)
{
	int64_t tid = sinsp_s64(sinsp_call_param(p, SINSP_P_pid), 0);

	if (sinsp_result(p) < 0 ||
	    sinsp_u64(sinsp_call_param(p, SINSP_P_resource), 0) != RLIMIT_NOFILE_2022)
		return;
	set_fdlimit(tid ? sinsp_thread_in_pidns(p->s, p->e->thread, tid) : p->e->thread,
		    sinsp_evt_param(p, SINSP_P_newcur));
}

void sinsp_parse_vm(struct sinsp_parse *p)
{
	if (p->e->thread)
		set_memory(p, p->e->thread->proc);
}

/* Marks the thread that was on the CPU: its switch away is missing. */
static void note_gap(struct sinsp_parse *p, const struct sinsp_turn *turn)
{
	struct sinsp_thread *t = sinsp_threads_find(table(p), turn->tid);

	p->s->switches.has_gaps = 1;
	if (t)
		t->missing_switch = 1;
}

void sinsp_parse_switch(struct sinsp_parse *p)
{
	struct sinsp_turn *turn = sinsp_switches_of(&p->s->switches, p->e->raw.cpu);

	count_exec_time(p, turn, sinsp_evt_param(p, SINSP_P_ran));
	if (turn && turn->since_ns && turn->tid != (int64_t)p->e->raw.hdr->tid)
		note_gap(p, turn);
	if (turn)
		*turn = (struct sinsp_turn){p->e->raw.true_ns,
					    sinsp_s64(sinsp_evt_param(p, SINSP_P_next), -1)};
	if (!p->e->thread || p->e->raw.true_ns < p->e->thread->snapshot_ns)
		return;
	set_faults(p, p->e->thread);
	set_memory(p, p->e->thread->proc);
}

void sinsp_parse_capset(struct sinsp_parse *p)
{
	if (sinsp_result(p) >= 0 && p->e->thread)
		set_capabilities(p, p->e->thread->proc);
}

static void set_cpu_time(uint32_t *last, uint32_t *delta, uint64_t now, int is_first)
{
	*delta = !is_first && now > *last ? (uint32_t)(now - *last) : 0;
	*last = (uint32_t)now;
}

/* Only in files of sysdig and its agents. */
void sinsp_parse_procinfo(struct sinsp_parse *p)
{
	const uint64_t usr = sinsp_u64(sinsp_evt_param(p, SINSP_P_cpu_usr), 0);
	const uint64_t sys = sinsp_u64(sinsp_evt_param(p, SINSP_P_cpu_sys), 0);
	struct sinsp_thread *t = p->e->thread;
	int is_first;

	if (!t)
		return;
	is_first = !t->cpu_usr && !t->cpu_sys;
	set_cpu_time(&t->cpu_usr, &t->cpu_usr_delta, usr, is_first);
	set_cpu_time(&t->cpu_sys, &t->cpu_sys_delta, sys, is_first);
}
