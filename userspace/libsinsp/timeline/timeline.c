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

#include <stdlib.h>
#include <string.h>

#include "memory/hash.h"
#include "shared/stack.h"
#include "state/fd.h"
#include "state/inspector.h"

#define LOSSES_KEPT 64 /* a power of two */
#define TURNS_KEPT 8 /* a power of two */
#define NO_TID (-1)

enum { STATE_DEAD_SHOWN = 32 }; /* of task_states */

/* A thread; in a table with open addressing. */
struct track {
	int64_t tid; /* 0: the place is free; the idle task is not followed */
	uint64_t at_ns; /* end of the last slice; 0: no event yet */
	int64_t waker; /* of the wait before, or early; NO_TID: unknown */
	uint64_t lock;
	const char *name; /* of the descriptor; interned, a reference; NULL: none */
	uint64_t n_losses; /* losses that were applied */
	uint32_t call; /* SLICE_NO_CALL: none */
	int32_t fd; /* -1: none */
	uint32_t cpu; /* where it runs */
	uint8_t kind; /* enum slice_kind of the slice that goes on */
	uint8_t woken_early;
	uint8_t unselected; /* its switches are recorded for others only */
	uint8_t ends; /* its procexit was seen */
	uint8_t in_loss; /* its last event was before lost_until_ns */
};

struct past_turn {
	int64_t tid;
	uint64_t from_ns, to_ns;
};

/* Who ran on a CPU. */
struct cpu_turns {
	int64_t tid; /* NO_TID: unknown */
	uint64_t since_ns;
	uint32_t n_past;
	struct past_turn past[TURNS_KEPT];
};

struct sinsp_timeline {
	struct track *tracks;
	uint32_t n, n_places; /* a power of two */
	uint64_t seed;
	struct cpu_turns *cpus;
	uint32_t n_cpus;
	uint64_t losses[LOSSES_KEPT]; /* when they began, by number */
	uint64_t n_losses;
	uint64_t lost_until_ns; /* more may be missing until then */
	uint8_t is_full; /* a thread found no room */
	uint64_t last_ns; /* of the latest event */
	uint32_t end_at; /* place that sinsp_timeline_end continues at */
	int at_next, at_state, at_call, at_arg, at_waker, at_from, at_to;
};

struct sinsp_timeline *sinsp_timeline_new(void)
{
	struct sinsp_timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return NULL;
	tl->n_places = 256;
	tl->tracks = calloc(tl->n_places, sizeof(*tl->tracks));
	if (!tl->tracks) {
		free(tl);
		return NULL;
	}
	tl->seed = sinsp_hash_seed(tl);
	tl->at_next = scap_event_param(EVT_SWITCH_E, "next");
	tl->at_state = scap_event_param(EVT_SWITCH_E, "state");
	tl->at_call = scap_event_param(EVT_SWITCH_E, "call");
	tl->at_arg = scap_event_param(EVT_SWITCH_E, "arg");
	tl->at_waker = scap_event_param(EVT_WAKEUP_E, "waker");
	tl->at_from = scap_event_param(EVT_LOST_E, "from");
	tl->at_to = scap_event_param(EVT_LOST_E, "to");
	return tl;
}

/* ---- the table of threads ---- */

static uint32_t place_of(const struct sinsp_timeline *tl, int64_t tid)
{
	return (uint32_t)sinsp_hash_number(tl->seed, (uint64_t)tid) & (tl->n_places - 1);
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
			    .call = SLICE_NO_CALL,
			    .fd = -1,
			    .n_losses = tl->n_losses};
	tl->n++;
	return t;
}

static void forget_wait(struct sinsp *s, struct track *t)
{
	sinsp_str_put(&s->threads.strings, t->name);
	t->name = NULL;
	t->call = SLICE_NO_CALL;
	t->fd = -1;
	t->lock = 0;
}

