/* SPDX-License-Identifier: Apache-2.0 */
#include "heal.h"

#include <string.h>
#include <time.h>

#include "inspector.h"
#include "procfs/proc_scan.h"
#include "procfs/state_build.h"
#include "snapshot.h"

#define NS_PER_S 1000000000ull
#define SHARE 100 /* one part of this of the time may go into asking */
#define BUDGET_MAX_NS 20000000ll /* after a quiet time: some 500 files at once */
#define ASK_AGAIN_NS NS_PER_S
#define SEARCH_EVERY_NS (600 * NS_PER_S) /* without a known loss */
#define EVENTS_PER_STEP 256u
#define SLOTS_PER_STEP 64u

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

void sinsp_heal_init(struct sinsp_heal *h, int live)
{
	memset(h, 0, sizeof(*h));
	h->on = live && scap_proc_is_global();
	h->budget_ns = BUDGET_MAX_NS;
	h->budget_at_ns = clock_ns(CLOCK_MONOTONIC);
	h->searched_ns = clock_ns(CLOCK_REALTIME);
	h->next_slot = UINT32_MAX;
}

void sinsp_heal_lost(struct sinsp_heal *h, uint64_t to_ns, int fds, int threads, int ends)
{
	if (fds && h->fds_lost_ns < to_ns)
		h->fds_lost_ns = to_ns;
	if (threads && h->threads_lost_ns < to_ns)
		h->threads_lost_ns = to_ns;
	if (ends && h->on)
		h->next_slot = 0;
}

/* ---- what is certain ---- */

static int is_certain(uint64_t lost_ns, uint64_t learnt_ns)
{
	return !lost_ns || learnt_ns > lost_ns;
}

int sinsp_fd_is_certain(const struct sinsp *s, const struct sinsp_fd *fd, uint64_t now_ns)
{
	return is_certain(s->heal.fds_lost_ns, fd->learnt_ns) &&
	       (!(fd->flags & SINSP_FD_F_HEALED) || fd->learnt_ns <= now_ns);
}

int sinsp_thread_is_certain(const struct sinsp *s, const struct sinsp_thread *t, uint64_t now_ns)
{
	return is_certain(s->heal.threads_lost_ns, t->learnt_ns) &&
	       (!t->healed || t->learnt_ns <= now_ns);
}

int sinsp_fs_is_certain(const struct sinsp *s, const struct sinsp_fs *fs)
{
	return is_certain(s->heal.fds_lost_ns, fs->learnt_ns);
}

/* ---- asking ---- */

