/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of slices: what a thread did, for how long, and who ended it; and their sums. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "errno_signal_names.h"
#include "field_params.h"
#include "field_rows.h"
#include "state/process.h"
#include "state/thread.h"
#include "timeline/timeline.h"

enum { OBJECT_MAX = 48 };

/* Returns a parameter of a slice that has the length @len; NULL: missing, or no slice. */
static const struct scap_param *param_of(const struct sinsp_evt *evt, unsigned int at, size_t len)
{
	const struct scap_param *p = field_param(evt, EVT_SLICE_E, at);

	return p && p->len == len ? p : NULL;
}

static int get_number(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)more;
	return field_param_number(v, field_param(e->evt, EVT_SLICE_E, f->row->variant));
}

static int get_text(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_text(v, field_param(e->evt, EVT_SLICE_E, f->row->variant));
}

static int get_kind(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_name(v, field_param(e->evt, EVT_SLICE_E, f->row->variant), EVT_SLICE_E,
				f->row->variant);
}

static const char *const states[] = {"running", "runnable", "blocked", "unknown", NULL};

static int get_state(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct scap_param *p = param_of(e->evt, SLICE_P_KIND, 1);

	(void)f, (void)more;
	if (!p || p->p[0] >= SLICE_KINDS)
		return 0;
	return field_str(v, states[sinsp_slice_sum(p->p[0])]);
}

static int get_call(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_call(v, field_param(e->evt, EVT_SLICE_E, f->row->variant));
}

static int get_error(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct scap_param *p = param_of(e->evt, f->row->variant, sizeof(int64_t));
	const char *name = p ? sinsp_errno_name(-get_u64(p->p)) : NULL;

	(void)more;
	return name ? field_str(v, name) : 0;
}

/* Returns what a descriptor is, before its number. */
static const char *fd_noun(const struct scap_param *type)
{
	switch (type ? type->p[0] : 0) {
	case SCAP_FD_EVENT:
		return "eventfd";
	case SCAP_FD_SIGNALFD:
		return "signalfd";
	case SCAP_FD_TIMERFD:
		return "timerfd";
	case SCAP_FD_PIDFD:
		return "pidfd";
	case SCAP_FD_INOTIFY:
		return "inotify fd";
	}
	return "fd";
}

/* What the thread waited for: the name of the descriptor, its number, or the address of the lock.
 */
static int get_object(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct scap_param *lock = param_of(e->evt, SLICE_P_LOCK, sizeof(uint64_t)),
				*fd = param_of(e->evt, SLICE_P_FD, sizeof(uint64_t)),
				*name = field_param(e->evt, EVT_SLICE_E, SLICE_P_NAME);
	char *p;
	int n;

	(void)f, (void)more;
	if (name)
		return field_param_text(v, name);
	if (!lock && !fd)
		return 0;
	p = sinsp_eval_alloc(e, OBJECT_MAX);
	if (!p)
		return -ENOMEM;
	n = lock ? snprintf(p, OBJECT_MAX, "lock 0x%" PRIx64, get_u64(lock->p))
		 : snprintf(p, OBJECT_MAX, "%s %" PRId64,
			    fd_noun(param_of(e->evt, SLICE_P_FD_TYPE, 1)), (int64_t)get_u64(fd->p));
	return field_mem(v, p, (size_t)n);
}

/* Adds the sum @at of the thread. Returns whether the thread had a slice. */
static int add_time(const struct sinsp_thread *t, unsigned int at, uint64_t *sum)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < SLICE_SUMS; i++)
		any |= t->slice_ns[i];
	*sum += t->slice_ns[at];
	return any != 0;
}

static int get_thread_time(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	uint64_t sum = 0;

	(void)more;
	if (!e->evt->thread || !add_time(e->evt->thread, f->row->variant, &sum))
		return 0;
	return field_u(v, sum);
}

static int get_proc_time(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	uint64_t sum = 0;
	int known = 0;

	(void)more;
	if (!t || !t->proc)
		return 0;
	for (t = t->proc->threads; t; t = t->sibling)
		known |= add_time(t, f->row->variant, &sum);
	return known ? field_u(v, sum) : 0;
}

/* clang-format off */
static const char *const kinds[] = {
	"unknown", "running", "runnable", "file", "network", "lock", "sleep", "poll", "pipe",
	"page_fault", "child", "other", "stopped", "throttled", "frozen", NULL};

#define NEEDS .needs = FIELD_NEEDS_SLICES | FIELD_NEEDS_FILES
#define ROW(name, type, fmt, variant, get, help, ...)                                              \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_HEADER, 0, variant, get, help, ##__VA_ARGS__, NEEDS}
#define SUM(name, type, variant, get, help)                                                        \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_SEARCH, 0, variant, get, help, NEEDS}

