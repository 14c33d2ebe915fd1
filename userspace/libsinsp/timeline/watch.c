/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enter events of poll and select have the descriptors. That of epoll_wait has the descriptor
 * of a set, which epoll_ctl changes: a set is known if its creation was seen, by the process that
 * created it, until it executes another program or events are lost. Of another set those are known
 * that were added since. A descriptor that is closed
 * leaves the set; one that another descriptor keeps open does not, so such a set may be known with
 * too few.
 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "event/event_table.h"
#include "shared/convert.h"
#include "state/fd.h"
#include "state/thread.h"

#define ITEM_SZ 10 /* of an fdlist: s64 fd, u16 flags */
#define MS 1000000ull

enum { EPOLL_ADD = 1, EPOLL_DEL = 2, EPOLL_ONESHOT = 1 << 30 };
enum { RANGE_CLOEXEC = 4 }; /* of close_range: it closes nothing yet */

static const struct {
	uint16_t type; /* of the enter event */
	uint8_t in_ms; /* the unit of its timeout; else ns */
} waits[] = {
	{EVT_POLL_E, 1},       {EVT_PPOLL_E, 0},       {EVT_SELECT_E, 0},       {EVT_PSELECT6_E, 0},
	{EVT_EPOLL_WAIT_E, 1}, {EVT_EPOLL_PWAIT_E, 1}, {EVT_EPOLL_PWAIT2_E, 0},
};

enum { N_WAITS = sizeof(waits) / sizeof(waits[0]) };

struct epoll_set {
	int64_t pid; /* 0: the place is free */
	int32_t epfd;
	uint8_t is_changed; /* else it is unknown: epoll_ctl may not be recorded */
	uint8_t is_partial; /* its creation was not seen */
	uint32_t n; /* more than SINSP_WATCH_FDS: not followed any more */
	int32_t fds[SINSP_WATCH_FDS];
};

struct sinsp_watch_sets {
	struct epoll_set *v;
	uint32_t n;
	struct {
		int fds, epfd, timeout;
	} at[N_WAITS];
	int at_epfd, at_op, at_fd, at_events;
	int at_dup2_old, at_dup3_old, at_first, at_last, at_flags;
};

struct sinsp_watch_sets *sinsp_watch_sets_new(void)
{
	struct sinsp_watch_sets *sets = calloc(1, sizeof(*sets));

	if (!sets)
		return NULL;
	for (unsigned int i = 0; i < N_WAITS; i++) {
		sets->at[i].fds = scap_event_param(waits[i].type, "fds");
		sets->at[i].epfd = scap_event_param(waits[i].type, "epfd");
		sets->at[i].timeout = scap_event_param(waits[i].type, "timeout");
	}
	sets->at_epfd = scap_event_param(EVT_EPOLL_CTL_X, "epfd");
	sets->at_op = scap_event_param(EVT_EPOLL_CTL_X, "op");
	sets->at_fd = scap_event_param(EVT_EPOLL_CTL_X, "fd");
	sets->at_events = scap_event_param(EVT_EPOLL_CTL_X, "events");
	sets->at_dup2_old = scap_event_param(EVT_DUP2_X, "oldfd");
	sets->at_dup3_old = scap_event_param(EVT_DUP3_X, "oldfd");
	sets->at_first = scap_event_param(EVT_CLOSE_RANGE_X, "first");
	sets->at_last = scap_event_param(EVT_CLOSE_RANGE_X, "last");
	sets->at_flags = scap_event_param(EVT_CLOSE_RANGE_X, "flags");
	return sets;
}

void sinsp_watch_sets_free(struct sinsp_watch_sets *sets)
{
	if (sets)
		free(sets->v);
	free(sets);
}

/* Returns the number, or @none. */
static int64_t number(const struct sinsp_evt *evt, int at, int64_t none)
{
	const struct scap_param *p =
		at >= 0 && (unsigned int)at < evt->params.n ? &evt->params.v[at] : NULL;

	if (p && p->len == 8)
		return (int64_t)get_u64(p->p);
	return p && p->len == 4 ? (int32_t)get_u32(p->p) : none;
}

/* ---- sets of epoll ---- */

static struct epoll_set *find(const struct sinsp_watch_sets *sets, int64_t pid, int64_t epfd)
{
	for (uint32_t i = 0; i < sets->n; i++)
		if (sets->v[i].pid == pid && sets->v[i].epfd == epfd)
			return &sets->v[i];
	return NULL;
}

/* Returns a set that is known in part, whose place a known one may take; NULL: there is none. */
static struct epoll_set *find_partial(const struct sinsp_watch_sets *sets)
{
	for (uint32_t i = 0; i < sets->n; i++)
		if (sets->v[i].is_partial)
			return &sets->v[i];
	return NULL;
}

