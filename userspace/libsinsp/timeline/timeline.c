/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state machine of threads. A thread runs, waits for a CPU, or is blocked; a switch ends the
 * slice of the thread that leaves the CPU and of the one that comes, a wake-up that of a blocked
 * thread. `advance` alone moves the end of the last slice, so slices tile.
 *
 * The kernel reports a wake-up before it looks whether the thread already left the CPU. So the
 * wake-up that ends a sleep can come before the switch: it is kept (woken_early), and counts if no
 * other comes before the thread runs again. There is exactly one wake-up per sleep.
 */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "shared/stack.h"
#include "state/fd.h"
#include "state/inspector.h"
#include "state/sockname.h"
#include "watch.h"

#define LOSSES_KEPT 64 /* a power of two */
#define TURNS_KEPT 8 /* a power of two */
#define RUNS_KEPT 16
#define RUN_MAX_NS 1000000000ull /* longer ones are several */
#define RUN_GAP_MAX 8 /* a gap in a run is at most so many times the turn behind it */
#define NO_TID (-1)
#define NO_CPU UINT32_MAX

enum { STATE_DEAD_SHOWN = 32 }; /* of task_states */

/* A thread; in a table with open addressing. */
struct track {
	int64_t tid; /* 0: the place is free; the idle task is not followed */
	uint64_t at_ns; /* end of the last slice; 0: no event yet */
	int64_t waker; /* of the wait before, or early; NO_TID: unknown */
	uint64_t lock;
	int64_t owner; /* of the mutex at the begin of the wait, a guess; NO_TID: unknown */
	int64_t child; /* for which a sleep waits, a guess; 0: not known which; NO_TID: none */
	const char *name; /* of the descriptor; interned, a reference; NULL: none */
	const char *entered; /* path of the last open that slept, or address of the last connect, as
				name; NULL: none */
	const char *tried; /* file of the last call that failed and may be repeated, as name */
	const char *polls; /* the same, of a wait that followed */
	const char *tried_call; /* name of that call, of the event table */
	int64_t tried_res;
	struct watch watch; /* of the last poll, select or epoll_wait */
	int64_t looked_for; /* child that the last wait did not find ended, as child */
	uint64_t n_losses; /* losses that were applied */
	uint32_t call; /* SLICE_NO_CALL: none */
	int32_t fd; /* -1: none */
	uint32_t cpu; /* where it runs, or ran last; NO_CPU: unknown */
	uint8_t kind; /* enum slice_kind of the slice that goes on */
	uint8_t fd_type; /* enum scap_fd_type; 0: unknown */
	uint8_t watches; /* enum watch_count of the wait */
	uint8_t connecting; /* enum slice_connecting */
	uint8_t woken_early;
	uint8_t unselected; /* its switches are recorded for others only */
	uint8_t ends; /* its procexit was seen */
	uint8_t in_loss; /* its last event was before lost_until_ns */
};

/* A turn of a thread on a CPU, or a run: turns of a thread that follow each other closely. */
struct past_turn {
	int64_t tid;
	uint64_t from_ns, to_ns;
	uint64_t ns; /* that the thread ran; 0: the place is free */
};

/* Who ran on a CPU: the last turns, and behind them runs of those before. Of the runs, the one that
 * is short for its age makes room, so many short turns do not evict a long one. */
struct cpu_turns {
	int64_t tid; /* NO_TID: unknown */
	uint64_t since_ns;
	uint32_t n_past;
	struct past_turn past[TURNS_KEPT + RUNS_KEPT];
};

/* Calls that fail as long as a file does not exist, or exists, with the parameter that is its path:
 * programs repeat them. */
static const struct {
	uint16_t type;
	const char *path;
} tried[] = {
	{EVT_OPEN_X, "name"},    {EVT_OPENAT_X, "name"},        {EVT_OPENAT2_X, "name"},
	{EVT_CREAT_X, "name"},   {EVT_MKDIR_X, "path"},         {EVT_MKDIRAT_X, "path"},
	{EVT_LINK_X, "newpath"}, {EVT_LINKAT_X, "newpath"},     {EVT_SYMLINK_X, "linkpath"},
	{EVT_STAT_X, "path"},    {EVT_SYMLINKAT_X, "linkpath"}, {EVT_NEWFSTATAT_X, "path"},
	{EVT_STATX_X, "path"},   {EVT_ACCESS_X, "name"},        {EVT_FACCESSAT2_X, "path"},
};
#define N_TRIED (sizeof(tried) / sizeof(tried[0]))

struct sinsp_timeline {
	struct track *tracks;
	uint32_t n, n_places; /* a power of two */
	uint64_t seed;
	struct cpu_turns *cpus;
	uint32_t n_cpus;
	struct sinsp_watch_sets *sets;
	uint64_t losses[LOSSES_KEPT]; /* when they began, by number */
	uint64_t n_losses;
	uint64_t lost_until_ns; /* more may be missing until then */
	uint8_t is_full; /* a thread found no room */
	uint8_t has_switches; /* without, nothing ends the waits that calls under way are in */
	uint64_t last_ns; /* of the latest event */
	uint32_t *end_order; /* places by TID, of sinsp_timeline_end; NULL: not at the end yet */
	uint32_t n_end, end_at; /* and where it continues in them */
	int at_next, at_state, at_call, at_arg, at_owner, at_from, at_to;
	int at_waker, at_waker_call, at_waker_arg;
	int at_open_name[3]; /* of EVT_OPEN_E, EVT_OPENAT_E, EVT_OPENAT2_E */
	int at_connect_addr;
	int at_wait4_pid, at_waitid_id, at_waitid_pid;
	uint8_t tried_path[EVT_INDEX_MAX]; /* place of the path, from 1; 0: not in tried */
};

