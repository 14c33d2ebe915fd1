/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are on a CPU, for chisels: what they have run so far no event has told yet. */
#include <string.h>

#include "chisel_host.h"
#include "event_table.h"
#include "state/family.h"
#include "state/inspector.h"

/* Whether the filter would mean a switch from @t to another thread. */
static int is_asked_for(struct sinsp_filter *filter, struct sinsp *insp, struct sinsp_thread *t,
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

static void push_turn(lua_State *L, struct sinsp *insp, const struct sinsp_thread *t, uint32_t cpu)
{
	const struct sinsp_container *container = sinsp_thread_container(t);

	lua_createtable(L, 0, 7);
	set_integer(L, "cpu", cpu);
	set_integer(L, "tid", t->tid);
	set_integer(L, "pid", t->pid);
	set_integer(L, "since", (int64_t)insp->switches.turns[cpu].since_ns);
	set_string(L, "comm", t->comm);
	set_string(L, "proc", sinsp_family_main(insp, t)->comm);
	set_string(L, "container", container ? container->name : "host");
}

int sinsp_chisel_running(lua_State *L)
{
	const struct sinsp_chisel_run *run = chisel_of(L)->run;
	const char *text = luaL_optstring(L, 1, "");
	struct sinsp_filter *filter = *text ? sinsp_chisel_filter_on_stack(L, text, 0) : NULL;
	struct sinsp *insp = run->insp;
	lua_Integer n = 0;

	lua_newtable(L);
	for (uint32_t cpu = 0; insp && cpu < insp->switches.n; cpu++) {
		const struct sinsp_turn *turn = &insp->switches.turns[cpu];
		struct sinsp_thread *t =
			turn->tid > 0 ? sinsp_threads_find(&insp->threads, turn->tid) : NULL;

		if (!t || !t->known || !is_asked_for(filter, insp, t, cpu, run->last_ns))
			continue;
		push_turn(L, insp, t, cpu);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}