/* Returns an empty set; NULL: no room. */
static struct epoll_set *create(struct sinsp_watch_sets *sets, int64_t pid, int64_t epfd,
				int is_partial)
{
	struct epoll_set *set = find(sets, pid, epfd), *v;

	if (!set && sets->n == SINSP_WATCH_SETS) {
		set = is_partial ? NULL : find_partial(sets);
		if (!set)
			return NULL;
	}
	if (!set) {
		v = realloc(sets->v, ((size_t)sets->n + 1) * sizeof(*v));
		if (!v)
			return NULL;
		sets->v = v;
		set = &v[sets->n++];
	}
	*set = (struct epoll_set){
		.pid = pid, .epfd = (int32_t)epfd, .is_partial = (uint8_t)is_partial};
	return set;
}

static void remove_fds(struct epoll_set *set, int64_t first, int64_t last)
{
	if (set->n > SINSP_WATCH_FDS)
		return;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->fds[i] >= first && set->fds[i] <= last)
			set->fds[i--] = set->fds[--set->n];
}

static void change(struct epoll_set *set, int64_t op, int64_t fd, uint64_t events)
{
	set->is_changed = 1;
	if (set->n > SINSP_WATCH_FDS)
		return;
	/* A descriptor that reports once is watched no more after that. */
	if (events & EPOLL_ONESHOT && op != EPOLL_DEL) {
		set->n = SINSP_WATCH_FDS + 1;
		return;
	}
	if (op == EPOLL_DEL)
		remove_fds(set, fd, fd);
	else if (op == EPOLL_ADD && ++set->n <= SINSP_WATCH_FDS)
		set->fds[set->n - 1] = (int32_t)fd;
}

/* Descriptors from @first to @last are closed, those of sets or in sets. */
static void close_fds(struct sinsp_watch_sets *sets, int64_t pid, int64_t first, int64_t last)
{
	for (uint32_t i = 0; i < sets->n; i++) {
		if (sets->v[i].pid != pid)
			continue;
		if (sets->v[i].epfd >= first && sets->v[i].epfd <= last)
			sets->v[i--] = sets->v[--sets->n];
		else
			remove_fds(&sets->v[i], first, last);
	}
}

/* The process duplicates @from to @to, which it closes first. */
static void duplicate(struct sinsp_watch_sets *sets, int64_t pid, int64_t from, int64_t to)
{
	if (to >= 0 && from != to)
		close_fds(sets, pid, to, to);
}

static void close_range(struct sinsp_watch_sets *sets, int64_t pid, const struct sinsp_evt *evt)
{
	const uint32_t first = (uint32_t)number(evt, sets->at_first, -1),
		       last = (uint32_t)number(evt, sets->at_last, -1);

	if (!(number(evt, sets->at_flags, 0) & RANGE_CLOEXEC))
		close_fds(sets, pid, first, last);
}

static void change_by(struct sinsp_watch_sets *sets, int64_t pid, const struct sinsp_evt *evt)
{
	const int64_t epfd = number(evt, sets->at_epfd, -1);
	struct epoll_set *set = find(sets, pid, epfd);

	if (!set)
		set = create(sets, pid, epfd, 1);
	if (set)
		change(set, number(evt, sets->at_op, 0), number(evt, sets->at_fd, -1),
		       (uint64_t)number(evt, sets->at_events, 0));
}

/* A call of the process @pid has the result @res. */
static void apply_call(struct sinsp_watch_sets *sets, int64_t pid, const struct sinsp_evt *evt,
		       int64_t res)
{
	switch (evt->raw.type) {
	case EVT_EPOLL_CREATE_X:
	case EVT_EPOLL_CREATE1_X:
		create(sets, pid, res, 0);
		break;
	case EVT_EPOLL_CTL_X:
		change_by(sets, pid, evt);
		break;
	case EVT_CLOSE_X:
		close_fds(sets, pid, evt->fdnum, evt->fdnum);
		break;
	case EVT_DUP2_X:
		duplicate(sets, pid, number(evt, sets->at_dup2_old, -1), res);
		break;
	case EVT_DUP3_X:
		duplicate(sets, pid, number(evt, sets->at_dup3_old, -1), res);
		break;
	case EVT_CLOSE_RANGE_X:
		close_range(sets, pid, evt);
		break;
	case EVT_EXECVE_X:
	case EVT_EXECVEAT_X:
		close_fds(sets, pid, 0, INT64_MAX);
		break;
	}
}

