/* SPDX-License-Identifier: Apache-2.0 */
/* Time limit of chisels: a timer and a signal of the thread, so that the signal interrupts the Lua
 * code itself, where lua_sethook is allowed. */
#include "chisel_watch.h"

#include <errno.h>
#include <link.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "chisel.h"
#include "chisel_terminal.h"

enum {
	TICK_MS = 20,
	NS_PER_INSTRUCTION = 10, /* with counting, on a slow machine */
	MIN_MS = 2000,
	GRACE_TICKS = 1000 / TICK_MS, /* time for the hook to run */
	FIRST_TICK = 2, /* the first tick may come at once */
	LAST_TICKS = 10000 / TICK_MS, /* time to reach code where a jump is safe */
};

/* Address range of the object with Lua's code: its library, or this program. */
static uintptr_t lua_code, lua_code_end;

_Thread_local struct chisel_watch *volatile chisel_watched;
static _Thread_local timer_t timer;
static _Thread_local unsigned int n_watches;

static int find_lua(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	const uintptr_t at = (uintptr_t)lua_newstate;

	(void)sz, (void)ctx;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || at < from || at - from >= p->p_memsz)
			continue;
		lua_code = from;
		lua_code_end = from + p->p_memsz;
		return 1;
	}
	return 0;
}

static int is_in_lua(const ucontext_t *at)
{
#if defined(__x86_64__)
	const uintptr_t pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	const uintptr_t pc = at->uc_mcontext.pc;
#else
	const uintptr_t pc = 0;

	(void)at;
#endif
	return pc >= lua_code && pc < lua_code_end;
}

static void on_tick(int sig, siginfo_t *info, void *at)
{
	struct chisel_watch *w = chisel_watched;

	(void)sig, (void)info;
	if (!w || ++w->n_ticks < FIRST_TICK)
		return;
	if (!w->counts) {
		w->counts = 1;
		lua_sethook(w->L, w->hook, LUA_MASKCOUNT, CHISEL_WATCH_STEP);
	} else if (w->n_ticks > w->max_ticks + GRACE_TICKS && is_in_lua(at)) {
		siglongjmp(w->out, 1);
	} else if (w->n_ticks > w->max_ticks + GRACE_TICKS + LAST_TICKS && w->run->hung) {
		chisel_terminal_show(w->terminal, fileno(w->run->out));
		w->run->hung(w->name);
	}
}

static int start_timer(void)
{
	const struct itimerspec every = {
		.it_interval.tv_nsec = TICK_MS * 1000000,
		.it_value.tv_nsec = TICK_MS * 1000000,
	};
	struct sigaction act = {.sa_sigaction = on_tick, .sa_flags = SA_RESTART | SA_SIGINFO};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
	sigset_t set;

	if (!lua_code)
		dl_iterate_phdr(find_lua, NULL);
	event._sigev_un._tid = gettid();
	sigemptyset(&set);
	sigaddset(&set, SIGVTALRM);
	if (sigaction(SIGVTALRM, &act, NULL) ||
	    timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer))
		return -errno;
	timer_settime(timer, 0, &every, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return 0;
}

int chisel_watch_init(struct chisel_watch *w, const struct sinsp_chisel_run *run, const char *name,
		      const struct chisel_terminal *terminal, lua_State *L, lua_Hook hook)
{
	const uint64_t ms = run->max_instructions * NS_PER_INSTRUCTION / 1000000;
	int err = n_watches ? 0 : start_timer();

	if (err)
		return err;
	n_watches++;
	*w = (struct chisel_watch){
		.run = run, .name = name, .terminal = terminal, .L = L, .hook = hook};
	w->max_ticks = (sig_atomic_t)((ms > MIN_MS ? ms : MIN_MS) / TICK_MS);
	return 0;
}

int chisel_watch_seconds(const struct chisel_watch *w)
{
	return w->max_ticks / (1000 / TICK_MS);
}

void chisel_watch_left(struct chisel_watch *w)
{
	sigset_t set;

	chisel_watched = NULL;
	w->counts = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGVTALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void chisel_watch_fini(struct chisel_watch *w)
{
	if (!w->L)
		return;
	w->L = NULL;
	if (!--n_watches)
		timer_delete(timer);
}