/* The thread's time on a CPU when the asking begins; 0: there was too much of it. */
static uint64_t begin_asking(struct sinsp_heal *h)
{
	uint64_t now;

	if (!h->on)
		return 0;
	now = clock_ns(CLOCK_MONOTONIC);
	h->budget_ns += (now - h->budget_at_ns) / SHARE;
	h->budget_at_ns = now;
	if (h->budget_ns > BUDGET_MAX_NS)
		h->budget_ns = BUDGET_MAX_NS;
	if (h->budget_ns <= 0)
		return 0;
	h->n_asked++;
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void end_asking(struct sinsp_heal *h, uint64_t begun)
{
	/* Below 0: the next one waits for it. */
	h->budget_ns -= clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
}

static int64_t epoch_offset_ns(void)
{
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
}

/* A thread with the main thread of its process, without files: those are read when they are used.
 */
static const struct scap_state *read_thread(struct scap_state_build *b, int64_t tid)
{
	const struct scap_scan_opts opts = {
		.sz = sizeof(opts), .no_files = 1, .epoch_offset_ns = epoch_offset_ns()};

	if (!b || scap_scan_thread(b, tid, &opts))
		return NULL;
	return scap_state_build_done(b);
}

static void set_healed(struct sinsp_thread *t)
{
	t->learnt_ns = clock_ns(CLOCK_REALTIME);
	t->healed = 1;
}

/* Main threads are in front: the others join their processes. */
static void take_threads(struct sinsp *s, const struct scap_state *st)
{
	for (size_t i = 0; st && i < st->n_threads; i++) {
		const struct scap_thread_info *info = &st->threads[i];
		struct sinsp_thread *t = sinsp_threads_find(&s->threads, info->tid);

		if (t && t->known)
			continue;
		t = sinsp_snapshot_thread(&s->threads, info);
		if (!t)
			continue;
		t->files->partial = 1;
		/* Events that are older still say something: files were not read. */
		t->snapshot_ns = 0;
		set_healed(t);
		s->heal.n_threads++;
	}
}

static void read_unknown(struct sinsp *s, int64_t tid)
{
	uint64_t begun = tid > 0 ? begin_asking(&s->heal) : 0;
	struct scap_state_build *b;

	if (!begun)
		return;
	b = scap_state_build_new();
	take_threads(s, read_thread(b, tid));
	scap_state_build_free(b);
	end_asking(&s->heal, begun);
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

/* Whoever began after the thread was last seen is another one with its tid. */
static struct sinsp_thread *refresh(struct sinsp *s, struct sinsp_thread *t,
				    const struct scap_state *st)
{
	const int64_t tid = t->tid;
	const struct scap_thread_info *info = find_info(st, tid);

	if (!info)
		return t;
	if (info->start_ns > last_seen_ns(t) + SINSP_TICK_NS || info->pid != (uint64_t)t->pid) {
		sinsp_threads_replace(&s->threads, t);
		take_threads(s, st);
		return sinsp_thread_get(s, tid);
	}
	sinsp_snapshot_refresh(&s->threads, t, info);
	s->heal.n_threads++;
	return t;
}

struct sinsp_thread *sinsp_heal_thread(struct sinsp *s, struct sinsp_thread *t)
{
	struct sinsp_heal *h = &s->heal;
	struct scap_state_build *b;
	uint64_t begun;

	if (is_certain(h->threads_lost_ns, t->learnt_ns) || !t->known || t->exited ||
	    !(begun = begin_asking(h)))
		return t;
	b = scap_state_build_new();
	t = refresh(s, t, read_thread(b, t->tid));
	scap_state_build_free(b);
	end_asking(h, begun);
	if (t)
		set_healed(t);
	return t;
}

static int was_asked(struct sinsp_heal *h, int64_t tid, int64_t num)
{
	const uint32_t at = ((uint64_t)tid * 31 + (uint64_t)num) % SINSP_HEAL_ASKED;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (h->asked[at].tid == tid && h->asked[at].num == num &&
	    now - h->asked[at].at_ns < ASK_AGAIN_NS)
		return 1;
	h->asked[at].tid = tid;
	h->asked[at].num = num;
	h->asked[at].at_ns = now;
	return 0;
}

static const struct sinsp_fd *take_file(struct sinsp *s, struct sinsp_thread *t, int64_t num,
					const struct scap_state *st)
{
	struct sinsp_threads *tt = &s->threads;
	struct sinsp_fd *fd;

	if (!st || !st->n_threads || st->threads[0].n_fds != 1)
		return sinsp_files_find(t->files, num);
	fd = sinsp_snapshot_fd(tt, t->files, &st->threads[0].fds[0]);
	if (!fd)
		return sinsp_files_find(t->files, num);
	fd->learnt_ns = clock_ns(CLOCK_REALTIME);
	fd->flags |= SINSP_FD_F_HEALED;
	s->heal.n_files++;
	return fd;
}

/* Without the thread a file would be nobody's. */
static const struct scap_state *read_file(struct scap_state_build *b, int64_t tid, int64_t num)
{
	const struct scap_scan_opts opts = {.sz = sizeof(opts)};
	const struct scap_thread_info t = {.tid = tid};

	if (!b || scap_state_build_thread(b, &t) || scap_scan_file(b, tid, num, &opts))
		return NULL;
	return scap_state_build_done(b);
}

const struct sinsp_fd *sinsp_heal_fd(struct sinsp *s, struct sinsp_thread *t, int64_t num,
				     uint64_t now_ns)
{
	const struct sinsp_fd *fd = sinsp_files_find(t->files, num);
	struct scap_state_build *b;
	uint64_t begun;

	if (!s->heal.on || num < 0)
		return fd;
	if (fd ? is_certain(s->heal.fds_lost_ns, fd->learnt_ns)
	       : !t->files->partial && !s->heal.fds_lost_ns)
		return fd;
	/* Of a thread that has ended meanwhile nothing can be read. */
	if (t->gone_ns > now_ns || was_asked(&s->heal, t->tid, num) ||
	    !(begun = begin_asking(&s->heal)))
		return fd;
	b = scap_state_build_new();
	fd = take_file(s, t, num, read_file(b, t->tid, num));
	scap_state_build_free(b);
	end_asking(&s->heal, begun);
	return fd;
}

/* ---- threads that are no more ---- */

/* One that is gone stays until its events, which may still wait, are through: then its end is not
 * among them. Whether it is removed. */
static int look_after(struct sinsp *s, struct sinsp_thread *t, uint64_t now_ns)
{
	if (t->exited)
		return 0;
	if (!t->gone_ns && !scap_thread_lives(t->tid))
		t->gone_ns = clock_ns(CLOCK_REALTIME);
	s->heal.found_gone |= !!t->gone_ns;
	if (!t->gone_ns || t->gone_ns > now_ns)
		return 0;
	sinsp_threads_end(&s->threads, t, -1);
	s->heal.n_ended++;
	return 1;
}

/* Whether there is something to search. Who was found gone is looked after in the next round. */
static int begin_search(struct sinsp *s, uint64_t now_ns)
{
	struct sinsp_heal *h = &s->heal;
	int is_round = h->next_slot != UINT32_MAX;

	if (h->next_slot < s->threads.n_slots)
		return 1;
	if (is_round)
		h->searched_ns = now_ns;
	h->next_slot = UINT32_MAX;
	if (!(is_round && h->found_gone) && now_ns - h->searched_ns < SEARCH_EVERY_NS)
		return 0;
	h->next_slot = h->found_gone = 0;
	return 1;
}

void sinsp_heal_step(struct sinsp *s, uint64_t now_ns)
{
	struct sinsp_heal *h = &s->heal;
	uint64_t begun;

	if (h->n_events++ % EVENTS_PER_STEP || !begin_search(s, now_ns) ||
	    !(begun = begin_asking(h)))
		return;
	for (uint32_t i = 0; i < SLOTS_PER_STEP && h->next_slot < s->threads.n_slots; i++) {
		struct sinsp_thread *t = s->threads.slots[h->next_slot].t;

		if (!t || !look_after(s, t, now_ns))
			h->next_slot++;
	}
	end_asking(h, begun);
}
