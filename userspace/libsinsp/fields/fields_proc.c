/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the process of an event, of its parent, leaders and ancestors. */
#include "ancestors.h"
#include "facts.h"
#include "process.h"

static int get_args(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	if (!t || !f->has_index)
		return field_get_own(e, f, v, more);
	return fact_list_get(v, t->proc->args, sinsp_str_len(t->proc->args), (uint64_t)f->index);
}

static int get_env(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	if (!t || !f->arg)
		return field_get_own(e, f, v, more);
	return fact_list_value(v, t->proc->env, f->arg);
}

/* Variants of rows: facts of the standard descriptors. */
enum std { STDIN_TYPE, STDIN_NAME, STDOUT_TYPE, STDOUT_NAME, STDERR_TYPE, STDERR_NAME };

static int get_std(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = sinsp_thread_fd(e->evt->thread, f->row->variant / 2);

	(void)more;
	if (!fd)
		return 0;
	return field_str(v, f->row->variant % 2 ? fd->name : sinsp_fd_typename(fd));
}

/* clang-format off */
#define ROW(name, type, cost, flags, fact, get, help, ...)                                         \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_##cost, flags, FACT_##fact, get, help, __VA_ARGS__}
#define ANCESTORS (FIELD_F_LIST | FIELD_F_ANY | FIELD_F_ARG_OK | FIELD_F_ARG_INDEX)

