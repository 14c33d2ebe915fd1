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

/* Facts of the standard descriptors, by row. */
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
	ROW("proc.pid", INT, STATE, 0, pid, field_get_own, "number of the process"),
	ROW("proc.exe", STR, STATE, 0, exe, field_get_own,
	    "first argument of the command line: mostly the program, as it was called"),
	ROW("proc.pexe", STR, SEARCH, 0, exe, field_get_parents, "proc.exe of the parent"),
	ROW("proc.aexe", STR, SEARCH, ANCESTORS, exe, field_get_ancestors,
	    "proc.exe of the ancestors; proc.aexe[1] is the parent's, [0] the process's own"),
	ROW("proc.exepath", PATH, STATE, 0, exepath, field_get_own,
	    "path of the program, links followed"),
	ROW("proc.pexepath", PATH, SEARCH, 0, exepath, field_get_parents, "proc.exepath of the parent"),
	ROW("proc.aexepath", PATH, SEARCH, ANCESTORS, exepath, field_get_ancestors,
	    "proc.exepath of the ancestors; proc.aexepath[1] is the parent's"),
	ROW("proc.name", STR, STATE, 0, name, field_get_own,
	    "name of the process, which is that of its main thread: its program's, up to 15 "
	    "characters, unless the thread chose another"),
	ROW("proc.pname", STR, SEARCH, 0, name, field_get_parents, "proc.name of the parent"),
	ROW("proc.aname", STR, SEARCH, ANCESTORS, name, field_get_ancestors,
	    "proc.name of the ancestors, such as proc.aname=sshd; proc.aname[1] is the parent's, "
	    "[2] that of its parent"),
	ROW("proc.args", STR, TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, args, get_args,
	    "arguments of the command line, without the program; proc.args[0] is the first"),
	ROW("proc.aargs", STR, TEXT, ANCESTORS, args, field_get_ancestors,
	    "proc.args of the ancestors; proc.aargs[1] is the parent's"),
	ROW("proc.cmdline", STR, TEXT, 0, cmdline, field_get_own, "proc.name and proc.args"),
	ROW("proc.pcmdline", STR, TEXT, 0, cmdline, field_get_parents, "proc.cmdline of the parent"),
	ROW("proc.acmdline", STR, TEXT, ANCESTORS, cmdline, field_get_ancestors,
	    "proc.cmdline of the ancestors; proc.acmdline[1] is the parent's"),
	ROW("proc.cmdnargs", UINT, SEARCH, 0, cmdnargs, field_get_own, "number of arguments"),
	ROW("proc.cmdlenargs", UINT, SEARCH, 0, cmdlenargs, field_get_own,
	    "characters of all arguments, without blanks between them"),
	ROW("proc.exeline", STR, TEXT, 0, exeline, field_get_own, "proc.exe and proc.args"),
	ROW("proc.env", STR, TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_KEY, env, get_env,
	    "environment, as NAME=VALUE with blanks between; proc.env[NAME] is the value of one "
	    "variable"),
	ROW("proc.aenv", STR, TEXT, ANCESTORS | FIELD_F_ARG_KEY, env, field_get_aenv,
	    "proc.env of the ancestors; proc.aenv[1] is the parent's, proc.aenv[NAME] the value of "
	    "the nearest ancestor who has that variable"),
	ROW("proc.cwd", PATH, STATE, 0, cwd, field_get_own, "current directory, with a slash at its end",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.loginshellid", INT, SEARCH, 0, pid, field_get_loginshellid,
	    "number of the eldest shell among the process and its ancestors: one per login"),
	ROW("proc.tty", INT, STATE, 0, tty, field_get_own,
	    "number of the controlling terminal, 0 without one"),
	ROW("proc.ppid", INT, SEARCH, 0, ppid, field_get_own, "number of the parent process"),
	ROW("proc.apid", INT, SEARCH, ANCESTORS, pid, field_get_ancestors,
	    "numbers of the ancestors; proc.apid[1] is the parent's"),
	ROW("proc.vpid", INT, STATE, 0, vpid, field_get_own,
	    "number of the process in its own pid namespace"),
	ROW("proc.pvpid", INT, SEARCH, 0, vpid, field_get_parents, "proc.vpid of the parent"),
	ROW("proc.sid", INT, STATE, 0, sid, field_get_own, "number of the session",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.sname", STR, SEARCH, 0, name, field_get_sid_leaders,
	    "proc.name of the leader of the session; if it is gone, of the eldest ancestor in it",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.sid.exe", STR, SEARCH, 0, exe, field_get_sid_leaders,
	    "proc.exe of the leader of the session",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.sid.exepath", PATH, SEARCH, 0, exepath, field_get_sid_leaders,
	    "proc.exepath of the leader of the session",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid", INT, STATE, 0, vpgid, field_get_own,
	    "number of the process group, in the process's own pid namespace",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid.name", STR, SEARCH, 0, name, field_get_vpgid_leaders,
	    "proc.name of the leader of the process group",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid.exe", STR, SEARCH, 0, exe, field_get_vpgid_leaders,
	    "proc.exe of the leader of the process group",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.vpgid.exepath", PATH, SEARCH, 0, exepath, field_get_vpgid_leaders,
	    "proc.exepath of the leader of the process group",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid", INT, STATE, 0, pgid, field_get_own,
	    "number of the process group, in the first pid namespace",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid.name", STR, SEARCH, 0, name, field_get_pgid_leaders,
	    "proc.name of the leader of the process group",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid.exe", STR, SEARCH, 0, exe, field_get_pgid_leaders,
	    "proc.exe of the leader of the process group",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.pgid.exepath", PATH, SEARCH, 0, exepath, field_get_pgid_leaders,
	    "proc.exepath of the leader of the process group",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.duration", DURATION, STATE, 0, duration, field_get_own,
	    "time since the thread began, in nanoseconds; files of other tools do not say it of those "
	    "that began before"),
	ROW("proc.ppid.duration", DURATION, SEARCH, 0, duration, field_get_parents,
	    "proc.duration of the parent"),
	ROW("proc.pid.ts", TIME, STATE, 0, start, field_get_own,
	    "when the thread began, in nanoseconds since the epoch"),
	ROW("proc.ppid.ts", TIME, SEARCH, 0, start, field_get_parents, "proc.pid.ts of the parent"),
	ROW("proc.is_exe_writable", BOOL, STATE, 0, exe_writable, field_get_own,
	    "true if the user who runs the program may write to its file"),
	ROW("proc.is_exe_upper_layer", BOOL, STATE, 0, exe_upper_layer, field_get_own,
	    "true if the program's file is in the upper layer of an overlay: changed or made in a "
	    "container. saker does not record it: only files of other tools have it"),
	ROW("proc.is_exe_lower_layer", BOOL, STATE, 0, exe_lower_layer, field_get_own,
	    "true if the program's file is in the lower layer of an overlay: of the image. saker "
	    "does not record it: only files of other tools have it"),
	ROW("proc.is_exe_from_memfd", BOOL, STATE, 0, exe_memfd, field_get_own,
	    "true if the program's file is in memory only, made by memfd_create"),
	ROW("proc.is_sid_leader", BOOL, STATE, 0, is_sid_leader, field_get_own,
	    "true if the process leads its session",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.is_vpgid_leader", BOOL, STATE, 0, is_vpgid_leader, field_get_own,
	    "true if the process leads its process group: a shell's job, not a child of one",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.is_pgid_leader", BOOL, STATE, 0, is_pgid_leader, field_get_own,
	    "the same, by the numbers of the first pid namespace",
	    .needs = FIELD_NEEDS_CALLS),
	ROW("proc.exe_ino", UINT, STATE, 0, exe_ino, field_get_own,
	    "number of the inode of the program's file; files of sysdig do not say it"),
	ROW("proc.exe_ino.ctime", TIME, STATE, 0, exe_ctime, field_get_own,
	    "when the program's file, its owner or its rights last changed, in nanoseconds since the "
	    "epoch"),
	ROW("proc.exe_ino.mtime", TIME, STATE, 0, exe_mtime, field_get_own,
	    "when the program's file was last written, in nanoseconds since the epoch"),
	ROW("proc.exe_ino.ctime_duration_proc_start", DURATION, STATE, 0, ctime_to_start, field_get_own,
	    "time from proc.exe_ino.ctime to the start of the process, in nanoseconds"),
	ROW("proc.exe_ino.ctime_duration_pidns_start", DURATION, STATE, 0, pidns_to_ctime, field_get_own,
	    "time from the start of the pid namespace to proc.exe_ino.ctime, in nanoseconds; none if "
	    "the file is older"),
	ROW("proc.pidns_init_start_ts", TIME, STATE, 0, pidns_start, field_get_own,
	    "when the first process of the pid namespace began, in nanoseconds since the epoch; known "
	    "of processes that began during the capture"),
	ROW("proc.is_container_healthcheck", BOOL, SEARCH, 0, is_healthcheck, field_get_own,
	    "true if the process is of a health check of its container"),
	ROW("proc.is_container_liveness_probe", BOOL, SEARCH, 0, is_liveness, field_get_own,
	    "true if the process is of a liveness probe of its container"),
	ROW("proc.is_container_readiness_probe", BOOL, SEARCH, 0, is_readiness, field_get_own,
	    "true if the process is of a readiness probe of its container"),
	ROW("proc.nthreads", UINT, STATE, 0, nthreads, field_get_own, "threads that the process has"),
	ROW("proc.nchilds", UINT, STATE, 0, nchilds, field_get_own,
	    "threads that the process has beside its main thread"),
	ROW("proc.fdopencount", UINT, STATE, 0, fdopencount, field_get_own,
	    "files that the process has open",
	    .needs = FIELD_NEEDS_FILES),
	ROW("proc.fdlimit", INT, STATE, 0, fdlimit, field_get_own,
	    "files that the process may have open",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("proc.fdusage", DOUBLE, STATE, 0, fdusage, field_get_own,
	    "files that the process has open, in percent of those that it may",
	    .needs = FIELD_NEEDS_FILES | FIELD_NEEDS_HISTORY),
	ROW("proc.vmsize", UINT, STATE, 0, vmsize, field_get_own, "virtual memory of the process, in kB",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("proc.vmrss", UINT, STATE, 0, vmrss, field_get_own, "resident memory of the process, in kB",
	    .needs = FIELD_NEEDS_HISTORY),
	ROW("proc.vmswap", UINT, STATE, 0, vmswap, field_get_own,
	    "memory of the process that is swapped out, in kB",
	    .needs = FIELD_NEEDS_HISTORY),
	{"proc.stdin.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDIN_TYPE, get_std,
	 "what the standard input is, as fd.type",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stdout.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDOUT_TYPE, get_std,
	 "what the standard output is, as fd.type",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stderr.type", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDERR_TYPE, get_std,
	 "what the standard error output is, as fd.type",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stdin.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDIN_NAME, get_std,
	 "name of the standard input, as fd.name",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stdout.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDOUT_NAME, get_std,
	 "name of the standard output, as fd.name",
	 .needs = FIELD_NEEDS_FILES},
	{"proc.stderr.name", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_STATE, 0, STDERR_NAME, get_std,
	 "name of the standard error output, as fd.name",
	 .needs = FIELD_NEEDS_FILES},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_proc = {
	.name = "proc",
	.title = "process",
	.help = "The process of the event, its parent, leaders and ancestors",
	FIELD_ROWS(rows),
};