static const uint16_t opens[] = {EVT_OPEN_E, EVT_OPENAT_E, EVT_OPENAT2_E};

/* Returns the index in opens, or -1. */
static int open_index(unsigned int type)
{
	for (int i = 0; i < 3; i++)
		if (opens[i] == type)
			return i;
	return -1;
}

struct sinsp_timeline *sinsp_timeline_new(void)
{
	struct sinsp_timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return NULL;
	tl->n_places = 256;
	tl->tracks = calloc(tl->n_places, sizeof(*tl->tracks));
	tl->sets = sinsp_watch_sets_new();
	if (!tl->tracks || !tl->sets) {
		sinsp_watch_sets_free(tl->sets);
		free(tl->tracks);
		free(tl);
		return NULL;
	}
	tl->seed = scap_hash_seed(tl);
	tl->at_next = scap_event_param(EVT_SWITCH_E, "next");
	tl->at_state = scap_event_param(EVT_SWITCH_E, "state");
	tl->at_call = scap_event_param(EVT_SWITCH_E, "call");
	tl->at_arg = scap_event_param(EVT_SWITCH_E, "arg");
	tl->at_owner = scap_event_param(EVT_SWITCH_E, "owner");
	tl->at_waker = scap_event_param(EVT_WAKEUP_E, "waker");
	tl->at_waker_call = scap_event_param(EVT_WAKEUP_E, "call");
	tl->at_waker_arg = scap_event_param(EVT_WAKEUP_E, "arg");
	tl->at_from = scap_event_param(EVT_LOST_E, "from");
	tl->at_to = scap_event_param(EVT_LOST_E, "to");
	for (unsigned int i = 0; i < 3; i++)
		tl->at_open_name[i] = scap_event_param(opens[i], "name");
	tl->at_connect_addr = scap_event_param(EVT_CONNECT_E, "addr");
	tl->at_wait4_pid = scap_event_param(EVT_WAIT4_X, "pid");
	tl->at_waitid_id = scap_event_param(EVT_WAITID_X, "id");
	tl->at_waitid_pid = scap_event_param(EVT_WAITID_X, "pid");
	for (size_t i = 0; i < N_TRIED; i++)
		tl->tried_path[EVT_INDEX(tried[i].type)] =
			(uint8_t)(scap_event_param(tried[i].type, tried[i].path) + 1);
	return tl;
}

/* ---- the table of threads ---- */

static uint32_t place_of(const struct sinsp_timeline *tl, int64_t tid)
{
	return (uint32_t)scap_hash_number(tl->seed, (uint64_t)tid) & (tl->n_places - 1);
}

static struct track *find(const struct sinsp_timeline *tl, int64_t tid)
{
	uint32_t i = place_of(tl, tid);

	for (; tl->tracks[i].tid; i = (i + 1) & (tl->n_places - 1))
		if (tl->tracks[i].tid == tid)
			return &tl->tracks[i];
	return &tl->tracks[i];
}

static int grow(struct sinsp_timeline *tl)
{
	struct track *old = tl->tracks;
	const uint32_t n_old = tl->n_places;

	tl->tracks = calloc((size_t)n_old * 2, sizeof(*old));
	if (!tl->tracks) {
		tl->tracks = old;
		return -1;
	}
	tl->n_places = n_old * 2;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].tid)
			*find(tl, old[i].tid) = old[i];
	free(old);
	return 0;
}

static void warn_full(struct sinsp *s)
{
	if (!s->timeline->is_full && s->log)
		s->log(s->log_ctx, SCAP_LOG_WARN, "too many threads: some have no slices");
	s->timeline->is_full = 1;
}

/* Returns the thread, a new one if it is not known; NULL: the idle task, or no room. */
static struct track *get(struct sinsp *s, int64_t tid)
{
	struct sinsp_timeline *tl = s->timeline;
	struct track *t;

	if (tid <= 0)
		return NULL;
	t = find(tl, tid);
	if (t->tid)
		return t;
	if (tl->n >= SINSP_TIMELINE_THREADS || (tl->n >= tl->n_places / 2 && grow(tl))) {
		warn_full(s);
		return NULL;
	}
	t = find(tl, tid);
	*t = (struct track){.tid = tid,
			    .waker = NO_TID,
			    .owner = NO_TID,
			    .child = NO_TID,
			    .looked_for = NO_TID,
			    .call = SLICE_NO_CALL,
			    .fd = -1,
			    .cpu = NO_CPU,
			    .n_losses = tl->n_losses};
	tl->n++;
	return t;
}

static void forget_wait(struct sinsp *s, struct track *t)
{
	sinsp_str_put(&s->threads.strings, t->name);
	sinsp_str_put(&s->threads.strings, t->polls);
	t->name = t->polls = NULL;
	t->call = SLICE_NO_CALL;
	t->fd = -1;
	t->lock = 0;
	t->owner = NO_TID;
	t->child = NO_TID;
	t->fd_type = t->watches = t->connecting = 0;
}

static void forget_all(struct sinsp *s, struct track *t)
{
	forget_wait(s, t);
	sinsp_str_put(&s->threads.strings, t->entered);
	sinsp_str_put(&s->threads.strings, t->tried);
	t->entered = t->tried = NULL;
}

