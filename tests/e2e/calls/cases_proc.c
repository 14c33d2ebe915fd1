/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads: how they begin and end, what they may tell of each other. */
#include "case.h"

#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static char *const child_argv[] = {"calls-child", "exit", "two words", NULL};
static char *const child_envp[] = {"A=1", "B=two", NULL};

static void do_fork(void)
{
	const long pid = CALL(fork);

	if (!pid)
		_exit(0);
	say("fork res=%ld comm=calls flags=0", pid);
	waitpid((int)pid, NULL, 0);
}

static void do_vfork(void)
{
	const int pid = vfork(); /* as a function of ours its frame would be the child's too */

	if (!pid)
		_exit(3);
	say("vfork res=%d comm=calls", pid);
	waitpid(pid, NULL, 0);
}

static void do_execve(void)
{
	const long pid = CALL(fork);

	if (!pid)
		_exit((int)CALL(execve, P(self_path), P(child_argv), P(child_envp)));
	say_of(pid,
	       "execve res=0 exe=calls-child args=exit.two words. comm=calls env=A=1.B=two. "
	       "filename=%s",
	       self_path);
	say("execve res=%ld exe=calls-child args=exit.two words. comm=calls env=A=1.B=two. "
	    "filename=none",
	    CALL(execve, P("none"), P(child_argv), P(child_envp)));
	waitpid((int)pid, NULL, 0);
}

static void do_execveat(void)
{
	const long pid = CALL(fork);

	if (!pid)
		_exit((int)CALL(execveat, AT_FDCWD, P(self_path), P(child_argv), P(child_envp), 0));
	say_of(pid, "execveat res=0 exe=calls-child dirfd=-100 pathname=%s", self_path);
	say("execveat res=%ld exe=calls-child dirfd=-100 pathname=none",
	    CALL(execveat, AT_FDCWD, P("none"), P(child_argv), P(child_envp), AT_SYMLINK_NOFOLLOW));
	waitpid((int)pid, NULL, 0);
}

static void do_exit(void)
{
	const long pid = CALL(fork);

	if (!pid)
		CALL(exit, 5);
	say_of(pid, "> exit status=5");
	waitpid((int)pid, NULL, 0);
}

static void do_exit_group(void)
{
	const long pid = CALL(fork);

	if (!pid)
		CALL(exit_group, -6);
	say_of(pid, "> exit_group status=-6");
	waitpid((int)pid, NULL, 0);
}

static void do_getpid(void)
{
	say("getpid res=%ld", CALL(getpid));
}

static void do_getppid(void)
{
	say("getppid res=%ld", CALL(getppid));
}

static void do_gettid(void)
{
	say("gettid res=%ld", CALL(gettid));
}

static void do_setpgid(void)
{
	say("setpgid res=%ld pid=0 pgid=0", CALL(setpgid, 0, 0));
	say("setpgid res=%ld pid=-7 pgid=3", CALL(setpgid, -7, 3));
}

static void do_setsid(void)
{
	say("setsid res=%ld", CALL(setsid));
	say("setsid res=%ld", CALL(setsid));
}

static void do_prctl(void)
{
	say("prctl res=%ld option=15 arg2_str=renamed arg2_int=0",
	    CALL(prctl, PR_SET_NAME, P("renamed")));
	say("prctl res=%ld option=4 arg2_str= arg2_int=1", CALL(prctl, PR_SET_DUMPABLE, 1));
	say("prctl res=%ld option=4 arg2_str= arg2_int=77", CALL(prctl, PR_SET_DUMPABLE, 77));
}

static void do_ptrace(void)
{
	say("ptrace res=%ld addr=1234 data=9 request=11 pid=-1",
	    CALL(ptrace, PTRACE_ATTACH, -1, 0x1234L, 9L));
}

static void do_unshare(void)
{
	say("unshare res=%ld flags=1", CALL(unshare, CLONE_FILES));
	say("unshare res=%ld", CALL(unshare, 1));
}

static void do_setns(void)
{
	say("setns res=%ld fd=-1 nstype=16", CALL(setns, -1, CLONE_NEWNET));
}

/* clang-format off */
const struct call_case cases_proc[] = {
	{"getpid", do_getpid},
	{"fork", do_fork},
	{"vfork", do_vfork},
	{"execve", do_execve},
	{"exit", do_exit},
	{"ptrace", do_ptrace},
	{"setpgid", do_setpgid},
	{"getppid", do_getppid},
	{"setsid", do_setsid},
	{"prctl", do_prctl},
	{"gettid", do_gettid},
	{"exit_group", do_exit_group},
	{"unshare", do_unshare},
	{"setns", do_setns},
	{"execveat", do_execveat},
	{NULL, NULL},
};
