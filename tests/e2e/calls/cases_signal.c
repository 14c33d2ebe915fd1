/* SPDX-License-Identifier: Apache-2.0 */
/* Signals. */
#include "case.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

static void do_kill(void)
{
	signal(SIGUSR1, SIG_IGN);
	say("kill res=%ld pid=%d sig=10", CALL(kill, getpid(), SIGUSR1), getpid());
	say("kill res=%ld pid=%d sig=99", CALL(kill, getpid(), 99), getpid());
}

static void do_tkill(void)
{
	signal(SIGUSR1, SIG_IGN);
	say("tkill res=%ld tid=%d sig=10", CALL(tkill, gettid(), SIGUSR1), gettid());
	say("tkill res=%ld tid=-1 sig=10", CALL(tkill, -1, SIGUSR1));
}

static void do_tgkill(void)
{
	say("tgkill res=%ld pid=%d tid=%d sig=0", CALL(tgkill, getpid(), gettid(), 0), getpid(),
	    gettid());
	say("tgkill res=%ld pid=-1 tid=%d sig=0", CALL(tgkill, -1, gettid(), 0), gettid());
}

/* The kernel's struct: the C library's has another layout. */
struct kernel_sigaction {
	unsigned long handler, flags, restorer, mask;
};

#define SIG_BIT(sig) (1UL << ((sig)-1))

static void do_rt_sigaction(void)
{
	struct kernel_sigaction act = {(unsigned long)SIG_IGN, SA_RESTART | SA_NOCLDSTOP, 0,
				       SIG_BIT(SIGHUP) | SIG_BIT(40)},
				old;

	CALL(rt_sigaction, SIGUSR2, P(&act), 0L, 8L);
	act.handler = 0x12345;
	say("rt_sigaction res=%ld old_handler=1 old_flags=268435457 old_mask=[SIGHUP 40] sig=12 "
	    "handler=12345 flags=268435457 mask=[SIGHUP 40]",
	    CALL(rt_sigaction, SIGUSR2, P(&act), P(&old), 8L));
	say("rt_sigaction res=%ld old_handler=12345 sig=12 handler=<NA> flags=<NA> mask=<NA>",
	    CALL(rt_sigaction, SIGUSR2, 0L, P(&old), 8L));
	old = act;
	old.handler = 0x54321;
	say("rt_sigaction res=%ld old_handler=12345 sig=12 handler=54321 flags=268435457",
	    CALL(rt_sigaction, SIGUSR2, P(&old), P(&old), 8L));
	say("rt_sigaction res=%ld old_handler=<NA> old_flags=<NA> old_mask=<NA> sig=9 "
	    "handler=12345",
	    CALL(rt_sigaction, SIGKILL, P(&act), P(&old), 8L));
}

static void do_rt_sigprocmask(void)
{
	unsigned long set = SIG_BIT(SIGINT) | SIG_BIT(SIGTERM), all = ~0UL, old;

	say("rt_sigprocmask res=%ld oldset=<NA> how=2(SIG_SETMASK) set=[SIGINT SIGTERM]",
	    CALL(rt_sigprocmask, SIG_SETMASK, P(&set), 0L, 8L));
	say("rt_sigprocmask res=%ld oldset=[SIGINT SIGTERM] how=0 set=~[]",
	    CALL(rt_sigprocmask, SIG_BLOCK, P(&all), P(&old), 8L));
	say("rt_sigprocmask res=%ld oldset=~[SIGKILL SIGSTOP] how=0 set=<NA>",
	    CALL(rt_sigprocmask, SIG_BLOCK, 0L, P(&old), 8L));
	set = SIG_BIT(SIGHUP); /* the old one goes where the new one was */
	say("rt_sigprocmask res=%ld oldset=~[SIGKILL SIGSTOP] how=2 set=[SIGHUP]",
	    CALL(rt_sigprocmask, SIG_SETMASK, P(&set), P(&set), 8L));
	say("rt_sigprocmask res=%ld oldset=<NA> how=9 set=~[]",
	    CALL(rt_sigprocmask, 9, P(&all), P(&old), 8L));
}

static void nothing(int sig)
{
	(void)sig;
}

static void do_rt_sigreturn(void)
{
	signal(SIGUSR1, nothing);
	say("rt_sigreturn res=%ld", CALL(kill, getpid(), SIGUSR1));
}

static void block(int sig)
{
	unsigned long set = SIG_BIT(sig);

	if (CALL(rt_sigprocmask, SIG_BLOCK, P(&set), 0L, 8L))
		broken("rt_sigprocmask");
}

static void do_rt_sigpending(void)
{
	unsigned long set;

	block(SIGUSR1);
	kill(getpid(), SIGUSR1);
	say("rt_sigpending res=%ld set=[SIGUSR1]", CALL(rt_sigpending, P(&set), 8L));
	say("rt_sigpending res=%ld set=<NA>", CALL(rt_sigpending, P(&set), 99L));
}

static void do_rt_sigtimedwait(void)
{
	unsigned long set = SIG_BIT(SIGUSR1) | SIG_BIT(SIGALRM);
	const struct timespec ts = {0, 3000000};
	const struct itimerval soon = {{0, 0}, {0, 1}};
	siginfo_t info;

	block(SIGUSR1);
	block(SIGALRM);
	kill(getpid(), SIGUSR1);
	say("rt_sigtimedwait res=%ld sig=10(SIGUSR1) code=0(SI_USER) pid=%d "
	    "set=[SIGUSR1 SIGALRM] timeout=<NA>",
	    CALL(rt_sigtimedwait, P(&set), P(&info), 0L, 8L), getpid());
	setitimer(ITIMER_REAL, &soon, NULL);
	say("rt_sigtimedwait res=%ld sig=14 code=128(SI_KERNEL) pid=<NA>",
	    CALL(rt_sigtimedwait, P(&set), P(&info), 0L, 8L));
	say("rt_sigtimedwait res=%ld sig=<NA> code=<NA> pid=<NA> set=[SIGUSR1 SIGALRM] "
	    "timeout=3000000",
	    CALL(rt_sigtimedwait, P(&set), P(&info), P(&ts), 8L));
}