/* Removes the thread, and closes the gap in its run of places. */
static void drop(struct sinsp *s, struct track *t)
{
	struct sinsp_timeline *tl = s->timeline;
	const uint32_t mask = tl->n_places - 1;
	uint32_t hole = (uint32_t)(t - tl->tracks), i = hole;

	forget_all(s, t);
	for (;;) {
		i = (i + 1) & mask;
		if (!tl->tracks[i].tid)
			break;
		if (((i - place_of(tl, tl->tracks[i].tid)) & mask) < ((i - hole) & mask))
			continue;
		tl->tracks[hole] = tl->tracks[i];
		hole = i;
	}
	tl->tracks[hole] = (struct track){0};
	tl->n--;
}

void sinsp_timeline_free(struct sinsp *s, struct sinsp_timeline *tl)
{
	if (!tl)
		return;
	for (uint32_t i = 0; i < tl->n_places; i++)
		forget_all(s, &tl->tracks[i]);
	sinsp_watch_sets_free(tl->sets);
	free(tl->tracks);
	free(tl->end_order);
	free(tl->cpus);
	free(tl);
}

/* ---- who ran on a CPU ---- */

static struct cpu_turns *cpu_of(struct sinsp_timeline *tl, uint32_t cpu)
{
	struct cpu_turns *v;

	if (cpu >= SINSP_CPUS_MAX)
		return NULL;
	if (cpu < tl->n_cpus)
		return &tl->cpus[cpu];
	v = realloc(tl->cpus, ((size_t)cpu + 1) * sizeof(*v));
	if (!v)
		return NULL;
	for (uint32_t i = tl->n_cpus; i <= cpu; i++)
		v[i] = (struct cpu_turns){.tid = NO_TID};
	tl->cpus = v;
	tl->n_cpus = cpu + 1;
	return &v[cpu];
}

/* Returns whether the turn goes on with the run. */
static int is_next_of(const struct past_turn *run, const struct past_turn *turn)
{
	return run->ns && run->tid == turn->tid && run->to_ns - run->from_ns < RUN_MAX_NS &&
	       turn->from_ns - run->to_ns <= turn->ns * RUN_GAP_MAX;
}

/* Returns the share of its age that the run is of, at @now. */
static double worth_of(const struct past_turn *run, uint64_t now)
{
	return run->ns ? (double)run->ns / (double)(now - run->to_ns + 1) : 0;
}

/* Adds a turn that is no longer one of the last to its run, or as a new one. */
static void add_to_runs(struct cpu_turns *c, const struct past_turn *turn, uint64_t now)
{
	struct past_turn *runs = c->past + TURNS_KEPT, *least = runs;
	double worth = 0;

	for (uint32_t i = 0; i < RUNS_KEPT; i++)
		if (is_next_of(&runs[i], turn)) {
			runs[i].to_ns = turn->to_ns;
			runs[i].ns += turn->ns;
			return;
		}
	for (uint32_t i = 0; i < RUNS_KEPT; i++)
		if (!i || worth_of(&runs[i], now) < worth) {
			least = &runs[i];
			worth = worth_of(least, now);
		}
	if (worth_of(turn, now) > worth)
		*least = *turn;
}

static void end_turn(struct cpu_turns *c, int64_t tid, int64_t next, uint64_t now)
{
	struct past_turn *p = &c->past[c->n_past & (TURNS_KEPT - 1)];

	if (c->tid == tid && now > c->since_ns) {
		if (p->ns)
			add_to_runs(c, p, now);
		*p = (struct past_turn){tid, c->since_ns, now, now - c->since_ns};
		c->n_past++;
	}
	c->tid = next;
	c->since_ns = now;
}

/* Returns how long the thread ran since @from; of a run that began before, its share. */
static uint64_t ran_since(const struct past_turn *p, uint64_t from)
{
	if (p->to_ns <= from)
		return 0;
	if (p->from_ns >= from)
		return p->ns;
	return (uint64_t)((double)p->ns *
			  ((double)(p->to_ns - from) / (double)(p->to_ns - p->from_ns)));
}

/* Returns the thread that ran longest on the CPU since @from, and how long; 0: the CPU was idle;
 * NO_TID: unknown. */
static int64_t who_ran(const struct cpu_turns *c, uint64_t from, uint64_t *most)
{
	const uint32_t n = c ? TURNS_KEPT + RUNS_KEPT : 0;
	int64_t who = NO_TID;

	*most = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = ran_since(&c->past[i], from);

		if (!ns)
			continue;
		for (uint32_t k = i + 1; k < n; k++)
			if (c->past[k].tid == c->past[i].tid)
				ns += ran_since(&c->past[k], from);
		if (ns > *most) {
			*most = ns;
			who = c->past[i].tid;
		}
	}
	return who;
}

/* Returns the thread that a thread waited behind from @from to @to: that which ran longest on @cpu,
 * where its wait ended, or on @last, where it ran before, if no thread ran for half of the wait on
 * @cpu. NO_TID: none ran for a quarter. */
static int64_t who_was_before(struct sinsp_timeline *tl, uint32_t cpu, uint32_t last, uint64_t from,
			      uint64_t to)
{
	uint64_t most, most_last = 0;
	int64_t who = who_ran(cpu_of(tl, cpu), from, &most);

	if (last != cpu && last < tl->n_cpus && most < (to - from) / 2) {
		const int64_t who_last = who_ran(&tl->cpus[last], from, &most_last);

		if (most_last > most) {
			who = who_last;
			most = most_last;
		}
	}
	return most >= (to - from) / 4 ? who : NO_TID;
}

static void forget_turns(struct sinsp_timeline *tl)
{
	for (uint32_t i = 0; i < tl->n_cpus; i++) {
		tl->cpus[i] = (struct cpu_turns){.tid = NO_TID};
	}
}