/* Removes the thread, and closes the gap in its run of places. */
static void drop(struct sinsp *s, struct track *t)
{
	struct sinsp_timeline *tl = s->timeline;
	const uint32_t mask = tl->n_places - 1;
	uint32_t hole = (uint32_t)(t - tl->tracks), i = hole;

	forget_wait(s, t);
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
		sinsp_str_put(&s->threads.strings, tl->tracks[i].name);
	free(tl->tracks);
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

static void end_turn(struct cpu_turns *c, int64_t tid, int64_t next, uint64_t now)
{
	if (c->tid == tid)
		c->past[c->n_past++ & (TURNS_KEPT - 1)] = (struct past_turn){tid, c->since_ns, now};
	c->tid = next;
	c->since_ns = now;
}

/* Returns the thread that ran longest on the CPU since @from, of the last turns; 0: the CPU was
 * idle; NO_TID: unknown. */
static int64_t who_ran(const struct cpu_turns *c, uint64_t from)
{
	uint64_t most = 0;
	int64_t who = NO_TID;

	for (uint32_t i = 0; c && i < TURNS_KEPT && i < c->n_past; i++) {
		const struct past_turn *p = &c->past[i];
		uint64_t ns = 0;

		if (p->to_ns <= from)
			continue;
		for (uint32_t k = 0; k < TURNS_KEPT && k < c->n_past; k++)
			if (c->past[k].tid == p->tid && c->past[k].to_ns > from)
				ns += c->past[k].to_ns -
				      (c->past[k].from_ns > from ? c->past[k].from_ns : from);
		if (ns > most || who == NO_TID) {
			most = ns;
			who = p->tid;
		}
	}
	return who;
}

static void forget_turns(struct sinsp_timeline *tl)
{
	for (uint32_t i = 0; i < tl->n_cpus; i++) {
		tl->cpus[i].tid = NO_TID;
		tl->cpus[i].n_past = 0;
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
	uint8_t open;
};

static void emit(struct sinsp *s, const struct track *t, const struct slice *sl)
{
	const int64_t fd = t->fd;
	const int in_call = t->kind >= SLICE_FILE && t->call != SLICE_NO_CALL;
	const int woken = sl->waker != NO_TID && t->kind >= SLICE_FILE;
	const int waited = sl->behind != NO_TID && t->kind == SLICE_RUNNABLE;
	const int on_cpu = t->kind == SLICE_RUNNING || t->kind == SLICE_RUNNABLE;
	const struct evt_value values[] = {
		number(&t->kind, 1, 1),
		number(&sl->from_ns, 8, 1),
		number(&sl->ns, 8, 1),
		number(&t->cpu, 4, on_cpu && !(sl->open && t->kind == SLICE_RUNNABLE)),
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

static const struct slice plain = {.waker = NO_TID, .behind = NO_TID};

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

/* Notes the call of a wait, with its descriptor or lock. */
static const struct sinsp_fd *note_call(struct track *t, const struct sinsp_thread *thread,
					uint32_t call, uint64_t arg)
{
	const struct sinsp_fd *fd = NULL;

	t->call = call;
	if (slice_call_has_fd(call)) {
		t->fd = (int32_t)arg;
		fd = thread && t->fd >= 0 ? sinsp_thread_fd(thread, t->fd) : NULL;
	} else if (slice_call_has_lock(call)) {
		t->lock = arg;
	}
	if (fd && fd->name && *fd->name)
		t->name = sinsp_str_ref(fd->name);
	return fd;
}

/* Begins the wait of a thread that leaves the CPU, by the parameters of the switch. */
static enum slice_kind begin_wait(const struct sinsp *s, struct track *t,
				  const struct sinsp_evt *evt, unsigned int state)
{
	const struct scap_param *call = param(evt, s->timeline->at_call),
				*arg = param(evt, s->timeline->at_arg);
	const struct sinsp_fd *fd = NULL;

	if (call && call->len == 4 && arg && arg->len == 8)
		fd = note_call(t, evt->thread, get_u32(call->p), get_u64(arg->p));
	return slice_kind_of(t->call, fd, state);
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

	if (!t)
		return;
	t->cpu = evt->raw.cpu;
	if (t->kind == SLICE_RUNNING) /* its switch away was not seen */
		t->kind = SLICE_UNKNOWN;
	if (t->kind >= SLICE_FILE && t->woken_early)
		t->kind = SLICE_RUNNABLE;
	if (t->kind == SLICE_RUNNABLE)
		sl.behind = who_ran(cpu_of(s->timeline, evt->raw.cpu), t->at_ns);
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

	if (c && c->tid != tid)
		lose(s, c->tid);
	leave(s, evt);
	if (c)
		end_turn(c, tid, next, evt->raw.true_ns);
	come(s, evt, next);
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
	sl.waker = tid_param(evt, s->timeline->at_waker);
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
	t->kind = slice_kind_of(t->call, fd, 1);
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
	default:
		if (evt->raw.flags & SCAP_EVT_F_BEFORE)
			step_under_way(s, evt);
	}
	if (evt->raw.ts_ns > tl->last_ns)
		tl->last_ns = evt->raw.ts_ns;
}

int sinsp_timeline_end(struct sinsp *s)
{
	struct sinsp_timeline *tl = s->timeline;
	const uint64_t now = tl->last_ns;
	struct slice sl = plain;

	sl.open = 1;
	while (tl->end_at < tl->n_places) {
		struct track *t = &tl->tracks[tl->end_at++];

		if (!t->tid)
			continue;
		apply_losses(s, t);
		if (!t->at_ns || t->at_ns >= now)
			continue;
		advance(s, t, now, sl, (enum slice_kind)t->kind);
		return 1;
	}
	return 0;
}