static siginfo_t queued(int sig)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = sig;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = 77;
	info.si_value.sival_ptr = (void *)0xfeedbeef;
	return info;
}

static void do_rt_sigqueueinfo(void)
{
	siginfo_t info = queued(SIGUSR1);

	signal(SIGUSR1, SIG_IGN);
	say("rt_sigqueueinfo res=%ld tgid=%d sig=10 code=-1(SI_QUEUE) pid=%d uid=77 value=FEEDBEEF",
	    CALL(rt_sigqueueinfo, getpid(), SIGUSR1, P(&info)), getpid(), getpid());
	say("rt_sigqueueinfo res=%ld tgid=-1 sig=10 code=<NA> pid=<NA> uid=<NA> value=<NA>",
	    CALL(rt_sigqueueinfo, -1, SIGUSR1, 0L));
}

static void do_rt_tgsigqueueinfo(void)
{
	siginfo_t info = queued(SIGUSR1);

	signal(SIGUSR1, SIG_IGN);
	say("rt_tgsigqueueinfo res=%ld tgid=%d tid=%d sig=10 code=-1 pid=%d uid=77 value=FEEDBEEF",
	    CALL(rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, P(&info)), getpid(), gettid(),
	    getpid());
	say("rt_tgsigqueueinfo res=%ld tgid=-1 tid=3 sig=10 code=-1",
	    CALL(rt_tgsigqueueinfo, -1, 3, SIGUSR1, P(&info)));
}

static void do_pidfd_send_signal(void)
{
	const int fd = (int)CALL(pidfd_open, getpid(), 0);
	siginfo_t info = queued(SIGUSR1);

	signal(SIGUSR1, SIG_IGN);
	say("pidfd_send_signal res=%ld pidfd=%d sig=10 code=-1(SI_QUEUE) pid=%d uid=77 "
	    "value=FEEDBEEF flags=0",
	    CALL(pidfd_send_signal, fd, SIGUSR1, P(&info), 0), fd, getpid());
	say("pidfd_send_signal res=%ld pidfd=-1 sig=0 code=<NA> flags=9",
	    CALL(pidfd_send_signal, -1, 0, 0L, 9));
}

static void do_rt_sigsuspend(void)
{
	unsigned long set = SIG_BIT(SIGHUP);

	signal(SIGUSR1, nothing);
	block(SIGUSR1);
	kill(getpid(), SIGUSR1);
	CALL(rt_sigsuspend, P(&set), 8L);
	say("rt_sigsuspend res=-514 mask=[SIGHUP]");
	say("rt_sigsuspend res=%ld mask=<NA>", CALL(rt_sigsuspend, 1L, 8L));
}

static void do_sigaltstack(void)
{
	static char stack[16 << 10];
	stack_t ss = {stack, (int)(1U << 31), sizeof(stack)}, old;

	say("sigaltstack res=%ld old_sp=<NA> old_flags=<NA> old_size=<NA> sp=%lX flags=2147483648 "
	    "size=16384",
	    CALL(sigaltstack, P(&ss), 0L), P(stack));
	say("sigaltstack res=%ld old_sp=%lX old_flags=2147483648 old_size=16384 sp=<NA>",
	    CALL(sigaltstack, 0L, P(&old)), P(stack));
	ss.ss_size = 8192;
	say("sigaltstack res=%ld old_sp=%lX old_flags=2147483648 old_size=16384 sp=%lX "
	    "flags=2147483648 size=8192",
	    CALL(sigaltstack, P(&ss), P(&ss)), P(stack), P(stack));
	ss.ss_flags = 9;
	say("sigaltstack res=%ld old_sp=<NA> flags=9", CALL(sigaltstack, P(&ss), P(&old)));
}

static void do_pause(void)
{
	/* Again and again, lest the first comes too early. */
	const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, nothing);
	setitimer(ITIMER_REAL, &often, NULL);
	CALL(pause);
	setitimer(ITIMER_REAL, &never, NULL);
	say("pause res=-514");
}

static void do_restart_syscall(void)
{
	say("restart_syscall res=%ld", CALL(restart_syscall));
}

/* clang-format off */
const struct call_case cases_signal[] = {
	{"kill", do_kill},
	{"tkill", do_tkill},
	{"tgkill", do_tgkill},
	{"rt_sigaction", do_rt_sigaction},
	{"rt_sigprocmask", do_rt_sigprocmask},
	{"rt_sigreturn", do_rt_sigreturn},
	{"pause", do_pause},
	{"rt_sigpending", do_rt_sigpending},
	{"rt_sigtimedwait", do_rt_sigtimedwait},
	{"rt_sigqueueinfo", do_rt_sigqueueinfo},
	{"rt_sigsuspend", do_rt_sigsuspend},
	{"sigaltstack", do_sigaltstack},
	{"restart_syscall", do_restart_syscall},
	{"rt_tgsigqueueinfo", do_rt_tgsigqueueinfo},
	{"pidfd_send_signal", do_pidfd_send_signal},
	{NULL, NULL},
};
