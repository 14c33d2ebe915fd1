/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the thread of an event, and of the cgroups and capabilities of its process. */
#include "ancestors.h"
#include "facts.h"
#include "state/cpu_use.h"

static int get_tid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_i(v, (int64_t)e->evt->raw.hdr->tid);
}

static int get_exectime(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	(void)f, (void)more;
	return e->evt->ran_known ? field_u(v, e->evt->ran_ns) : field_has_default(e); /* 0 */
}

enum cpu_time { CPU_ALL, CPU_USER, CPU_SYSTEM };

static int get_cpu(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	enum { MOST = 100 };
	const struct sinsp_thread *t = e->evt->thread;
	const uint16_t type = e->evt->raw.type, which = f->row->variant;
	const struct sinsp_cpu_use *u;
	double user, system;

	(void)more;
	if (!t)
		return 0;
	if (which == CPU_ALL && type == EVT_PROCEXIT_E)
		return sinsp_cpu_use_at_exit(e->evt, &v->d);
	u = t->cpu_use;
	if (type != EVT_PROCINFO_E && (type != FIELD_INTERVAL_END || !u || !u->known))
		return 0;
	user = type == EVT_PROCINFO_E ? t->cpu_usr_delta : u->user;
	system = type == EVT_PROCINFO_E ? t->cpu_sys_delta : u->system;
	v->d = (which != CPU_SYSTEM ? user : 0) + (which != CPU_USER ? system : 0);
	v->d = v->d < MOST ? v->d : MOST;
	return 1;
}

/* clang-format off */
#define ROW(name, type, cost, flags, fact, get, help, ...)                                         \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_##cost, flags, FACT_##fact, get, help, __VA_ARGS__}

static const struct sinsp_field_row rows[] = {
	{"thread.tid", FIELD_INT, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, 0, get_tid,
	 "thread ID (TID)", NULL},
	ROW("thread.name", STR, STATE, 0, thread_name, field_get_own,
	    "name of the thread (comm), at most 15 characters: proc.name unless the thread "
	    "changed it"),
	ROW("thread.ismain", BOOL, STATE, 0, ismain, field_get_own,
	    "true for the main thread of a process"),
	ROW("thread.vtid", INT, STATE, 0, vtid, field_get_own,
	    "TID in the PID namespace of the process"),
	ROW("thread.nametid", STR, TEXT, FIELD_F_HIDDEN, nametid, field_get_own,
	    "thread.name and thread.tid, without a separator"),
	{"thread.exectime", FIELD_DURATION, FIELD_FMT_DEC, FIELD_COST_STATE, 0, 0, get_exectime,
	 "CPU time of the thread since its previous switch, in nanoseconds; switch and procexit "
	 "events only",
	 .needs = FIELD_NEEDS_HISTORY},
	ROW("thread.totexectime", DURATION, STATE, 0, totexectime, field_get_own,
	    "CPU time of the thread since the start of the capture, in nanoseconds; requires "
	    "switch events",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("thread.cgroups", STR, TEXT, 0, cgroups, field_get_own,
	    "cgroups of the process, as SUBSYSTEM=PATH separated by blanks"),
	ROW("thread.cgroup", STR, SEARCH, FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY, cgroups, field_get_cgroup,
	    "cgroup of the process in one subsystem, as in thread.cgroup.cpuacct"),
	{"thread.cpu", FIELD_DOUBLE, FIELD_FMT_DEC, FIELD_COST_STATE, 0, CPU_ALL, get_cpu,
	 "CPU time of the thread since its previous procinfo event, in hundredths of a second, at "
	 "most 100; procinfo events of sysdig only. Live in saker top: percent of one CPU in the "
	 "interval",
	 .needs = FIELD_NEEDS_HISTORY | FIELD_NEEDS_CPU_TIME},
	{"thread.cpu.user", FIELD_DOUBLE, FIELD_FMT_DEC, FIELD_COST_STATE, 0, CPU_USER, get_cpu,
	 "user part of thread.cpu",
	 .needs = FIELD_NEEDS_HISTORY | FIELD_NEEDS_CPU_TIME},
	{"thread.cpu.system", FIELD_DOUBLE, FIELD_FMT_DEC, FIELD_COST_STATE, 0, CPU_SYSTEM, get_cpu,
	 "system part of thread.cpu",
	 .needs = FIELD_NEEDS_HISTORY | FIELD_NEEDS_CPU_TIME},
	ROW("thread.vmsize", UINT, STATE, 0, thread_vmsize, field_get_own,
	    "proc.vmsize for the main thread, 0 for others",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("thread.vmrss", UINT, STATE, 0, thread_vmrss, field_get_own,
	    "proc.vmrss for the main thread, 0 for others",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("thread.vmsize.b", UINT, STATE, FIELD_F_HIDDEN, thread_vmsize_b, field_get_own,
	    "thread.vmsize in bytes",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("thread.vmrss.b", UINT, STATE, FIELD_F_HIDDEN, thread_vmrss_b, field_get_own,
	    "thread.vmrss in bytes",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("thread.pfmajor", UINT, STATE, 0, pfmajor, field_get_own,
	    "major page faults of the thread",
	    .needs = FIELD_NEEDS_HISTORY | FIELD_NEEDS_CPU_TIME),
	ROW("thread.pfminor", UINT, STATE, 0, pfminor, field_get_own,
	    "minor page faults of the thread",
	    .needs = FIELD_NEEDS_HISTORY | FIELD_NEEDS_CPU_TIME),
	ROW("thread.cap_permitted", STR, TEXT, 0, cap_permitted, field_get_own,
	    "permitted capabilities of the process, such as CAP_NET_RAW, separated by blanks",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("thread.cap_inheritable", STR, TEXT, 0, cap_inheritable, field_get_own,
	    "inheritable capabilities of the process",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("thread.cap_effective", STR, TEXT, 0, cap_effective, field_get_own,
	    "effective capabilities of the process",
	    .needs = FIELD_NEEDS_CALLS),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_thread = {
	.name = "thread",
	.title = "thread",
	.help = "The thread of the event",
	FIELD_ROWS(rows),
};