/* ---- slices ---- */

enum slice_sum sinsp_slice_sum(unsigned int kind)
{
	return kind == SLICE_RUNNING    ? SLICE_SUM_RUNNING
	       : kind == SLICE_RUNNABLE ? SLICE_SUM_RUNNABLE
	       : kind == SLICE_UNKNOWN  ? SLICE_SUM_UNKNOWN
					: SLICE_SUM_BLOCKED;
}

static const char *comm_of(struct sinsp *s, int64_t tid)
{
	const struct sinsp_thread *t = tid > 0 ? sinsp_threads_find(&s->threads, tid) : NULL;

	if (!t && tid > 0)
		t = sinsp_threads_find_dead(&s->threads, tid);
	if (t && t->known)
		return t->comm;
	return NULL;
}

static struct evt_value number(const void *p, size_t len, int known)
{
	return (struct evt_value){p, known ? (uint16_t)len : 0};
}

static struct evt_value text(const char *t)
{
	const size_t len = t && *t ? strlen(t) + 1 : 0;

	return (struct evt_value){t, len <= UINT16_MAX ? (uint16_t)len : 0};
}

/* The parts of a slice that its thread does not have. */
struct slice {
	uint64_t from_ns, ns;
	int64_t waker, behind; /* NO_TID: unknown, or none */
	uint32_t waker_call; /* SLICE_NO_CALL: none */
	const char *waker_file; /* that the call was for; NULL: none */
	uint8_t open, timed_out;
};

static void emit(struct sinsp *s, const struct track *t, const struct slice *sl)
{
	const int64_t fd = t->fd;
	const int in_call = t->kind >= SLICE_FILE && t->call != SLICE_NO_CALL;
	const int woken = sl->waker != NO_TID && t->kind >= SLICE_FILE;
	const int waited = sl->behind != NO_TID && t->kind == SLICE_RUNNABLE;
	const int owned = in_call && t->kind == SLICE_LOCK && t->owner != NO_TID;
	const int on_cpu = t->kind == SLICE_RUNNING || t->kind == SLICE_RUNNABLE;
	const struct evt_value values[] = {
		number(&t->kind, 1, 1),
		number(&sl->from_ns, 8, 1),
		number(&sl->ns, 8, 1),
		number(&t->cpu, 4,
		       on_cpu && t->cpu != NO_CPU && !(sl->open && t->kind == SLICE_RUNNABLE)),
		number(&t->call, 4, in_call),
		number(&fd, 8, in_call && fd >= 0),
		text(in_call ? t->name : NULL),
		number(&t->lock, 8, in_call && t->lock),
		number(&sl->waker, 8, woken),
		text(!woken      ? NULL
		     : sl->waker ? comm_of(s, sl->waker)
				 : "interrupt"),
		number(&sl->behind, 8, waited),
		text(!waited      ? NULL
		     : sl->behind ? comm_of(s, sl->behind)
				  : "idle"),
		number(&sl->open, 1, 1),
		number(&t->owner, 8, owned),
		text(owned ? comm_of(s, t->owner) : NULL),
		number(&t->fd_type, 1, in_call && t->fd_type),
		number(&sl->timed_out, 1, 1),
		number(&t->connecting, 1, 1),
		number(&t->child, 8, in_call && t->child != NO_TID),
		text(in_call && t->child > 0 ? comm_of(s, t->child) : NULL),
		text(in_call ? t->polls : NULL),
		text(in_call && t->polls ? t->tried_call : NULL),
		number(&t->tried_res, 8, in_call && t->polls),
		number(&sl->waker_call, 4, woken && sl->waker_call != SLICE_NO_CALL),
		text(woken ? sl->waker_file : NULL),
	};

	if (!t->unselected)
		sinsp_derived_add(&s->derived, EVT_SLICE_E, t->tid, values,
				  sizeof(values) / sizeof(values[0]));
}

/* Ends the slice that goes on at @to, and begins one of @kind. */
static void advance(struct sinsp *s, struct track *t, uint64_t to, struct slice sl,
		    enum slice_kind kind)
{
	if (t->at_ns && to > t->at_ns) {
		sl.from_ns = t->at_ns;
		sl.ns = to - t->at_ns;
		emit(s, t, &sl);
	}
	if (to > t->at_ns)
		t->at_ns = to;
	if (kind < SLICE_FILE)
		forget_wait(s, t);
	t->kind = kind;
}

static const struct slice plain = {.waker = NO_TID, .behind = NO_TID, .waker_call = SLICE_NO_CALL};

/* Applies losses since the last event of the thread: what it did since the first is unknown. */
static void apply_losses(struct sinsp *s, struct track *t)
{
	const struct sinsp_timeline *tl = s->timeline;
	uint64_t from = 0;

	if (t->n_losses == tl->n_losses && !t->in_loss)
		return;
	if (!t->in_loss && tl->n_losses - t->n_losses <= LOSSES_KEPT)
		from = tl->losses[t->n_losses & (LOSSES_KEPT - 1)];
	t->n_losses = tl->n_losses;
	t->in_loss = 0;
	if (!t->at_ns)
		return;
	t->woken_early = 0;
	if (from < t->at_ns) {
		forget_wait(s, t);
		t->kind = SLICE_UNKNOWN;
		return;
	}
	advance(s, t, from, plain, SLICE_UNKNOWN);
}

/* Returns the thread at an event of its own at @now; NULL: it is not followed. */
static struct track *touch(struct sinsp *s, uint64_t now, int64_t tid)
{
	struct track *t = get(s, tid);