void sinsp_watch_sets_event(struct sinsp_watch_sets *sets, const struct sinsp_evt *evt)
{
	const int64_t pid = evt->thread ? evt->thread->pid : 0, res = number(evt, 0, -1);

	switch (evt->raw.type) {
	case EVT_LOST_E: /* also changes of sets, and ends of processes */
	case EVT_DROP_E:
		sets->n = 0;
		break;
	case EVT_PROCEXIT_E:
		if (pid && evt->thread->tid == pid)
			close_fds(sets, pid, 0, INT64_MAX);
		break;
	default:
		if (pid && res >= 0)
			apply_call(sets, pid, evt, res);
	}
}

/* ---- calls ---- */

static void note_connect(struct watch *w, const struct sinsp_fd *fd, int32_t num)
{
	if (!fd || (fd->flags & SINSP_FD_CONNECT_STATES) != SINSP_FD_F_CONNECT_PENDING)
		return;
	w->connecting = w->is_connecting ? -1 : num;
	w->is_connecting = 1;
}

/* Of a set that is known in part: others may be in it. */
static void note_connects(struct watch *w, const struct sinsp_evt *evt, const struct epoll_set *set)
{
	for (uint32_t i = 0; i < set->n && set->n <= SINSP_WATCH_FDS; i++)
		note_connect(w, sinsp_thread_fd(evt->thread, set->fds[i]), set->fds[i]);
}

static void watch_fd(struct watch *w, const struct sinsp_evt *evt, int64_t num)
{
	const struct sinsp_fd *fd = evt->thread ? sinsp_thread_fd(evt->thread, num) : NULL;

	w->count = w->count == WATCH_NONE ? WATCH_ONE : WATCH_MANY;
	w->fd = (int32_t)num;
	w->pipes &= fd && fd->type == SCAP_FD_FIFO;
	note_connect(w, fd, (int32_t)num);
}

/* Watches the different descriptors of an fdlist, which has the first ones. poll ignores those
 * below 0. */
static void watch_list(struct watch *w, const struct sinsp_evt *evt, const struct scap_param *list)
{
	const uint16_t n = list->len >= 2 ? get_u16(list->p) : 0;

	if (list->len < 2 + (size_t)n * ITEM_SZ)
		return;
	w->count = WATCH_NONE;
	for (uint16_t i = 0; i < n; i++) {
		const int64_t fd = (int64_t)get_u64(list->p + 2 + i * ITEM_SZ);

		if (fd >= 0 && !(w->count == WATCH_ONE && w->fd == fd))
			watch_fd(w, evt, fd);
	}
	if (n < ARG_POLLFDS_MAX)
		return;
	w->pipes = 0; /* there may be others */
	w->count = w->count == WATCH_NONE ? WATCH_UNKNOWN : WATCH_MANY;
}

static void watch_set(struct watch *w, const struct sinsp_evt *evt, const struct epoll_set *set)
{
	if (!set || !set->is_changed)
		return;
	if (set->is_partial) {
		note_connects(w, evt, set);
		return;
	}
	w->count = set->n > SINSP_WATCH_FDS ? WATCH_MANY : WATCH_NONE;
	w->pipes = set->n <= SINSP_WATCH_FDS;
	for (uint32_t i = 0; i < set->n && set->n <= SINSP_WATCH_FDS; i++)
		watch_fd(w, evt, set->fds[i]);
}

static void set_timeout(struct watch *w, int64_t timeout, int in_ms)
{
	const uint64_t unit = in_ms ? MS : 1;

	if (timeout > 0 && (uint64_t)timeout < INT64_MAX / unit)
		w->end_ns = w->enter_ns + (uint64_t)timeout * unit;
}

int sinsp_watch_enter(const struct sinsp_watch_sets *sets, const struct sinsp_evt *evt,
		      struct watch *w)
{
	unsigned int i = 0;
	int at;

	if (!evt_is_enter(evt->raw.type))
		return 0;
	while (i < N_WAITS && waits[i].type != evt->raw.type)
		i++;
	if (i == N_WAITS)
		return 0;
	*w = (struct watch){.enter_ns = evt->raw.true_ns,
			    .type = evt->raw.type,
			    .count = WATCH_UNKNOWN,
			    .connecting = -1,
			    .pipes = 1};
	at = sets->at[i].fds;
	if (at >= 0 && (unsigned int)at < evt->params.n)
		watch_list(w, evt, &evt->params.v[at]);
	else if (sets->at[i].epfd >= 0 && evt->thread)
		watch_set(w, evt, find(sets, evt->thread->pid, number(evt, sets->at[i].epfd, -1)));
	set_timeout(w, number(evt, sets->at[i].timeout, -1), waits[i].in_ms);
	return 1;
}

void sinsp_watch_types(uint64_t *types)
{
	for (unsigned int i = 0; i < N_WAITS; i++)
		scap_types_add(types, waits[i].type | 1);
	scap_types_add(types, EVT_EPOLL_CTL_X);
}