static const struct sinsp_field_row rows[] = {
	ROW("thread.slice.kind", STR, DEC, SLICE_P_KIND, get_kind,
	    "what the thread did: running, runnable (it waited for a CPU), or what it waited for: file, "
	    "network, lock, sleep, poll, pipe, page_fault, child, other; stopped, throttled, frozen; unknown",
	    .values = kinds),
	ROW("thread.slice.state", STR, DEC, SLICE_P_KIND, get_state,
	    "running, runnable, blocked or unknown", .values = states),
	ROW("thread.slice.start", TIME, DEC, SLICE_P_BEGIN, get_number,
	    "when the slice began, in nanoseconds since the epoch"),
	ROW("thread.slice.ns", DURATION, DEC, SLICE_P_NS, get_number, "length of the slice in nanoseconds"),
	ROW("thread.slice.cpu", UINT, DEC, SLICE_P_CPU, get_number,
	    "CPU on which the thread ran, or for which it waited"),
	ROW("thread.slice.call", STR, DEC, SLICE_P_CALL, get_call, "syscall in which the thread waited"),
	ROW("thread.slice.fd", INT, DEC, SLICE_P_FD, get_number,
	    "descriptor that the thread waited for: the first argument of the call, or the only one that poll, "
	    "select or epoll watched"),
	ROW("thread.slice.file", STR, DEC, SLICE_P_NAME, get_text,
	    "name of that descriptor: file, connection or pipe"),
	ROW("thread.slice.lock", UINT, HEX, SLICE_P_LOCK, get_number,
	    "address of the futex that the thread waited for"),
	{"thread.slice.object", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_TEXT, 0, 0, get_object,
	 "what the thread waited for: thread.slice.file, else the number of the descriptor, or the "
	 "address of the futex", NEEDS},
	ROW("thread.slice.waker", INT, DEC, SLICE_P_WAKER, get_number,
	    "TID of the thread that ended the wait; 0: an interrupt, such as of a timer or a device"),
	ROW("thread.slice.waker.comm", STR, DEC, SLICE_P_WAKER_COMM, get_text, "name of that thread; interrupt for TID 0"),
	ROW("thread.slice.waker.call", STR, DEC, SLICE_P_WAKER_CALL, get_call, "syscall in which that thread ended the wait"),
	ROW("thread.slice.waker.file", STR, DEC, SLICE_P_WAKER_FILE, get_text, "file, connection or pipe of that call's descriptor"),
	ROW("thread.slice.behind", INT, DEC, SLICE_P_BEHIND, get_number,
	    "runnable: TID of the thread that ran longest on the CPU meanwhile; 0: the CPU was idle"),
	ROW("thread.slice.behind.comm", STR, DEC, SLICE_P_BEHIND_COMM, get_text,
	    "name of that thread; idle for TID 0"),
	ROW("thread.slice.timed_out", BOOL, DEC, SLICE_P_TIMED_OUT, get_number,
	    "true if the timeout of poll, select or epoll ended the wait"),
	ROW("thread.slice.connecting", UINT, DEC, SLICE_P_CONNECTING, get_number,
	    "1: the thread waited for the end of a connect, also of one that does not block; 2: it watched others, "
	    "too; 0: it did not"),
	ROW("thread.slice.child", INT, DEC, SLICE_P_CHILD, get_number,
	    "sleep: PID of the child for whose end the thread looked just before, a guess; 0: it looked for any"),
	ROW("thread.slice.child.comm", STR, DEC, SLICE_P_CHILD_COMM, get_text, "name of that child"),
	ROW("thread.slice.polled", STR, DEC, SLICE_P_POLLED, get_text,
	    "sleep: the path that a call could not use just before, as it was locked, missing, or there already; "
	    "a guess"),
	ROW("thread.slice.polled.call", STR, DEC, SLICE_P_POLLED_CALL, get_text, "the call that failed"),
	ROW("thread.slice.polled.error", STR, DEC, SLICE_P_POLLED_RES, get_error, "the error of that call"),
	{"thread.slice.open", FIELD_BOOL, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, SLICE_P_OPEN, get_number,
	 "true if the slice still went on when the capture ended, or the table of saker top",
	 .needs = FIELD_NEEDS_SLICES | FIELD_NEEDS_FILES | FIELD_NEEDS_OPEN_SLICES},
	ROW("thread.slice.owner", INT, DEC, SLICE_P_OWNER, get_number,
	    "lock: TID of the thread that held the mutex of glibc when the wait began, a guess: thread.slice.waker, "
	    "if known, is better"),
	ROW("thread.slice.owner.comm", STR, DEC, SLICE_P_OWNER_COMM, get_text, "name of that thread"),
	SUM("thread.time.running", DURATION, SLICE_SUM_RUNNING, get_thread_time,
	    "time that the thread ran, of its slices so far, in nanoseconds"),
	SUM("thread.time.runnable", DURATION, SLICE_SUM_RUNNABLE, get_thread_time,
	    "time that the thread waited for a CPU"),
	SUM("thread.time.blocked", DURATION, SLICE_SUM_BLOCKED, get_thread_time,
	    "time that the thread was blocked"),
	SUM("thread.time.unknown", DURATION, SLICE_SUM_UNKNOWN, get_thread_time,
	    "time of which is not known what the thread did, because events were lost"),
	SUM("proc.time.running", DURATION, SLICE_SUM_RUNNING, get_proc_time,
	    "sum of thread.time.running of the threads that the process has"),
	SUM("proc.time.runnable", DURATION, SLICE_SUM_RUNNABLE, get_proc_time,
	    "sum of thread.time.runnable of these threads"),
	SUM("proc.time.blocked", DURATION, SLICE_SUM_BLOCKED, get_proc_time,
	    "sum of thread.time.blocked of these threads"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_slice = {
	.name = "thread.slice",
	.title = "time of threads",
	.help = "What threads did: slices of their time, from task switches and wake-ups",
	FIELD_ROWS(rows),
};