	if (!t)
		return NULL;
	apply_losses(s, t);
	t->in_loss = now < s->timeline->lost_until_ns;
	if (!t->at_ns) {
		t->at_ns = now;
		t->kind = SLICE_UNKNOWN;
	}
	return t;
}

/* ---- events ---- */

static const struct scap_param *param(const struct sinsp_evt *evt, int at)
{
	if (at < 0 || (unsigned int)at >= evt->params.n || !evt->params.v[at].len)
		return NULL;
	return &evt->params.v[at];
}

static int64_t tid_param(const struct sinsp_evt *evt, int at)
{
	const struct scap_param *p = param(evt, at);

	return p && p->len == 8 ? (int64_t)get_u64(p->p) : NO_TID;
}

static int is_in_open(const struct sinsp_thread *thread)
{
	return thread && thread->enter_open && open_index(thread->enter_type) >= 0;
}

/* Whether it is in a call whose object has its name from the enter event. */
static int is_in_named_call(const struct sinsp_thread *thread)
{
	return is_in_open(thread) ||
	       (thread && thread->enter_open && thread->enter_type == EVT_CONNECT_E);
}

/* Notes what the thread watches, if it is in the call of its last watch. Without descriptors, the
 * first argument is 0: others may be unknown. */
static void note_watch(struct track *t, const struct sinsp_thread *thread, uint64_t arg)
{
	if (!t->watch.type || !thread || !thread->enter_open ||
	    thread->enter_type != t->watch.type || thread->enter_ns != t->watch.enter_ns)
		return;
	t->watches = t->watch.count;
	if (t->watches == WATCH_NONE && arg && !slice_call_has_fd(t->call))
		t->watches = WATCH_UNKNOWN;
	if (t->watches == WATCH_ONE)
		t->fd = t->watch.fd;
	else if (t->watch.connecting >= 0)
		t->fd = t->watch.connecting;
}

static enum slice_connecting is_connecting(const struct track *t, const struct sinsp_fd *fd)
{
	if (slice_call_connects(t->call))
		return SLICE_CONNECTS;
	if (!t->watches || (fd->flags & SINSP_FD_CONNECT_STATES) != SINSP_FD_F_CONNECT_PENDING)
		return SLICE_CONNECTS_NOT;
	return t->watches == WATCH_ONE ? SLICE_CONNECTS : SLICE_CONNECTS_LIKELY;
}

/* Notes the call of a wait, with its descriptor, or the only one that it watches, or its lock. */
static const struct sinsp_fd *note_call(struct track *t, const struct sinsp_thread *thread,
					uint32_t call, uint64_t arg)
{
	const struct sinsp_fd *fd;

	t->call = call;
	if (slice_call_has_fd(call))
		t->fd = (int32_t)arg;
	else if (slice_call_has_lock(call))
		t->lock = arg;
	if (slice_call_watches(call))
		note_watch(t, thread, arg);
	if (t->entered && is_in_named_call(thread)) {
		t->name = t->entered;
		t->entered = NULL;
	}
	fd = thread && t->fd >= 0 ? sinsp_thread_fd(thread, t->fd) : NULL;
	if (!fd)
		return NULL;
	t->fd_type = fd->type;
	t->connecting = is_connecting(t, fd);
	if (fd->name && *fd->name)
		t->name = sinsp_str_ref(fd->name);
	return fd;
}

/* Returns the kind of a wait that was noted. */
static enum slice_kind kind_of_wait(const struct track *t, const struct sinsp_fd *fd,
				    unsigned int state)
{
	const enum slice_kind kind = slice_kind_of(t->call, fd, state);

	if (kind != SLICE_POLL)
		return kind;
	if (t->watches == WATCH_NONE)
		return SLICE_SLEEP;
	if (t->watches == WATCH_MANY && t->watch.pipes)
		return SLICE_PIPE;
	return t->watches == WATCH_ONE && fd ? slice_kind_of_fd(fd) : kind;
}

/* Returns the owner of the mutex that the thread of a switch waits for: the number in its memory,
 * if that is another thread of the process; else NO_TID. */
static int64_t mutex_owner(struct sinsp *s, const struct sinsp_evt *evt)
{
	const int64_t number = tid_param(evt, s->timeline->at_owner);
	const struct sinsp_thread *t = evt->thread, *owner;

	if (number == NO_TID || !t)
		return NO_TID;
	owner = sinsp_thread_in_pidns(s, t, number);
	return owner && owner->pid == t->pid && owner->tid != t->tid && !owner->exited ? owner->tid
										       : NO_TID;
}

/* A sleep may be for what the thread has not found before: an ended child, or a free lock. */
static void note_polled(struct sinsp *s, struct track *t, int sleeps)
{
	t->child = sleeps ? t->looked_for : NO_TID;
	t->looked_for = NO_TID;
	if (sleeps)
		t->polls = t->tried;
	else
		sinsp_str_put(&s->threads.strings, t->tried);
	t->tried = NULL;
}

/* Begins the wait of a thread that leaves the CPU, by the parameters of the switch. */
static enum slice_kind begin_wait(struct sinsp *s, struct track *t, const struct sinsp_evt *evt,
				  unsigned int state)
{
	const struct scap_param *call = param(evt, s->timeline->at_call),
				*arg = param(evt, s->timeline->at_arg);
	const struct sinsp_fd *fd = NULL;
	enum slice_kind kind;

	if (call && call->len == 4 && arg && arg->len == 8)
		fd = note_call(t, evt->thread, get_u32(call->p), get_u64(arg->p));
	t->owner = mutex_owner(s, evt);
	kind = kind_of_wait(t, fd, state);
	if (kind != SLICE_LOCK)
		note_polled(s, t, kind == SLICE_SLEEP);
	return kind;
}