static const struct sinsp_field_row rows[] = {
	ROW("proc.pid", INT, STATE, 0, pid, field_get_own, "process ID (PID)"),
	ROW("proc.exe", STR, STATE, 0, exe, field_get_own,
	    "first argument of the command line: usually the program as it was called"),
	ROW("proc.pexe", STR, SEARCH, 0, exe, field_get_parents, "proc.exe of the parent"),
	ROW("proc.aexe", STR, SEARCH, ANCESTORS, exe, field_get_ancestors,
	    "proc.exe of the ancestors; proc.aexe[0] is the process itself, [1] its parent"),
	ROW("proc.exepath", PATH, STATE, 0, exepath, field_get_own,
	    "path of the executable, with links resolved"),
	ROW("proc.pexepath", PATH, SEARCH, 0, exepath, field_get_parents, "proc.exepath of the parent"),
	ROW("proc.aexepath", PATH, SEARCH, ANCESTORS, exepath, field_get_ancestors,
	    "proc.exepath of the ancestors; proc.aexepath[1] is the parent"),
	ROW("proc.name", STR, STATE, 0, name, field_get_own,
	    "name of the process (comm of its main thread): that of its program, at most 15 "
	    "characters, unless the thread changed it"),
	ROW("proc.pname", STR, SEARCH, 0, name, field_get_parents, "proc.name of the parent"),
	ROW("proc.aname", STR, SEARCH, ANCESTORS, name, field_get_ancestors,
	    "proc.name of the ancestors, as in proc.aname=sshd; proc.aname[1] is the parent, [2] "
	    "the grandparent"),
	ROW("proc.args", STR, TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, args, get_args,
	    "command line without the program; proc.args[0] is the first argument"),
	ROW("proc.aargs", STR, TEXT, ANCESTORS, args, field_get_ancestors,
	    "proc.args of the ancestors; proc.aargs[1] is the parent"),
	ROW("proc.cmdline", STR, TEXT, 0, cmdline, field_get_own, "proc.name and proc.args"),
	ROW("proc.pcmdline", STR, TEXT, 0, cmdline, field_get_parents, "proc.cmdline of the parent"),
	ROW("proc.acmdline", STR, TEXT, ANCESTORS, cmdline, field_get_ancestors,
	    "proc.cmdline of the ancestors; proc.acmdline[1] is the parent"),
	ROW("proc.cmdnargs", UINT, SEARCH, 0, cmdnargs, field_get_own, "number of arguments"),
	ROW("proc.cmdlenargs", UINT, SEARCH, 0, cmdlenargs, field_get_own,
	    "total length of the arguments, without separators"),
	ROW("proc.exeline", STR, TEXT, 0, exeline, field_get_own, "proc.exe and proc.args"),
	ROW("proc.command", STR, TEXT, 0, command, field_get_own,
	    "proc.exeline; [proc.name] of a process that has none, such as a kernel thread"),
	ROW("proc.env", STR, TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_KEY, env, get_env,
	    "environment, as NAME=VALUE separated by blanks; proc.env[NAME] is the value of one "
	    "variable"),
	ROW("proc.aenv", STR, TEXT, ANCESTORS | FIELD_F_ARG_KEY, env, field_get_aenv,
	    "proc.env of the ancestors; proc.aenv[1] is the parent, proc.aenv[NAME] the value in "
	    "the nearest ancestor with that variable"),
	ROW("proc.cwd", PATH, STATE, 0, cwd, field_get_own,
	    "working directory, with a slash at the end",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.loginshellid", INT, SEARCH, 0, pid, field_get_loginshellid,
	    "PID of the oldest shell among the process and its ancestors: one per login"),
	ROW("proc.tty", INT, STATE, 0, tty, field_get_own,
	    "number of the controlling terminal; 0 if there is none"),
	ROW("proc.ppid", INT, SEARCH, 0, ppid, field_get_own, "PID of the parent"),
	ROW("proc.apid", INT, SEARCH, ANCESTORS, pid, field_get_ancestors,
	    "PIDs of the ancestors; proc.apid[1] is the parent"),
	ROW("proc.vpid", INT, STATE, 0, vpid, field_get_own,
	    "PID in the PID namespace of the process"),
	ROW("proc.pvpid", INT, SEARCH, 0, vpid, field_get_parents, "proc.vpid of the parent"),
	ROW("proc.sid", INT, STATE, 0, sid, field_get_own, "session ID",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.sname", STR, SEARCH, 0, name, field_get_sid_leaders,
	    "proc.name of the session leader; if it has ended, of the oldest ancestor in the "
	    "session",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.sid.exe", STR, SEARCH, 0, exe, field_get_sid_leaders,
	    "proc.exe of the session leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.sid.exepath", PATH, SEARCH, 0, exepath, field_get_sid_leaders,
	    "proc.exepath of the session leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid", INT, STATE, 0, vpgid, field_get_own,
	    "process group ID in the PID namespace of the process",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid.name", STR, SEARCH, 0, name, field_get_vpgid_leaders,
	    "proc.name of the process group leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid.exe", STR, SEARCH, 0, exe, field_get_vpgid_leaders,
	    "proc.exe of the process group leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid.exepath", PATH, SEARCH, 0, exepath, field_get_vpgid_leaders,
	    "proc.exepath of the process group leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid", INT, STATE, 0, pgid, field_get_own,
	    "process group ID in the initial PID namespace",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid.name", STR, SEARCH, 0, name, field_get_pgid_leaders,
	    "proc.name of the process group leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid.exe", STR, SEARCH, 0, exe, field_get_pgid_leaders,
	    "proc.exe of the process group leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid.exepath", PATH, SEARCH, 0, exepath, field_get_pgid_leaders,
	    "proc.exepath of the process group leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.duration", DURATION, STATE, 0, duration, field_get_own,
	    "nanoseconds since the thread started; in captures of other tools, unknown for "
	    "threads that started earlier"),
	ROW("proc.ppid.duration", DURATION, SEARCH, 0, duration, field_get_parents,
	    "proc.duration of the parent"),
	ROW("proc.pid.ts", TIME, STATE, 0, start, field_get_own,
	    "start time of the thread, in nanoseconds since the epoch"),
	ROW("proc.ppid.ts", TIME, SEARCH, 0, start, field_get_parents, "proc.pid.ts of the parent"),
	ROW("proc.is_exe_writable", BOOL, STATE, 0, exe_writable, field_get_own,
	    "true if the user of the process may write to the executable"),
	ROW("proc.is_exe_upper_layer", BOOL, STATE, 0, exe_upper_layer, field_get_own,
	    "true if the executable is in the upper layer of an overlay file system, written in "
	    "the container; captures of other tools only"),
	ROW("proc.is_exe_lower_layer", BOOL, STATE, 0, exe_lower_layer, field_get_own,
	    "true if the executable is in a lower layer of an overlay file system, part of the "
	    "image; captures of other tools only"),
	ROW("proc.is_exe_from_memfd", BOOL, STATE, 0, exe_memfd, field_get_own,
	    "true if the executable is an anonymous file of memfd_create"),
	ROW("proc.is_sid_leader", BOOL, STATE, 0, is_sid_leader, field_get_own,
	    "true if the process is the session leader",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.is_vpgid_leader", BOOL, STATE, 0, is_vpgid_leader, field_get_own,
	    "true if the process is the process group leader, as the first process of a shell job "
	    "is",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.is_pgid_leader", BOOL, STATE, 0, is_pgid_leader, field_get_own,
	    "true if the process is the process group leader in the initial PID namespace",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.exe_ino", UINT, STATE, 0, exe_ino, field_get_own,
	    "inode number of the executable; unknown in captures of sysdig"),
	ROW("proc.exe_ino.ctime", TIME, STATE, 0, exe_ctime, field_get_own,
	    "change time (ctime) of the executable, in nanoseconds since the epoch"),
	ROW("proc.exe_ino.mtime", TIME, STATE, 0, exe_mtime, field_get_own,
	    "modification time (mtime) of the executable, in nanoseconds since the epoch"),
	ROW("proc.exe_ino.ctime_duration_proc_start", DURATION, STATE, 0, ctime_to_start, field_get_own,
	    "nanoseconds from proc.exe_ino.ctime to the start of the process"),
	ROW("proc.exe_ino.ctime_duration_pidns_start", DURATION, STATE, 0, pidns_to_ctime, field_get_own,
	    "nanoseconds from the start of the PID namespace to proc.exe_ino.ctime; no value if "
	    "the file is older"),
	ROW("proc.pidns_init_start_ts", TIME, STATE, 0, pidns_start, field_get_own,
	    "start time of the first process in the PID namespace, in nanoseconds since the "
	    "epoch; known for processes that started during the capture"),
	ROW("proc.is_container_healthcheck", BOOL, SEARCH, 0, is_healthcheck, field_get_own,
	    "true if the process belongs to a health check of its container"),
	ROW("proc.is_container_liveness_probe", BOOL, SEARCH, 0, is_liveness, field_get_own,
	    "true if the process belongs to a liveness probe of its container"),
	ROW("proc.is_container_readiness_probe", BOOL, SEARCH, 0, is_readiness, field_get_own,
	    "true if the process belongs to a readiness probe of its container"),
	ROW("proc.unit", STR, SEARCH, 0, unit, field_get_own,
	    "systemd unit of the process, such as nginx.service or session-2.scope"),
	ROW("proc.nthreads", UINT, STATE, 0, nthreads, field_get_own,
	    "number of threads of the process"),
	ROW("proc.nchilds", UINT, STATE, 0, nchilds, field_get_own,
	    "number of threads of the process, without the main thread"),
	ROW("proc.fdopencount", UINT, STATE, 0, fdopencount, field_get_own,
	    "number of open descriptors of the process",
	    .needs = FIELD_NEEDS_FILES),
	ROW("proc.fdlimit", INT, STATE, 0, fdlimit, field_get_own,
	    "maximum number of open descriptors of the process",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("proc.fdusage", DOUBLE, STATE, 0, fdusage, field_get_own,
	    "open descriptors of the process, in percent of proc.fdlimit",
	    .needs = FIELD_NEEDS_FILES | FIELD_NEEDS_HISTORY),
	ROW("proc.vmsize", UINT, STATE, 0, vmsize, field_get_own, "virtual memory of the process, in kB",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("proc.vmrss", UINT, STATE, 0, vmrss, field_get_own, "resident memory of the process, in kB",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("proc.vmswap", UINT, STATE, 0, vmswap, field_get_own,
	    "swapped memory of the process, in kB",
	    .needs = FIELD_NEEDS_HISTORY),
	{"proc.stdin.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDIN_TYPE, get_std,
	 "fd.type of the standard input",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stdout.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDOUT_TYPE, get_std,
	 "fd.type of the standard output",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stderr.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDERR_TYPE, get_std,
	 "fd.type of the standard error output",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stdin.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDIN_NAME, get_std,
	 "fd.name of the standard input",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stdout.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDOUT_NAME, get_std,
	 "fd.name of the standard output",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stderr.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDERR_NAME, get_std,
	 "fd.name of the standard error output",
	 .needs = FIELD_NEEDS_FILES},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_proc = {
	.name = "proc",
	.title = "process",
	.help = "The process of the event, its parent, leaders and ancestors",
	FIELD_ROWS(rows),
};
