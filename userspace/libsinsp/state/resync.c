/* SPDX-License-Identifier: Apache-2.0 */
/* Resync after lost records: reads threads and descriptors from /proc, within 1% of a CPU. */
#include "resync.h"

#include <string.h>
#include <time.h>

#include "clock.h"
#include "import.h"
#include "inspector.h"
#include "procfs/proc_scan.h"
#include "procfs/state_build.h"

#define NS_PER_S 1000000000ull
#define SHARE 100 /* reads of /proc take at most one part of this of the time */
#define BUDGET_MAX_NS 20000000ll /* after an idle time: about 500 descriptors at once */
#define READ_AGAIN_NS NS_PER_S
#define SEARCH_EVERY_NS (600 * NS_PER_S) /* without a known loss */
#define EVENTS_PER_STEP 256u
#define SLOTS_PER_STEP 64u

void sinsp_resync_init(struct sinsp_resync *r, int live)
{
	memset(r, 0, sizeof(*r));
	r->on = live && scap_proc_is_global();
	r->budget_ns = BUDGET_MAX_NS;
	r->budget_at_ns = clock_read_ns(CLOCK_MONOTONIC);
	r->searched_ns = clock_read_ns(CLOCK_REALTIME);
	r->next_slot = UINT32_MAX;
}

void sinsp_resync_lost(struct sinsp_resync *r, uint64_t to_ns, int fds, int threads, int ends)
{
	if (fds && r->fds_lost_ns < to_ns)
		r->fds_lost_ns = to_ns;
	if (threads && r->threads_lost_ns < to_ns)
		r->threads_lost_ns = to_ns;
	if (ends && r->on)
		r->next_slot = 0;
}

/* ---- certainty ---- */

static int is_certain(uint64_t lost_ns, uint64_t as_of_ns)
{
	return !lost_ns || as_of_ns > lost_ns;
}

int sinsp_fd_is_certain(const struct sinsp *s, const struct sinsp_fd *fd, uint64_t now_ns)
{
	return is_certain(s->resync.fds_lost_ns, fd->as_of_ns) &&
	       (!(fd->flags & SINSP_FD_F_RESYNCED) || fd->as_of_ns <= now_ns);
}

int sinsp_thread_is_certain(const struct sinsp *s, const struct sinsp_thread *t, uint64_t now_ns)
{
	return is_certain(s->resync.threads_lost_ns, t->as_of_ns) &&
	       (!t->resynced || t->as_of_ns <= now_ns);
}

int sinsp_fs_is_certain(const struct sinsp *s, const struct sinsp_fs *fs)
{
	return is_certain(s->resync.fds_lost_ns, fs->as_of_ns);
}

/* ---- reads of /proc ---- */

/* Returns the CPU time of this thread before a read; 0: the time for reads is used up. */
static uint64_t begin_read(struct sinsp_resync *r)
{
	uint64_t now;

	if (!r->on)
		return 0;
	now = clock_read_ns(CLOCK_MONOTONIC);
	r->budget_ns += (now - r->budget_at_ns) / SHARE;
	r->budget_at_ns = now;
	if (r->budget_ns > BUDGET_MAX_NS)
		r->budget_ns = BUDGET_MAX_NS;
	if (r->budget_ns <= 0)
		return 0;
	r->n_reads++;
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void end_read(struct sinsp_resync *r, uint64_t begun)
{
	/* Below 0: reads pause until it is positive. */
	r->budget_ns -= clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
}

static int64_t epoch_offset_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME) - clock_read_ns(CLOCK_BOOTTIME);
}

/* Returns the state that was read, with the values overwritten that the source overwrites. */
static const struct scap_state *state_of(const struct sinsp *s, struct scap_state_build *b)
{
	const struct scap_state *st = scap_state_build_done(b);

	scap_redact_beside(s->src, st);
	return st;
}

/* Reads a thread and its main thread, without descriptors: those are read when they are used. */
static const struct scap_state *read_thread(const struct sinsp *s, struct scap_state_build *b,
					    int64_t tid)
{
	const struct scap_scan_opts opts = {
		.sz = sizeof(opts), .no_files = 1, .epoch_offset_ns = epoch_offset_ns()};

	if (!b || scap_scan_thread(b, tid, &opts))
		return NULL;
	return state_of(s, b);
}

