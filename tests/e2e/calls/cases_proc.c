/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads: their begin and end, and what they may read of each other. */
#include "case.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/times.h>
#include <sys/uio.h>
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
	int sig;

	say("prctl res=%ld option=15 arg2_str=renamed arg2_int=0",
	    CALL(prctl, PR_SET_NAME, P("renamed")));
	say("prctl res=%ld option=4 arg2_str= arg2_int=1", CALL(prctl, PR_SET_DUMPABLE, 1));
	say("prctl res=%ld option=4 arg2_str= arg2_int=77", CALL(prctl, PR_SET_DUMPABLE, 77));
	CALL(prctl, PR_SET_PDEATHSIG, SIGHUP);
	say("prctl res=%ld option=2(PR_GET_PDEATHSIG) arg2_int=1",
	    CALL(prctl, PR_GET_PDEATHSIG, P(&sig)));
	say("prctl res=%ld option=78(PR_FUTEX_HASH) arg2_int=99 arg3=A arg4=B arg5=C",
	    CALL(prctl, 78, 99L, 10L, 11L, 12L));
}

static void do_ptrace(void)
{
	say("ptrace res=%ld addr=1234 data=9 request=11 pid=-1",
	    CALL(ptrace, PTRACE_ATTACH, -1, 0x1234L, 9L));
	say("ptrace res=%ld request=0 pid=-1 raw_request=16910(PTRACE_GET_SYSCALL_INFO)",
	    CALL(ptrace, 0x420e, -1, 0L, 0L));
}

static void do_unshare(void)
{
	say("unshare res=%ld flags=1", CALL(unshare, CLONE_FILES));
	say("unshare res=%ld raw_flags=1", CALL(unshare, 1));
}

static void do_setns(void)
{
	say("setns res=%ld fd=-1 nstype=16", CALL(setns, -1, CLONE_NEWNET));
}

static void do_listns(void)
{
	const struct {
		unsigned int size, spare;
		unsigned long ns_id;
		unsigned int ns_type, spare2;
		unsigned long user_ns_id;
	} all = {sizeof(all), 0, 0, CLONE_NEWNET, 0, 0}, bad = {8, 0, 5, CLONE_NEWUTS, 0, 7};
	unsigned long ids[1];
	long res;

	res = CALL(listns, P(&all), P(ids), 1L, 0);
	if (res == 1)
		say("listns res=1 ns_ids=%lu ns_id=0 ns_type=1073741824 user_ns_id=0 nr_ns_ids=1 "
		    "flags=0",
		    ids[0]);
	else /* -ENOSYS before Linux 6.19 */
		say("listns res=%ld ns_ids= ns_id=0 ns_type=1073741824 user_ns_id=0 nr_ns_ids=1 "
		    "flags=0",
		    res);
	say("listns res=%ld ns_ids= ns_id=5 ns_type=67108864 user_ns_id=7 nr_ns_ids=1 flags=8",
	    CALL(listns, P(&bad), P(ids), 1L, 8));
}

static long tv_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000 + tv->tv_usec * 1000;
}

static void do_wait4(void)
{
	struct rusage ru;
	int status, pid = fork();
	long res;

	if (!pid) {
		raise(SIGSTOP);
		for (volatile int spin = 1; spin;) /* in no call when it is killed */
			;
	}
	res = CALL(wait4, pid, P(&status), WUNTRACED, 0L);
	say("wait4 res=%ld status=4991(stop=SIGSTOP) utime=<NA> stime=<NA> maxrss=<NA> pid=%d "
	    "options=2(WUNTRACED)",
	    res, pid);
	say("wait4 res=%ld status=<NA> utime=<NA> stime=<NA> maxrss=<NA> pid=%d options=1(WNOHANG)",
	    CALL(wait4, pid, P(&status), WNOHANG, P(&ru)), pid);
	kill(pid, SIGCONT);
	say("wait4 res=%ld status=65535(continued) pid=-1 options=8(WCONTINUED)",
	    CALL(wait4, -1, P(&status), WCONTINUED, 0L));
	kill(pid, SIGKILL);
	res = CALL(wait4, pid, P(&status), 0, P(&ru));
	say("wait4 res=%ld status=9(sig=SIGKILL) utime=%ld stime=%ld maxrss=%ld pid=%d options=0",
	    res, tv_ns(&ru.ru_utime), tv_ns(&ru.ru_stime), ru.ru_maxrss, pid);
	pid = fork();
	if (!pid)
		_exit(7);
	say("wait4 res=%ld status=1792(exit=7) pid=0 options=1073741824(__WALL)",
	    CALL(wait4, 0, P(&status), __WALL, 0L));
	say("wait4 res=%ld status=<NA> pid=-1 options=0", CALL(wait4, -1, P(&status), 0, P(&ru)));
}

