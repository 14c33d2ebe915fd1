/* SPDX-License-Identifier: Apache-2.0 */
/* sysdig.get_running: threads that are on a CPU now, with the time since their last switch
 * event. */
#include <string.h>

#include "chisel_host.h"
#include "event/event_table.h"
#include "state/family.h"
#include "state/inspector.h"

/* Returns whether the filter matches a switch from @t to another thread. */
static int is_selected(struct sinsp_filter *filter, struct sinsp *insp, struct sinsp_thread *t,
		       uint32_t cpu, uint64_t now)
{
	struct ppm_evt_hdr hdr = {
		.ts = now, .tid = (uint64_t)t->tid, .len = sizeof(hdr), .type = EVT_SWITCH_E};
	const struct sinsp_evt evt = {
		.raw = {.hdr = &hdr,
			.type = EVT_SWITCH_E,
			.ts_ns = now,
			.true_ns = now,
			.num = 1,
			.cpu = (uint16_t)cpu,
			.nr = REC_NR_NONE},
		.insp = insp,
		.info = scap_event_info(EVT_SWITCH_E),
		.thread = t,
		.fdnum = -1,
	};

	return !filter || sinsp_filter_run(filter, &evt) > 0;
}

static void set_integer(lua_State *L, const char *key, int64_t value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, key);
}

static void set_string(lua_State *L, const char *key, const char *value)
{
	chisel_terminal_note(&chisel_of(L)->terminal, value, strlen(value));
	lua_pushstring(L, value);
	lua_setfield(L, -2, key);
}

/* The list that is built. */
struct running {
	lua_State *L; /* with the list on top */
	struct sinsp *insp;
	struct sinsp_filter *filter; /* NULL: all */
	uint64_t now;
	lua_Integer n;
};

static void push_thread(struct running *r, const struct sinsp_thread *t, uint32_t cpu,
			uint64_t ran_ns)
{
	lua_State *L = r->L;

	lua_createtable(L, 0, 7);
	set_integer(L, "cpu", cpu);
	set_integer(L, "tid", t->tid);
	set_integer(L, "pid", t->pid);
	set_integer(L, "ran", (int64_t)ran_ns);
	set_string(L, "comm", t->comm);
	set_string(L, "proc", sinsp_family_main(r->insp, t)->comm);
	set_string(L, "container", sinsp_thread_container_name(t));
	set_string(L, "container_id", sinsp_thread_container_id(t));
	lua_rawseti(L, -2, ++r->n);
}

static struct sinsp_thread *selected_thread(const struct running *r, int64_t tid, uint32_t cpu)
{
	struct sinsp_thread *t = tid > 0 ? sinsp_threads_find(&r->insp->threads, tid) : NULL;

	return t && t->known && is_selected(r->filter, r->insp, t, cpu, r->now) ? t : NULL;
}

static uint64_t ran_this_turn(const struct running *r, int64_t tid, uint32_t cpu)
{
	const struct sinsp_switches *w = &r->insp->switches;
	const struct sinsp_turn *turn = cpu < w->n ? &w->turns[cpu] : NULL;

	if (!turn || turn->tid != tid || !turn->since_ns || turn->since_ns > r->now)
		return 0;
	return r->now - turn->since_ns;
}

/* Returns whether the file would have the switch if @t had left the CPU. */
static int leaves_seen(const struct running *r, const struct sinsp_thread *t)
{
	return !r->insp->switches.has_gaps || (t->exec_ns && !t->missing_switch);
}

/* Replay: pushes the threads that last came to each CPU. */
static void push_turns(struct running *r)
{
	const struct sinsp_switches *w = &r->insp->switches;

	for (uint32_t cpu = 0; cpu < w->n; cpu++) {
		const struct sinsp_thread *t = selected_thread(r, w->turns[cpu].tid, cpu);

		if (t && leaves_seen(r, t))
			push_thread(r, t, cpu, ran_this_turn(r, t->tid, cpu));
	}
}

/* Live: pushes what the kernel reports, also threads whose switch was not seen. */
static void push_running(struct running *r, const struct scap_running *v, int n)
{
	for (int i = 0; i < n; i++) {
		const struct sinsp_thread *t = selected_thread(r, (int64_t)v[i].tid, v[i].cpu);
		uint64_t ns;

		if (t && !sinsp_cpu_time_since(t, v[i].ran_ns, v[i].at_ns, &ns))
			ns = ran_this_turn(r, t->tid, v[i].cpu);
		if (t)
			push_thread(r, t, v[i].cpu, ns);
	}
}

int sinsp_chisel_running(lua_State *L)
{
	const struct sinsp_chisel_run *run = chisel_of(L)->run;
	const char *text = luaL_optstring(L, 1, "");
	struct running r = {
		.L = L,
		.insp = run->insp,
		.filter = *text ? sinsp_chisel_filter_on_stack(L, text, 0) : NULL,
		.now = run->last_ns,
	};
	const struct scap_running *v;
	int n;

	lua_newtable(L);
	if (!r.insp)
		return 1;
	n = scap_running(sinsp_source(r.insp), &v);
	if (n >= 0)
		push_running(&r, v, n);
	else
		push_turns(&r);
	return 1;
}