static void set_resynced(struct sinsp_thread *t)
{
	t->as_of_ns = clock_read_ns(CLOCK_REALTIME);
	t->resynced = 1;
}

/* Main threads come first: the others join their processes. */
static void import_threads(struct sinsp *s, const struct scap_state *st)
{
	for (size_t i = 0; st && i < st->n_threads; i++) {
		const struct scap_thread_info *info = &st->threads[i];
		struct sinsp_thread *t = sinsp_threads_find(&s->threads, info->tid);

		if (t && t->known)
			continue;
		t = sinsp_import_thread(&s->threads, info);
		if (!t)
			continue;
		t->files->partial = 1;
		/* No descriptors were read, so older events still apply. */
		t->snapshot_ns = 0;
		set_resynced(t);
		s->resync.n_threads++;
	}
}

static void read_unknown(struct sinsp *s, int64_t tid)
{
	uint64_t begun = tid > 0 ? begin_read(&s->resync) : 0;
	struct scap_state_build *b;

	if (!begun)
		return;
	b = scap_state_build_new();
	import_threads(s, read_thread(s, b, tid));
	scap_state_build_free(b);
	end_read(&s->resync, begun);
}

struct sinsp_thread *sinsp_thread_get(struct sinsp *s, int64_t tid)
{
	struct sinsp_thread *t = sinsp_threads_find(&s->threads, tid);

	if (t)
		return t;
	read_unknown(s, tid);
	t = sinsp_threads_find(&s->threads, tid);
	if (!t)
		t = sinsp_threads_add_stand_in(&s->threads, tid);
	if (t)
		sinsp_thread_mark(s, t, sinsp_threads_find(&s->threads, t->ptid));
	return t;
}

static uint64_t last_seen_ns(const struct sinsp_thread *t)
{
	uint64_t ns = t->start_ns > t->enter_ns ? t->start_ns : t->enter_ns;

	return ns > t->snapshot_ns ? ns : t->snapshot_ns;
}

static const struct scap_thread_info *find_info(const struct scap_state *st, int64_t tid)
{
	for (size_t i = 0; st && i < st->n_threads; i++)
		if ((int64_t)st->threads[i].tid == tid)
			return &st->threads[i];
	return NULL;
}

/* Returns whether the thread is another one with the TID: it started after @t was last seen. */
static struct sinsp_thread *refresh(struct sinsp *s, struct sinsp_thread *t,
				    const struct scap_state *st)
{
	const int64_t tid = t->tid;
	const struct scap_thread_info *info = find_info(st, tid);

	if (!info)
		return t;
	if (info->start_ns > last_seen_ns(t) + SINSP_TICK_NS || info->pid != (uint64_t)t->pid) {
		sinsp_threads_replace(&s->threads, t);
		import_threads(s, st);
		return sinsp_thread_get(s, tid);
	}
	sinsp_import_refresh(&s->threads, t, info);
	s->resync.n_threads++;
	return t;
}

struct sinsp_thread *sinsp_resync_thread(struct sinsp *s, struct sinsp_thread *t)
{
	struct sinsp_resync *r = &s->resync;
	struct scap_state_build *b;
	uint64_t begun;

	if (is_certain(r->threads_lost_ns, t->as_of_ns) || !t->known || t->exited ||
	    !(begun = begin_read(r)))
		return t;
	b = scap_state_build_new();
	t = refresh(s, t, read_thread(s, b, t->tid));
	scap_state_build_free(b);
	end_read(r, begun);
	if (t)
		set_resynced(t);
	return t;
}

static int is_recent(struct sinsp_resync *r, int64_t tid, int64_t num)
{
	const uint32_t at = ((uint64_t)tid * 31 + (uint64_t)num) % SINSP_RESYNC_RECENT;
	const uint64_t now = clock_read_ns(CLOCK_MONOTONIC);

	if (r->recent[at].tid == tid && r->recent[at].num == num &&
	    now - r->recent[at].at_ns < READ_AGAIN_NS)
		return 1;
	r->recent[at].tid = tid;
	r->recent[at].num = num;
	r->recent[at].at_ns = now;
	return 0;
}