static void do_waitid(void)
{
	const int pid = fork();
	siginfo_t info;
	int fd;

	if (!pid)
		_exit(5);
	say("waitid res=%ld code=1(CLD_EXITED) pid=%d uid=%d status=5 which=1(P_PID) id=%d "
	    "options=16777220(WEXITED|WNOWAIT)",
	    CALL(waitid, P_PID, pid, P(&info), WEXITED | WNOWAIT, 0L), pid, getuid(), pid);
	fd = (int)CALL(pidfd_open, pid, 0);
	say("waitid res=%ld code=1 pid=%d which=3(P_PIDFD) id=%d options=4(WEXITED)",
	    CALL(waitid, 3, fd, P(&info), WEXITED, 0L), pid, fd);
	say("waitid res=%ld code=<NA> pid=<NA> uid=<NA> status=<NA> which=0(P_ALL) id=0 options=4",
	    CALL(waitid, P_ALL, 0, P(&info), WEXITED, 0L));
}

static void do_getrusage(void)
{
	struct rusage ru;
	const long res = CALL(getrusage, RUSAGE_SELF, P(&ru));

	say("getrusage res=%ld utime=%ld stime=%ld maxrss=%ld minflt=%ld majflt=%ld inblock=%ld "
	    "oublock=%ld nvcsw=%ld nivcsw=%ld who=0(RUSAGE_SELF)",
	    res, tv_ns(&ru.ru_utime), tv_ns(&ru.ru_stime), ru.ru_maxrss, ru.ru_minflt, ru.ru_majflt,
	    ru.ru_inblock, ru.ru_oublock, ru.ru_nvcsw, ru.ru_nivcsw);
	say("getrusage res=%ld who=-1(RUSAGE_CHILDREN)", CALL(getrusage, -1, P(&ru)));
	say("getrusage res=%ld utime=<NA> nivcsw=<NA> who=9", CALL(getrusage, 9, P(&ru)));
}

static void do_times(void)
{
	struct tms t;
	const long res = CALL(times, P(&t));

	say("times res=%ld utime=%ld stime=%ld cutime=%ld cstime=%ld", res, t.tms_utime,
	    t.tms_stime, t.tms_cutime, t.tms_cstime);
	say("times res=%ld utime=<NA> cstime=<NA>", CALL(times, 1L));
}

static void do_getpgid(void)
{
	say("getpgid res=%ld pid=%d", CALL(getpgid, getpid()), getpid());
	say("getpgid res=%ld pid=-7", CALL(getpgid, -7));
}

static void do_getsid(void)
{
	say("getsid res=%ld pid=%d", CALL(getsid, getpid()), getpid());
	say("getsid res=%ld pid=-7", CALL(getsid, -7));
}

static void do_getpgrp(void)
{
	say("getpgrp res=%ld", CALL(getpgrp));
}

static void do_set_tid_address(void)
{
	static int tid;

	say("set_tid_address res=%ld tidptr=%lX", CALL(set_tid_address, P(&tid)), P(&tid));
}

static struct robust_list_head robust = {{&robust.list}, 0, NULL};

static void do_set_robust_list(void)
{
	say("set_robust_list res=%ld head=%lX len=%zu",
	    CALL(set_robust_list, P(&robust), (long)sizeof(robust)), P(&robust), sizeof(robust));
	say("set_robust_list res=%ld head=%lX len=3", CALL(set_robust_list, P(&robust), 3L),
	    P(&robust));
}

static void do_get_robust_list(void)
{
	size_t len;
	void *head;

	CALL(set_robust_list, P(&robust), (long)sizeof(robust));
	say("get_robust_list res=%ld head=%lX len=%zu pid=0",
	    CALL(get_robust_list, 0, P(&head), P(&len)), P(&robust), sizeof(robust));
	say("get_robust_list res=%ld head=<NA> len=<NA> pid=-1",
	    CALL(get_robust_list, -1, P(&head), P(&len)));
}

static void do_personality(void)
{
	const long was = CALL(personality, 0xffffffffL);

	say("personality res=%ld old=%ld persona=4294967295(query)", was, was);
	say("personality res=%ld old=%ld "
	    "persona=67371016(ADDR_NO_RANDOMIZE|STICKY_TIMEOUTS|PER_LINUX32)",
	    CALL(personality, 0x4040008L), was);
	say("personality res=%ld old=67371016(ADDR_NO_RANDOMIZE|STICKY_TIMEOUTS|PER_LINUX32) "
	    "persona=0(PER_LINUX)",
	    CALL(personality, 0L));
}

