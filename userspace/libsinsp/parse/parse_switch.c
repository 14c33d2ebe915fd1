/* SPDX-License-Identifier: Apache-2.0 */
/* Switch, slice and procinfo events: time, memory and page faults of threads. */
#include "parsers.h"
#include "process_params.h"
#include "timeline/timeline.h"

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

/* The kernel's count in procexit stops at the last tick. */
void process_count_last_time(struct sinsp_parse *p)
{
	const struct sinsp_switches *w = &p->s->switches;
	const uint32_t cpu = p->e->raw.cpu;
	/* Adds none: without switches the time of other threads stays unknown. */
	const struct sinsp_turn *turn = cpu < w->n ? &w->turns[cpu] : NULL;
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_ran);
	struct sinsp_evt *e = p->e;
	uint64_t count;

	if (!v)
		return;
	count = sinsp_cpu_time_at(e->thread, turn, sinsp_u64(v, 0), e->raw.true_ns);
	e->ran_known = ran_by_count(p, turn, count, &e->ran_ns);
	e->thread->exec_ns += e->ran_ns;
}

/* Marks the thread that was on the CPU: its switch away is missing. */
static void note_gap(struct sinsp_parse *p, const struct sinsp_turn *turn)
{
	struct sinsp_thread *t = sinsp_threads_find(process_table(p), turn->tid);

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
	process_set_faults(p, p->e->thread);
	process_set_memory(p, p->e->thread->proc);
}

void sinsp_parse_slice(struct sinsp_parse *p)
{
	const struct scap_param *kind = sinsp_evt_param(p, SINSP_P_kind);

	if (p->e->thread && kind && kind->len == 1)
		p->e->thread->slice_ns[sinsp_slice_sum(kind->p[0])] +=
			sinsp_u64(sinsp_evt_param(p, SINSP_P_ns), 0);
}

void sinsp_parse_vm(struct sinsp_parse *p)
{
	if (p->e->thread)
		process_set_memory(p, p->e->thread->proc);
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