static const struct sinsp_fd *import_file(struct sinsp *s, struct sinsp_thread *t, int64_t num,
					  const struct scap_state *st)
{
	struct sinsp_threads *tt = &s->threads;
	struct sinsp_fd *fd;

	if (!st || !st->n_threads || st->threads[0].n_fds != 1)
		return sinsp_files_find(t->files, num);
	fd = sinsp_import_fd(tt, t->files, &st->threads[0].fds[0]);
	if (!fd)
		return sinsp_files_find(t->files, num);
	fd->as_of_ns = clock_read_ns(CLOCK_REALTIME);
	fd->flags |= SINSP_FD_F_RESYNCED;
	s->resync.n_files++;
	return fd;
}

/* The state has no descriptor without its thread. */
static const struct scap_state *read_file(const struct sinsp *s, struct scap_state_build *b,
					  int64_t tid, int64_t num)
{
	const struct scap_scan_opts opts = {.sz = sizeof(opts)};
	const struct scap_thread_info t = {.tid = tid};

	if (!b || scap_state_build_thread(b, &t) || scap_scan_file(b, tid, num, &opts))
		return NULL;
	return state_of(s, b);
}

const struct sinsp_fd *sinsp_resync_fd(struct sinsp *s, struct sinsp_thread *t, int64_t num,
				       uint64_t now_ns)
{
	const struct sinsp_fd *fd = sinsp_files_find(t->files, num);
	struct scap_state_build *b;
	uint64_t begun;

	if (!s->resync.on || num < 0)
		return fd;
	if (fd ? is_certain(s->resync.fds_lost_ns, fd->as_of_ns)
	       : !t->files->partial && !s->resync.fds_lost_ns)
		return fd;
	/* /proc has nothing of an ended thread. */
	if (t->gone_ns > now_ns || is_recent(&s->resync, t->tid, num) ||
	    !(begun = begin_read(&s->resync)))
		return fd;
	b = scap_state_build_new();
	fd = import_file(s, t, num, read_file(s, b, t->tid, num));
	scap_state_build_free(b);
	end_read(&s->resync, begun);
	return fd;
}

/* ---- ended threads ---- */

/* Removes a thread that /proc no longer has, once all events of that time were parsed: its procexit
 * was lost. Returns whether it was removed. */
static int check_thread(struct sinsp *s, struct sinsp_thread *t, uint64_t now_ns)
{
	if (t->exited)
		return 0;
	if (!t->gone_ns && !scap_thread_lives(t->tid))
		t->gone_ns = clock_read_ns(CLOCK_REALTIME);
	s->resync.found_gone |= !!t->gone_ns;
	if (!t->gone_ns || t->gone_ns > now_ns)
		return 0;
	sinsp_threads_end(&s->threads, t, -1);
	s->resync.n_ended++;
	return 1;
}

/* Returns whether there are slots to check. A thread found gone is removed in the next round. */
static int begin_search(struct sinsp *s, uint64_t now_ns)
{
	struct sinsp_resync *r = &s->resync;
	int is_round = r->next_slot != UINT32_MAX;

	if (r->next_slot < s->threads.n_slots)
		return 1;
	if (is_round)
		r->searched_ns = now_ns;
	r->next_slot = UINT32_MAX;
	if (!(is_round && r->found_gone) && now_ns - r->searched_ns < SEARCH_EVERY_NS)
		return 0;
	r->next_slot = r->found_gone = 0;
	return 1;
}

void sinsp_resync_step(struct sinsp *s, uint64_t now_ns)
{
	struct sinsp_resync *r = &s->resync;
	uint64_t begun;

	if (r->n_events++ % EVENTS_PER_STEP || !begin_search(s, now_ns) || !(begun = begin_read(r)))
		return;
	for (uint32_t i = 0; i < SLOTS_PER_STEP && r->next_slot < s->threads.n_slots; i++) {
		struct sinsp_thread *t = s->threads.slots[r->next_slot].t;

		if (!t || !check_thread(s, t, now_ns))
			r->next_slot++;
	}
	end_read(r, begun);
}