static void do_arch_prctl(void)
{
	unsigned long fs;

	say("arch_prctl res=%ld code=4099(ARCH_GET_FS) addr=%lX",
	    CALL(arch_prctl, ARCH_GET_FS, P(&fs)), P(&fs));
	say("arch_prctl res=%ld code=77 addr=FEED", CALL(arch_prctl, 77, 0xfeedL));
}

static void do_kcmp(void)
{
	const long pid = getpid();

	say("kcmp res=%ld pid1=%ld pid2=%ld type=1(KCMP_VM) idx1=0 idx2=0",
	    CALL(kcmp, pid, pid, 1, 0L, 0L), pid, pid);
	say("kcmp res=%ld pid1=%ld pid2=-1 type=0(KCMP_FILE) idx1=77 idx2=88",
	    CALL(kcmp, pid, -1, 0, 77L, 88L), pid);
}

static void do_process_vm_readv(void)
{
	char from[] = "readv data", to[11] = "";
	const struct iovec local[2] = {{to, 3}, {to + 3, 7}}, remote = {from, 10};

	say("process_vm_readv res=%ld pid=%d data=readv data",
	    CALL(process_vm_readv, getpid(), P(local), 2L, P(&remote), 1L, 0L), getpid());
	say("process_vm_readv res=%ld pid=-1 data=",
	    CALL(process_vm_readv, -1, P(local), 2L, P(&remote), 1L, 0L));
}

static void do_process_vm_writev(void)
{
	char from[] = "written", to[11] = "";
	const struct iovec local = {from, 7}, remote = {to, 7};

	say("process_vm_writev res=%ld pid=%d data=written",
	    CALL(process_vm_writev, getpid(), P(&local), 1L, P(&remote), 1L, 0L), getpid());
	say("process_vm_writev res=%ld pid=%d data=",
	    CALL(process_vm_writev, getpid(), P(&local), 1L, P(&remote), 1L, 9L), getpid());
}

static void do_process_madvise(void)
{
	const int fd = (int)CALL(pidfd_open, getpid(), 0);
	char *mem = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct iovec v[2] = {{mem, 4096}, {mem + 4096, 4096}};

	memset(mem, 1, 8192);
	say("process_madvise res=%ld size=8192 pidfd=%d vlen=2 advice=20(MADV_COLD) flags=0",
	    CALL(process_madvise, fd, P(v), 2L, 20, 0), fd);
	say("process_madvise res=%ld size=4096 pidfd=-1 vlen=1 advice=77 flags=3",
	    CALL(process_madvise, -1, P(v), 1L, 77, 3));
}

static void do_process_mrelease(void)
{
	const int fd = (int)CALL(pidfd_open, getpid(), 0);

	say("process_mrelease res=%ld pidfd=%d flags=0", CALL(process_mrelease, fd, 0), fd);
	say("process_mrelease res=%ld pidfd=-1 flags=5", CALL(process_mrelease, -1, 5));
}

static void do_rseq(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	say("rseq res=%ld rseq=%lX len=32 flags=1(RSEQ_FLAG_UNREGISTER) sig=%X",
	    CALL(rseq, P(area), 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG), P(area), RSEQ_SIG);
	say("rseq res=%ld rseq=%lX len=5 flags=8 sig=7", CALL(rseq, P(area), 5, 8, 7), P(area));
}

static void do_membarrier(void)
{
	say("membarrier res=%ld cmd=0(MEMBARRIER_CMD_QUERY) flags=0 cpu_id=0",
	    CALL(membarrier, 0, 0, 0));
	say("membarrier res=%ld cmd=128(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) "
	    "flags=1(MEMBARRIER_CMD_FLAG_CPU) cpu_id=3",
	    CALL(membarrier, 128, 1, 3));
	say("membarrier res=%ld cmd=77 flags=0 cpu_id=-1", CALL(membarrier, 77, 0, -1));
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
	{"listns", do_listns},
	{"execveat", do_execveat},
	{"wait4", do_wait4},
	{"times", do_times},
	{"getrusage", do_getrusage},
	{"getpgrp", do_getpgrp},
	{"getpgid", do_getpgid},
	{"getsid", do_getsid},
	{"personality", do_personality},
	{"arch_prctl", do_arch_prctl},
	{"set_tid_address", do_set_tid_address},
	{"waitid", do_waitid},
	{"set_robust_list", do_set_robust_list},
	{"get_robust_list", do_get_robust_list},
	{"process_vm_readv", do_process_vm_readv},
	{"process_vm_writev", do_process_vm_writev},
	{"kcmp", do_kcmp},
	{"membarrier", do_membarrier},
	{"rseq", do_rseq},
	{"process_madvise", do_process_madvise},
	{"process_mrelease", do_process_mrelease},
	{NULL, NULL},
};