/* The thread of the event leaves the CPU. */
static void leave(struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct scap_param *p = param(evt, s->timeline->at_state);
	struct track *t = touch(s, evt->raw.true_ns, (int64_t)evt->raw.hdr->tid);
	const unsigned int state = p && p->len == 1 ? p->p[0] : 0;

	if (!t)
		return;
	t->unselected = !!(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
	if (t->kind != SLICE_RUNNING) /* its switch to the CPU was not seen */
		t->kind = SLICE_UNKNOWN;
	t->cpu = evt->raw.cpu;
	advance(s, t, evt->raw.true_ns, plain, SLICE_UNKNOWN);
	if ((p && state & STATE_DEAD_SHOWN) || (!p && t->ends)) {
		drop(s, t);
		return;
	}
	if (!p)
		return;
	t->kind = state ? begin_wait(s, t, evt, state) : SLICE_RUNNABLE;
	if (!state)
		t->woken_early = 0;
}

/* Thread @tid gets the CPU. */
static void come(struct sinsp *s, const struct sinsp_evt *evt, int64_t tid)
{
	struct track *t = touch(s, evt->raw.true_ns, tid);
	struct slice sl = plain;
	uint32_t last;

	if (!t)
		return;
	last = t->cpu;
	t->cpu = evt->raw.cpu;
	if (t->kind == SLICE_RUNNING) /* its switch away was not seen */
		t->kind = SLICE_UNKNOWN;
	if (t->kind >= SLICE_FILE && t->woken_early)
		t->kind = SLICE_RUNNABLE;
	if (t->kind == SLICE_RUNNABLE)
		sl.behind = who_was_before(s->timeline, t->cpu, last, t->at_ns, evt->raw.true_ns);
	t->woken_early = 0;
	advance(s, t, evt->raw.true_ns, sl, SLICE_RUNNING);
}

/* What thread @tid did since its last event is unknown: its switch away is missing. */
static void lose(struct sinsp *s, int64_t tid)
{
	struct track *t = tid > 0 ? find(s->timeline, tid) : NULL;

	if (!t || !t->tid || t->kind != SLICE_RUNNING)
		return;
	t->kind = SLICE_UNKNOWN;
}

static void step_switch(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct cpu_turns *c = cpu_of(s->timeline, evt->raw.cpu);
	const int64_t tid = (int64_t)evt->raw.hdr->tid;
	const int64_t next = tid_param(evt, s->timeline->at_next);

	s->timeline->has_switches = 1;
	if (c && c->tid != tid)
		lose(s, c->tid);
	leave(s, evt);
	if (c)
		end_turn(c, tid, next, evt->raw.true_ns);
	come(s, evt, next);
}

/* An interrupt ends a watch: if it is that of the timeout, a thread that watched several
 * descriptors waited for the time. */
static void end_watch(struct track *t, struct slice *sl, uint64_t now)
{
	sl->timed_out = t->watches != WATCH_NONE && t->watch.end_ns && now >= t->watch.end_ns;
	if (sl->timed_out && t->watches == WATCH_MANY && t->kind == SLICE_POLL)
		t->kind = SLICE_SLEEP;
}

/* Notes who ends the wait, and in which call. */
static void note_waker(struct sinsp *s, struct slice *sl, const struct sinsp_evt *evt)
{
	const struct scap_param *call = param(evt, s->timeline->at_waker_call),
				*arg = param(evt, s->timeline->at_waker_arg);
	const struct sinsp_thread *waker;
	const struct sinsp_fd *fd;

	sl->waker = tid_param(evt, s->timeline->at_waker);
	if (sl->waker <= 0 || !call || call->len != 4 || !arg || arg->len != 8)
		return;
	sl->waker_call = get_u32(call->p);
	waker = sinsp_threads_find(&s->threads, sl->waker);
	if (!waker || !slice_call_has_fd(sl->waker_call))
		return;
	fd = sinsp_thread_fd(waker, (int32_t)get_u64(arg->p));
	sl->waker_file = fd ? fd->name : NULL;
}

static void step_wakeup(struct sinsp *s, const struct sinsp_evt *evt)
{
	const int64_t tid = (int64_t)evt->raw.hdr->tid;
	const int is_new = !find(s->timeline, tid)->tid;
	struct track *t = touch(s, evt->raw.true_ns, tid);
	struct slice sl = plain;

	if (!t)
		return;
	if (is_new)
		t->unselected = !!(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
	if (t->kind == SLICE_RUNNING) {
		t->woken_early = 1;
		return;
	}
	note_waker(s, &sl, evt);
	if (t->watches && !sl.waker)
		end_watch(t, &sl, evt->raw.true_ns);
	if (t->kind == SLICE_FILE && is_in_open(evt->thread) &&
	    is_in_open(sinsp_threads_find(&s->threads, sl.waker)))
		t->kind = SLICE_PIPE; /* two threads open the ends of a FIFO */
	t->woken_early = 0;
	if (t->kind != SLICE_RUNNABLE)
		advance(s, t, evt->raw.true_ns, sl, SLICE_RUNNABLE);
}

/* A call that was under way when the capture began. */
static void step_under_way(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct track *t = get(s, (int64_t)evt->raw.hdr->tid);
	const uint32_t call =
		evt->raw.nr | (evt->raw.flags & SCAP_EVT_F_IA32 ? SAMPLE_CALL_IA32 : 0);
	const struct sinsp_fd *fd = NULL;
	uint64_t arg = 0;

	if (!t || t->at_ns || evt->raw.nr == REC_NR_NONE)
		return;
	t->at_ns = evt->raw.ts_ns;
	if (!(evt->raw.flags & SCAP_EVT_F_BLOCKED)) {
		t->kind = SLICE_RUNNABLE;
		return;
	}
	if (slice_call_has_fd(call))
		arg = (uint64_t)evt->fdnum; /* -1: the event lacks it */
	else if (evt->params.n && evt->params.v[0].len == sizeof(arg))
		arg = get_u64(evt->params.v[0].p);
	fd = note_call(t, evt->thread, call, arg);
	t->kind = kind_of_wait(t, fd, 1);
}

/* Keeps the path of an open that sleeps: the descriptor comes later. */
static void step_open(struct sinsp *s, const struct sinsp_evt *evt, int at)
{
	const struct scap_param *name = param(evt, at);
	struct track *t = get(s, (int64_t)evt->raw.hdr->tid);

	if (!t || !name || name->p[0] != '/')
		return;
	sinsp_str_put(&s->threads.strings, t->entered);
	t->entered = sinsp_str_get(&s->threads.strings, (const char *)name->p,
				   strnlen((const char *)name->p, name->len));
}

/* Keeps the address of a connect that sleeps: the descriptor has no name before its end. */
static void step_connect(struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct scap_param *addr = param(evt, s->timeline->at_connect_addr);
	struct track *t = get(s, (int64_t)evt->raw.hdr->tid);
	char text[2 + SINSP_SOCK_TEXT] = "->";
	size_t n;

	if (!t || !addr)
		return;
	n = 2 + sinsp_sockaddr_text(text + 2, addr->p, addr->len, 1);
	sinsp_str_put(&s->threads.strings, t->entered);
	t->entered = n > 2 ? sinsp_str_get(&s->threads.strings, text, n) : NULL;
}

/* A call begins whose wait needs more than the switch has. */
static void step_enter(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct watch w;
	struct track *t;

	if (evt->raw.flags & SCAP_EVT_F_BLOCKED && open_index(evt->raw.type) >= 0)
		step_open(s, evt, s->timeline->at_open_name[open_index(evt->raw.type)]);
	if (evt->raw.flags & SCAP_EVT_F_BLOCKED && evt->raw.type == EVT_CONNECT_E)
		step_connect(s, evt);
	if (!sinsp_watch_enter(s->timeline->sets, evt, &w))
		return;
	t = get(s, (int64_t)evt->raw.hdr->tid);
	if (t)
		t->watch = w;
}

/* A thread looked for ended children: if it found none (the result is 0), a sleep that follows
 * waits for one. @pid: the one that it looked for; not above 0: any. */
static void step_look(struct sinsp *s, const struct sinsp_evt *evt, int64_t pid, int found)
{
	struct track *t = find(s->timeline, (int64_t)evt->raw.hdr->tid);
	const struct sinsp_thread *child;

	if (!t->tid)
		return;
	t->looked_for = found ? NO_TID : 0;
	child = !found && pid > 0 && evt->thread ? sinsp_thread_in_pidns(s, evt->thread, pid)
						 : NULL;
	if (child)
		t->looked_for = child->tid;
}

static int64_t number_param(const struct sinsp_evt *evt, int at)
{
	const struct scap_param *p = param(evt, at);

	if (p && p->len == 8)
		return (int64_t)get_u64(p->p);
	return p && p->len == 4 ? (int32_t)get_u32(p->p) : -1;
}

/* Keeps the end of a call: a sleep that follows may be for what it did not find. @name: interned, a
 * reference; NULL: the call did not fail. */
static void keep_tried(struct sinsp *s, struct track *t, const struct sinsp_evt *evt, int64_t res,
		       const char *name)
{
	sinsp_str_put(&s->threads.strings, t->tried);
	t->tried = name;
	t->tried_call = scap_event_info(evt->raw.type)->name;
	t->tried_res = res;
}

/* A thread could not lock a file: fcntl fails with these errors only for that. */
static void step_lock(struct sinsp *s, const struct sinsp_evt *evt)
{
	const int64_t res = number_param(evt, 0);
	struct track *t = find(s->timeline, (int64_t)evt->raw.hdr->tid);

	if (t->tid && (res == -EAGAIN || res == -EACCES) && evt->fd)
		keep_tried(s, t, evt, res, sinsp_str_ref(evt->fd->name));
}

/* The end of a call on a path: it failed, or what was tried is found. */
static void step_try(struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct sinsp_timeline *tl = s->timeline;
	const unsigned int row = EVT_INDEX(evt->raw.type);
	const int at = row < EVT_INDEX_MAX ? tl->tried_path[row] - 1 : -1;
	const struct scap_param *path = param(evt, at);
	struct track *t;
	int64_t res;

	if (!path)
		return;
	t = find(tl, (int64_t)evt->raw.hdr->tid);
	if (!t->tid)
		return;
	res = number_param(evt, 0);
	keep_tried(s, t, evt, res,
		   res < 0 ? sinsp_str_get(&s->threads.strings, (const char *)path->p,
					   strnlen((const char *)path->p, path->len))
			   : NULL);
}

/* The thread that called exec continues under the TID of the leader. */
static void step_exec(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct track *t = find(s->timeline, s->execed_tid);

	if (s->execed_tid <= 0 || s->execed_tid == (int64_t)evt->raw.hdr->tid || !t->tid)
		return;
	advance(s, t, evt->raw.true_ns, plain, SLICE_UNKNOWN);
	drop(s, t);
	t = touch(s, evt->raw.true_ns, (int64_t)evt->raw.hdr->tid);
	if (t && t->kind == SLICE_UNKNOWN && t->at_ns == evt->raw.true_ns)
		t->kind = SLICE_RUNNING;
	forget_turns(s->timeline);
}

static void note_loss(struct sinsp_timeline *tl, uint64_t from, uint64_t to)
{
	if (to > tl->lost_until_ns)
		tl->lost_until_ns = to;
	tl->losses[tl->n_losses++ & (LOSSES_KEPT - 1)] = from;
	forget_turns(tl);
}

static uint64_t time_param(const struct sinsp_evt *evt, int at)
{
	const struct scap_param *p = param(evt, at);

	return p && p->len == 8 && get_u64(p->p) ? get_u64(p->p) : evt->raw.true_ns;
}

static void step_lost(struct sinsp *s, const struct sinsp_evt *evt)
{
	note_loss(s->timeline, time_param(evt, s->timeline->at_from),
		  time_param(evt, s->timeline->at_to));
}

static void step_procexit(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct track *t = find(s->timeline, (int64_t)evt->raw.hdr->tid);

	if (t->tid)
		t->ends = 1;
}

void sinsp_timeline_event(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_timeline *tl = s->timeline;

	switch (evt->raw.type) {
	case EVT_SWITCH_E:
	case EVT_SWITCH_146_E:
		step_switch(s, evt);
		break;
	case EVT_WAKEUP_E:
		step_wakeup(s, evt);
		break;
	case EVT_LOST_E:
		step_lost(s, evt);
		break;
	case EVT_DROP_E: /* switches are not recorded until DROP_X */
		note_loss(tl, evt->raw.true_ns, 0);
		break;
	case EVT_PROCEXIT_E:
	case EVT_PROCEXIT_16_E:
		step_procexit(s, evt);
		break;
	case EVT_EXECVE_X:
	case EVT_EXECVEAT_X:
		step_exec(s, evt);
		break;
	case EVT_CPU_HOTPLUG_E:
		forget_turns(tl);
		break;
	case EVT_WAIT4_X:
		step_look(s, evt, number_param(evt, tl->at_wait4_pid), number_param(evt, 0) != 0);
		break;
	case EVT_FCNTL_X:
	case EVT_FLOCK_X:
		step_lock(s, evt);
		break;
	case EVT_WAITID_X:
		step_look(s, evt, number_param(evt, tl->at_waitid_id),
			  number_param(evt, 0) || number_param(evt, tl->at_waitid_pid) != 0);
		break;
	default:
		step_enter(s, evt);
		step_try(s, evt);
		if (evt->raw.flags & SCAP_EVT_F_BEFORE)
			step_under_way(s, evt);
	}
	sinsp_watch_sets_event(tl->sets, evt);
	if (evt->raw.ts_ns > tl->last_ns)
		tl->last_ns = evt->raw.ts_ns;
}

void sinsp_timeline_open(struct sinsp *s, uint64_t now_ns)
{
	const struct sinsp_timeline *tl = s->timeline;
	struct slice sl = plain;

	sl.open = 1;
	for (uint32_t i = 0; i < tl->n_places && tl->has_switches; i++) {
		const struct track *t = &tl->tracks[i];
		const int lost = t->in_loss || t->n_losses != tl->n_losses;

		if (!t->tid || !t->at_ns || t->at_ns >= now_ns || t->kind < SLICE_FILE || lost)
			continue;
		sl.from_ns = t->at_ns;
		sl.ns = now_ns - t->at_ns;
		emit(s, t, &sl);
	}
}

static int by_tid(const void *a, const void *b, void *ctx)
{
	const struct track *tracks = ctx;
	const int64_t x = tracks[*(const uint32_t *)a].tid, y = tracks[*(const uint32_t *)b].tid;

	return x < y ? -1 : x > y;
}

/* The last slices come by TID, so that the output is the same each time. Without memory none come,
 * which is counted. */
static void order_tracks(struct sinsp *s, struct sinsp_timeline *tl)
{
	tl->end_order = malloc((tl->n + 1) * sizeof(*tl->end_order));
	if (!tl->end_order) {
		s->derived.n_dropped += tl->n;
		return;
	}
	for (uint32_t i = 0; i < tl->n_places && tl->n_end < tl->n; i++)
		if (tl->tracks[i].tid)
			tl->end_order[tl->n_end++] = i;
	qsort_r(tl->end_order, tl->n_end, sizeof(*tl->end_order), by_tid, tl->tracks);
}

int sinsp_timeline_end(struct sinsp *s)
{
	struct sinsp_timeline *tl = s->timeline;
	const uint64_t now = tl->last_ns;
	struct slice sl = plain;

	sl.open = 1;
	if (!tl->end_order)
		order_tracks(s, tl);
	while (tl->end_at < tl->n_end) {
		struct track *t = &tl->tracks[tl->end_order[tl->end_at++]];

		apply_losses(s, t);
		if (!t->at_ns || t->at_ns >= now)
			continue;
		if (!tl->has_switches) {
			forget_wait(s, t);
			t->kind = SLICE_UNKNOWN;
		}
		advance(s, t, now, sl, (enum slice_kind)t->kind);
		return 1;
	}
	return 0;
}

void sinsp_slice_types(uint64_t *types)
{
	static const unsigned int others[] = {EVT_WAIT4_X, EVT_WAITID_X, EVT_FCNTL_X, EVT_FLOCK_X};

	sinsp_watch_types(types);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		scap_types_add(types, others[i]);
	for (size_t i = 0; i < N_TRIED; i++)
		scap_types_add(types, tried[i].type);
}
