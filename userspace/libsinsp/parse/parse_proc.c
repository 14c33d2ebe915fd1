/* SPDX-License-Identifier: Apache-2.0 */
/* Events that end a thread, or change its name, credentials, session, group or limits; and the
 * uncertainty after lost records. */
#include <string.h>

#include "parsers.h"
#include "process_params.h"

enum { PR_SET_NAME = 15, RLIMIT_NOFILE_2022 = 7 }; /* values of the format */

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
		sinsp_threads_drop_dead(process_table(p));
	sinsp_resync_lost(&p->s->resync,
			  sinsp_u64(sinsp_evt_param(p, SINSP_P_to), p->e->raw.true_ns), fds,
			  threads, has_lost(p, SINSP_P_exit));
}

void sinsp_parse_procexit(struct sinsp_parse *p)
{
	if (!p->e->thread)
		return;
	process_count_last_time(p);
	p->s->ended_tid = p->e->thread->tid;
	p->s->reaper_tid = sinsp_s64(sinsp_evt_param(p, SINSP_P_reaper_tid), -1);
	sinsp_threads_note_end(process_table(p), p->e->thread->tid, p->e->raw.true_ns);
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
	/* The result is a number of the caller's PID namespace; sessions are numbered in the
	 * initial one. The leader also leads a new group. */
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
	process_set_name(p, p->e->thread, name);
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
	process_set_name(p, t, name);
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

void sinsp_parse_capset(struct sinsp_parse *p)
{
	if (sinsp_result(p) >= 0 && p->e->thread)
		process_set_capabilities(p, p->e->thread->proc);
}
