/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of threads, from events made by hand. Each test also checks that slices tile. */
#include "timeline.h"
#include "watch.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/stack.h"
#include "state/thread.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

#define MS 1000000ull
#define T0 (1000 * MS)
#define I(x) ((int64_t)(x))
#define IDLE I(0)
#define NO_CALL_PARAMS 8

enum {
	RUN,
	SLEEP = 1,
	DISK = 2,
	STOPPED = 4,
	TRACED = 8,
	DEAD = 32,
	THROTTLED = 64,
	FROZEN = 128
}; /* task_states */
enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_NANOSLEEP = 35,
	NR_FUTEX = 202,
	NR_WAIT4 = 61,
	NR_EPOLL_WAIT = 232
};

static void has_thread(struct scap_fake *f, uint64_t tid, const char *comm)
{
	const struct scap_thread_info t = {
		.tid = tid, .pid = tid, .ptid = 1, .comm = comm, .snapshot_ns = T0};

	assert_int_equal(scap_state_build_thread(scap_fake_state(f), &t), 0);
}

static struct scap_fake *new_fake(void)
{
	struct scap_fake *f = scap_fake_new();

	assert_non_null(f);
	has_thread(f, 10, "ten");
	has_thread(f, 11, "eleven");
	has_thread(f, 12, "twelve");
	return f;
}

/* @tid leaves @cpu to @next in @state, outside of calls. */
static void leaves(struct scap_fake *f, uint64_t ms, unsigned int cpu, int64_t tid, int64_t next,
		   int state)
{
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, (uint16_t)cpu, tid, EVT_SWITCH_E,
				       NO_CALL_PARAMS, next, I(0), I(0), I(0), I(0), I(0), I(0),
				       I(state)),
			 0);
}

/* The same in the call @nr with the first argument @arg. */
static void sleeps(struct scap_fake *f, uint64_t ms, unsigned int cpu, int64_t tid, int64_t next,
		   uint32_t nr, uint64_t arg)
{
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, (uint16_t)cpu, tid, EVT_SWITCH_E, 10, next,
				       I(0), I(0), I(0), I(0), I(0), I(0), I(SLEEP), I(nr), arg),
			 0);
}

static void wakes(struct scap_fake *f, uint64_t ms, int64_t waker, int64_t tid)
{
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, 0, tid, EVT_WAKEUP_E, 1, waker), 0);
}

/* An expected slice; times in milliseconds. -1: no value. */
struct want {
	int64_t tid;
	int kind;
	uint64_t from, to;
	int64_t waker, behind;
	int open;
};

static uint64_t param_of(const struct sinsp_evt *evt, unsigned int at)
{
	const struct scap_param *p = &evt->params.v[at];

	assert_true(at < evt->params.n);
	switch (p->len) {
	case 1:
		return p->p[0];
	case 4:
		return get_u32(p->p);
	case 8:
		return get_u64(p->p);
	}
	return UINT64_MAX;
}

static void check_slice(const struct sinsp_evt *evt, const struct want *w)
{
	assert_int_equal(evt->raw.num, 0);
	assert_int_equal((int64_t)evt->raw.hdr->tid, w->tid);
	assert_int_equal(param_of(evt, SLICE_P_KIND), w->kind);
	assert_int_equal(param_of(evt, SLICE_P_BEGIN), T0 + w->from * MS);
	assert_int_equal(param_of(evt, SLICE_P_NS), (w->to - w->from) * MS);
	assert_int_equal((int64_t)param_of(evt, SLICE_P_WAKER), w->waker);
	assert_int_equal((int64_t)param_of(evt, SLICE_P_BEHIND), w->behind);
	assert_int_equal(param_of(evt, SLICE_P_OPEN), w->open);
}

static struct sinsp *open_fake(struct scap_fake *f)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .derive = SINSP_DERIVE_SLICES};
	struct scap *src;
	struct sinsp *s;

	assert_int_equal(scap_fake_open(&src, f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	return s;
}

/* Checks the slices of one thread, or of all (0). */
static struct sinsp *check_of(struct scap_fake *f, int64_t tid, const struct want *w, size_t n)
{
	struct sinsp *s = open_fake(f);
	struct sinsp_evt evt;
	size_t i = 0;
	int r;

	while ((r = sinsp_next(s, &evt, 0)) == 1) {
		if (evt.raw.type != EVT_SLICE_E || (tid && (int64_t)evt.raw.hdr->tid != tid))
			continue;
		if (i == n)
			fail_msg("slice %d of %d at %d ms is too much",
				 (int)param_of(&evt, SLICE_P_KIND), (int)evt.raw.hdr->tid,
				 (int)((param_of(&evt, SLICE_P_BEGIN) - T0) / MS));
		check_slice(&evt, &w[i++]);
	}
	assert_int_equal(r, -ENODATA);
	assert_int_equal(i, n);
	return s;
}

#define CHECK(f, tid, ...)                                                                         \
	sinsp_close(check_of(f, tid, (const struct want[]){__VA_ARGS__},                           \
			     sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want)))

/* A wait in a call, its waker, and the wait for the CPU behind another thread. */
static void test_wait(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	sleeps(f, 5, 0, 10, 11, NR_FUTEX, 0x7000);
	wakes(f, 30, 12, 10);
	leaves(f, 40, 0, 11, 10, RUN);
	leaves(f, 50, 0, 10, IDLE, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_LOCK, 5, 30, 12, -1, 0},
	      {10, SLICE_RUNNABLE, 30, 40, -1, 11, 0}, {10, SLICE_RUNNING, 40, 50, -1, -1, 0});
}

/* Thread 11 has the CPU for most of the wait, before many short turns of others. */
static void test_behind_long_turn(void **state)
{
	struct scap_fake *f = new_fake();
	const uint64_t end = 400 + 2 * 90;

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 5, 0, 10, 11, RUN);
	leaves(f, 400, 0, 11, 12, SLEEP);
	for (uint64_t ms = 402; ms <= end; ms += 2)
		leaves(f, ms, 0, (int64_t)ms / 2 % 2 ? 12 : 12 + (int64_t)ms,
		       ms == end         ? 10
		       : ms / 2 % 2 == 0 ? 12
					 : 14 + (int64_t)ms,
		       SLEEP);
	leaves(f, end + 1, 0, 10, IDLE, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, end, -1, 11, 0},
	      {10, SLICE_RUNNING, end, end + 1, -1, -1, 0});
}

/* Threads 11 and 12 take turns: the longer ones count, also those that are long ago. */
static void test_behind_many_turns(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 5, 0, 10, 11, RUN);
	for (uint64_t ms = 5; ms < 905; ms += 9) {
		leaves(f, ms + 6, 0, 11, 12, RUN);
		leaves(f, ms + 9, 0, 12, ms + 9 < 905 ? 11 : 10, RUN);
	}
	leaves(f, 910, 0, 10, IDLE, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 905, -1, 11, 0},
	      {10, SLICE_RUNNING, 905, 910, -1, -1, 0});
}

/* Of a thread that another CPU took over, the one that ran where it was counts. */
static void test_behind_on_other_cpu(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 1, IDLE, 12, RUN);
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 5, 0, 10, 11, RUN);
	leaves(f, 95, 0, 11, 13, RUN);
	leaves(f, 98, 1, 12, IDLE, SLEEP);
	leaves(f, 99, 1, IDLE, 10, RUN);
	leaves(f, 100, 1, 10, IDLE, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 99, -1, 12, 0},
	      {10, SLICE_RUNNING, 99, 100, -1, -1, 0});
	f = new_fake();
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 5, 0, 10, 11, RUN);
	leaves(f, 95, 0, 11, 13, RUN);
	leaves(f, 80, 1, IDLE, 12, RUN);
	leaves(f, 99, 1, 12, 10, RUN);
	leaves(f, 100, 1, 10, IDLE, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 99, -1, 11, 0},
	      {10, SLICE_RUNNING, 99, 100, -1, -1, 0});
}

/* No thread ran for much of the wait: none is named. */
static void test_behind_nobody(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 5, 0, 10, 20, RUN);
	for (int64_t i = 0; i < 9; i++)
		leaves(f, 10 + 5 * (uint64_t)i, 0, 20 + i, i < 8 ? 21 + i : 10, SLEEP);
	leaves(f, 60, 0, 10, IDLE, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 50, -1, -1, 0},
	      {10, SLICE_RUNNING, 50, 60, -1, -1, 0});
}

static void test_lock_address(void **state)
{
	struct scap_fake *f = new_fake();
	struct sinsp_evt evt;
	struct sinsp *s;
	int found = 0;

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	sleeps(f, 5, 0, 10, IDLE, NR_FUTEX, 0x7000);
	wakes(f, 30, 12, 10);
	s = open_fake(f);
	while (sinsp_next(s, &evt, 0) == 1)
		if (evt.raw.type == EVT_SLICE_E && param_of(&evt, SLICE_P_KIND) == SLICE_LOCK) {
			assert_int_equal(param_of(&evt, SLICE_P_LOCK), 0x7000);
			assert_int_equal(param_of(&evt, SLICE_P_CALL), NR_FUTEX);
			assert_string_equal((const char *)evt.params.v[SLICE_P_WAKER_COMM].p,
					    "twelve");
			found++;
		}
	assert_int_equal(found, 1);
	sinsp_close(s);
}

/* The owner of a mutex is another thread of the process, or none. */
static void test_owner(void **state)
{
	static const struct {
		int64_t number, want; /* 0: no owner */
	} rows[] = {{11, 11}, {10, 0}, {99, 0}, {13, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static const int64_t tids[][2] = {{10, 10}, {11, 10}, {13, 13}};
		struct scap_fake *f = scap_fake_new();
		struct sinsp_evt evt;
		struct sinsp *s;
		int found = 0;

		for (size_t k = 0; k < 3; k++)
			assert_int_equal(
				scap_state_build_thread(
					scap_fake_state(f),
					&(struct scap_thread_info){.tid = tids[k][0],
								   .pid = tids[k][1],
								   .ptid = 1,
								   .comm = "owner",
								   .flags = k == 1 ? 1 << 13 : 0}),
				0);
		leaves(f, 0, 0, IDLE, 10, RUN);
		assert_int_equal(scap_fake_add(f, T0 + 5 * MS, 0, 10, EVT_SWITCH_E, 11, IDLE, I(0),
					       I(0), I(0), I(0), I(0), I(0), I(SLEEP), I(NR_FUTEX),
					       I(0x7000), rows[i].number),
				 0);
		leaves(f, 30, 0, IDLE, 13, RUN);
		s = open_fake(f);
		while (sinsp_next(s, &evt, 0) == 1) {
			if (evt.raw.type != EVT_SLICE_E ||
			    param_of(&evt, SLICE_P_KIND) != SLICE_LOCK)
				continue;
			found++;
			if (!rows[i].want) {
				assert_int_equal(evt.params.v[SLICE_P_OWNER].len, 0);
				continue;
			}
			assert_int_equal(param_of(&evt, SLICE_P_OWNER), rows[i].want);
			assert_string_equal((const char *)evt.params.v[SLICE_P_OWNER_COMM].p,
					    "owner");
		}
		assert_int_equal(found, 1);
		sinsp_close(s);
	}
}

/* A thread that is preempted inside a call is runnable. */
static void test_preempted(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	assert_int_equal(scap_fake_add(f, T0 + 2 * MS, 0, I(10), EVT_READ_E, 2, I(3), I(10)), 0);
	leaves(f, 5, 0, 10, 11, RUN);
	leaves(f, 9, 0, 11, 10, SLEEP);
	leaves(f, 12, 0, 10, IDLE, SLEEP);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 9, -1, 11, 0},
	      {10, SLICE_RUNNING, 9, 12, -1, -1, 0});
}

/* The waker is faster than the switch: no time is blocked. */
static void test_woken_early(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	wakes(f, 4, 12, 10);
	sleeps(f, 5, 0, 10, 11, NR_FUTEX, 0x7000);
	leaves(f, 9, 0, 11, 10, SLEEP);
	/* A wake-up that did not end a sleep: another one ends the next. */
	wakes(f, 10, 12, 10);
	sleeps(f, 20, 0, 10, IDLE, NR_NANOSLEEP, 0);
	wakes(f, 30, 0, 10);
	leaves(f, 31, 0, IDLE, 10, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 9, -1, 11, 0},
	      {10, SLICE_RUNNING, 9, 20, -1, -1, 0}, {10, SLICE_SLEEP, 20, 30, 0, -1, 0},
	      {10, SLICE_RUNNABLE, 30, 31, -1, 0, 0});
}

static void loses(struct scap_fake *f, uint64_t ms, uint64_t to_ms)
{
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, 0, I(-1), EVT_LOST_E, 5, I(0), I(7), "",
				       T0 + ms * MS, T0 + to_ms * MS),
			 0);
}

/* After a loss, what a thread did is unknown until its next event behind the loss. */
static void test_lost(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	sleeps(f, 5, 0, 10, IDLE, NR_NANOSLEEP, 0);
	loses(f, 10, 20);
	leaves(f, 15, 0, IDLE, 10, RUN); /* within the loss: nothing follows from it */
	sleeps(f, 30, 0, 10, IDLE, NR_NANOSLEEP, 0);
	wakes(f, 40, 0, 10);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_SLEEP, 5, 10, -1, -1, 0},
	      {10, SLICE_UNKNOWN, 10, 15, -1, -1, 0}, {10, SLICE_UNKNOWN, 15, 30, -1, -1, 0},
	      {10, SLICE_SLEEP, 30, 40, 0, -1, 0});
}

/* A switch away that is missing without a report of a loss. */
static void test_missing_switch(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 10, 0, 11, IDLE, SLEEP); /* 10 left, 11 came */
	leaves(f, 20, 0, IDLE, 10, RUN);
	leaves(f, 25, 0, 10, IDLE, SLEEP);
	CHECK(f, 10, {10, SLICE_UNKNOWN, 0, 20, -1, -1, 0}, {10, SLICE_RUNNING, 20, 25, -1, -1, 0});
}

/* A call that was under way when the capture began, and an exit while blocked. */
static void test_killed(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	sleeps(f, 5, 0, 10, 11, NR_WAIT4, 0);
	wakes(f, 50, 11, 10);
	leaves(f, 51, 1, IDLE, 10, RUN);
	assert_int_equal(scap_fake_add(f, T0 + 52 * MS, 1, I(10), EVT_PROCEXIT_E, 5, I(9), I(0),
				       I(9), I(0), I(0)),
			 0);
	leaves(f, 53, 1, 10, IDLE, DEAD);
	leaves(f, 60, 0, 11, IDLE, SLEEP);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_CHILD, 5, 50, 11, -1, 0},
	      {10, SLICE_RUNNABLE, 50, 51, -1, -1, 0}, {10, SLICE_RUNNING, 51, 53, -1, -1, 0});
}

/* What goes on at the end is marked. */
static void test_open(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	sleeps(f, 5, 0, 10, 11, NR_EPOLL_WAIT, 4);
	leaves(f, 30, 0, 11, IDLE, DISK);
	leaves(f, 40, 0, IDLE, 12, RUN);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_POLL, 5, 40, -1, -1, 1});
}

/* The last slices come in the order of TIDs, whatever the seed of the table is. */
static void test_order_at_the_end(void **state)
{
	struct scap_fake *f = new_fake();
	struct sinsp_evt evt;
	struct sinsp *s;
	int64_t last = 0;
	int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 200; i++)
		leaves(f, i, 0, 1000 + (int)(i * 37 % 200), 1000 + (int)((i + 1) * 37 % 200),
		       SLEEP);
	s = open_fake(f);
	while (sinsp_next(s, &evt, 0) == 1) {
		if (evt.raw.type != EVT_SLICE_E || !param_of(&evt, SLICE_P_OPEN))
			continue;
		assert_true((int64_t)evt.raw.hdr->tid > last);
		last = (int64_t)evt.raw.hdr->tid;
		n++;
	}
	assert_int_equal(n, 198); /* two did nothing else at the end */
	sinsp_close(s);
}

static void test_page_fault(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 11, RUN);
	leaves(f, 3, 0, 11, IDLE, DISK);
	wakes(f, 7, 0, 11);
	CHECK(f, 11, {11, SLICE_RUNNING, 0, 3, -1, -1, 0}, {11, SLICE_PAGE_FAULT, 3, 7, 0, -1, 0});
}

/* A signal stops a thread wherever it is, also in the middle of a wait. */
static void test_stopped(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 11, RUN);
	leaves(f, 3, 0, 11, IDLE, STOPPED);
	wakes(f, 7, 0, 11);
	leaves(f, 8, 0, IDLE, 11, RUN);
	leaves(f, 9, 0, 11, IDLE, TRACED);
	leaves(f, 12, 0, IDLE, 11, RUN);
	leaves(f, 13, 0, 11, IDLE, THROTTLED);
	leaves(f, 20, 0, IDLE, 11, RUN);
	CHECK(f, 11, {11, SLICE_RUNNING, 0, 3, -1, -1, 0}, {11, SLICE_STOPPED, 3, 7, 0, -1, 0},
	      {11, SLICE_RUNNABLE, 7, 8, -1, 0, 0}, {11, SLICE_RUNNING, 8, 9, -1, -1, 0},
	      {11, SLICE_STOPPED, 9, 12, -1, -1, 0}, {11, SLICE_RUNNING, 12, 13, -1, -1, 0},
	      {11, SLICE_THROTTLED, 13, 20, -1, -1, 0});
}

/* A thread of a process execs: it continues under the TID of the leader. */
static void test_exec_of_other(void **state)
{
	struct scap_fake *f = new_fake();
	const struct scap_thread_info t = {.tid = 20,
					   .pid = 10,
					   .ptid = 1,
					   .comm = "ten",
					   .flags = SINSP_CL_THREAD | SINSP_CL_FILES | SINSP_CL_FS,
					   .snapshot_ns = T0};

	(void)state;
	assert_int_equal(scap_state_build_thread(scap_fake_state(f), &t), 0);
	/* A record of the driver: events of saker. */
	assert_int_equal(scap_fake_add_call(f, T0, T0 + 1, 1, I(12), EVT_CLOSE_X, 2, I(0), I(3)),
			 0);
	leaves(f, 0, 0, IDLE, 20, RUN);
	assert_int_equal(scap_fake_add(f, T0 + 1 * MS, 0, I(20), EVT_EXECVE_E, 1, "/bin/new"), 0);
	assert_int_equal(scap_fake_add(f, T0 + 9 * MS, 0, I(10), EVT_EXECVE_X, 20, I(0), "new", "",
				       I(0), I(10), I(10), I(1), "", I(1024), I(0), I(0), I(0),
				       I(0), I(0), "new", "", I(0), "", I(0), I(0), I(0), I(0),
				       I(0)),
			 0);
	leaves(f, 12, 0, 10, IDLE, SLEEP);
	CHECK(f, 0, {20, SLICE_RUNNING, 0, 9, -1, -1, 0}, {10, SLICE_RUNNING, 9, 12, -1, -1, 0});
}

/* A CPU goes offline: its threads continue elsewhere. */
static void test_cpu_offline(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 1, IDLE, 10, RUN);
	leaves(f, 5, 1, 10, 11, RUN);
	assert_int_equal(scap_fake_add(f, T0 + 6 * MS, 0, I(12), EVT_CPU_HOTPLUG_E, 2, I(1), I(2)),
			 0);
	leaves(f, 8, 0, IDLE, 10, RUN);
	leaves(f, 9, 0, 10, IDLE, SLEEP);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 5, -1, -1, 0}, {10, SLICE_RUNNABLE, 5, 8, -1, -1, 0},
	      {10, SLICE_RUNNING, 8, 9, -1, -1, 0});
}

/* Switches of sysdig have no state: time off the CPU is unknown. */
static void test_without_state(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(scap_fake_add(f, T0 + (uint64_t)(10 * i) * MS, 0,
					       I(i & 1 ? 10 : 0), EVT_SWITCH_E, 6,
					       I(i & 1 ? 0 : 10), I(0), I(0), I(0), I(0), I(0)),
				 0);
	CHECK(f, 10, {10, SLICE_RUNNING, 0, 10, -1, -1, 0}, {10, SLICE_UNKNOWN, 10, 20, -1, -1, 0});
}

/* A file that has slices: none is derived again. */
static void test_has_slices(void **state)
{
	struct scap_fake *f = new_fake();
	const uint64_t *sums;
	struct sinsp_evt evt;
	struct sinsp *s;
	int n = 0;

	(void)state;
	leaves(f, 0, 0, IDLE, 11, RUN);
	assert_int_equal(scap_fake_add(f, T0, 0, I(-1), EVT_DERIVED_E, 1, I(SINSP_DERIVE_SLICES)),
			 0);
	for (uint64_t i = 0; i < 20; i++) {
		leaves(f, 2 * i, 0, IDLE, 10, RUN);
		leaves(f, 2 * i + 1, 0, 10, IDLE, SLEEP);
		assert_int_equal(scap_fake_add(f, T0 + (2 * i + 1) * MS, 0, I(10), EVT_SLICE_E, 3,
					       I(SLICE_RUNNING), T0 + 2 * i * MS, MS),
				 0);
	}
	s = open_fake(f);
	while (sinsp_next(s, &evt, 0) == 1)
		n += evt.raw.type == EVT_SLICE_E;
	assert_int_equal(n, 20);
	sums = sinsp_thread_find(s, 10)->slice_ns;
	assert_int_equal(sums[SLICE_SUM_RUNNING], 20 * MS);
	assert_int_equal(sums[SLICE_SUM_UNKNOWN], 0);
	sinsp_close(s);
}

enum { NR_POLL = 7 };
enum { PIPE_FD = 3, EVENT_FD = 5, SOCKET_FD = 6, EPOLL_FD = 7 };

/* What thread 10 polls, with a timeout of 50 ms. It sleeps from 5 ms to `to`. */
struct poll_row {
	int64_t fds[2]; /* 0: none */
	uint64_t arg, to;
	int64_t waker;
	int kind;
	int64_t fd; /* -1: none */
	int timed_out;
};

static const struct poll_row polled[] = {
	{{PIPE_FD}, 0x7000, 30, 12, SLICE_PIPE, PIPE_FD, 0},
	{{PIPE_FD}, 0x7000, 60, 0, SLICE_PIPE, PIPE_FD, 1},
	{{PIPE_FD, PIPE_FD}, 0x7000, 30, 12, SLICE_PIPE, PIPE_FD, 0},
	{{PIPE_FD, -1}, 0x7000, 30, 12, SLICE_PIPE, PIPE_FD, 0},
	{{PIPE_FD, EVENT_FD}, 0x7000, 30, 12, SLICE_POLL, -1, 0},
	{{PIPE_FD, EVENT_FD}, 0x7000, 30, 0, SLICE_POLL, -1, 0},
	{{PIPE_FD, EVENT_FD}, 0x7000, 60, 0, SLICE_SLEEP, -1, 1},
	{{PIPE_FD, EVENT_FD}, 0x7000, 60, 12, SLICE_POLL, -1, 0},
	{{EVENT_FD}, 0x7000, 30, 12, SLICE_POLL, EVENT_FD, 0},
	{{PIPE_FD, PIPE_FD + 1}, 0x7000, 30, 12, SLICE_PIPE, -1, 0},
	{{SOCKET_FD}, 0x7000, 30, 12, SLICE_NETWORK, SOCKET_FD, 0},
	{{0}, 0, 60, 0, SLICE_SLEEP, -1, 0},
	{{0}, 0x7000, 60, 0, SLICE_POLL, -1, 1}, /* its descriptors were not in memory */
};

static void opens(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, T0, 0, 10, EVT_PIPE_X, 4, I(0), I(PIPE_FD), I(4), I(77)),
			 0);
	assert_int_equal(scap_fake_add(f, T0, 0, 10, EVT_EVENTFD_X, 1, I(EVENT_FD)), 0);
	assert_int_equal(
		scap_fake_add(f, T0, 0, 10, EVT_SOCKET_X, 5, I(SOCKET_FD), I(2), I(1), I(0), I(0)),
		0);
}

static void polls(struct scap_fake *f, uint64_t ms, const int64_t *fds)
{
	uint8_t list[2 + 2 * 10] = {0};

	for (; list[0] < 2 && fds[list[0]]; list[0]++)
		memcpy(list + 2 + 10 * list[0], &fds[list[0]], sizeof(*fds));
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, 0, 10, EVT_POLL_E, 2, (const void *)list,
				       (size_t)(2 + 10 * list[0]), I(50)),
			 0);
}

/* Returns the parameter of the slice of thread 10 that begins at @ms; UINT64_MAX: it has none. */
static uint64_t slice_value(struct scap_fake *f, uint64_t ms, unsigned int at, int *kind)
{
	struct sinsp *s = open_fake(f);
	uint64_t found = UINT64_MAX;
	struct sinsp_evt evt;

	*kind = -1;
	while (sinsp_next(s, &evt, 0) == 1) {
		if (evt.raw.type != EVT_SLICE_E || evt.raw.hdr->tid != 10 ||
		    param_of(&evt, SLICE_P_BEGIN) != T0 + ms * MS)
			continue;
		*kind = (int)param_of(&evt, SLICE_P_KIND);
		found = param_of(&evt, at);
	}
	sinsp_close(s);
	return found;
}

static void test_poll(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(polled) / sizeof(polled[0]); i++) {
		const struct poll_row *row = &polled[i / 2];
		struct scap_fake *f = new_fake();
		int kind;
		uint64_t v;

		opens(f);
		leaves(f, 0, 0, IDLE, 10, RUN);
		polls(f, 4, row->fds);
		sleeps(f, 5, 0, 10, IDLE, NR_POLL, row->arg);
		wakes(f, row->to, row->waker, 10);
		v = slice_value(f, 5, i % 2 ? SLICE_P_FD : SLICE_P_TIMED_OUT, &kind);
		assert_int_equal(kind, row->kind);
		assert_int_equal((int64_t)v, i % 2 ? row->fd : row->timed_out);
	}
}

/* A poll whose enter is not the last one of the thread has unknown descriptors. */
static void test_poll_without_enter(void **state)
{
	struct scap_fake *f = new_fake();
	int kind;

	(void)state;
	opens(f);
	leaves(f, 0, 0, IDLE, 10, RUN);
	polls(f, 1, (const int64_t[]){PIPE_FD, 0});
	assert_int_equal(scap_fake_add(f, T0 + 2 * MS, 0, 10, EVT_POLL_X, 1, I(1)), 0);
	sleeps(f, 5, 0, 10, IDLE, NR_POLL, 0x7000);
	wakes(f, 30, 12, 10);
	assert_int_equal((int64_t)slice_value(f, 5, SLICE_P_FD, &kind), -1);
	assert_int_equal(kind, SLICE_POLL);
}

/* A connect that does not block, and what thread 10 polls then. */
static void test_connecting(void **state)
{
	static const int results[] = {-115, 0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		static const uint8_t tuple[] = {2, 127, 0, 0, 1, 9, 9, 127, 0, 0, 1, 80, 0};
		struct scap_fake *f = new_fake();
		int kind;

		opens(f);
		assert_int_equal(scap_fake_add(f, T0 + 1, 0, 10, EVT_CONNECT_E, 1, I(SOCKET_FD)),
				 0);
		assert_int_equal(scap_fake_add(f, T0 + 2, 0, 10, EVT_CONNECT_X, 3, I(results[i]),
					       (const void *)tuple, sizeof(tuple), I(SOCKET_FD)),
				 0);
		leaves(f, 1, 0, IDLE, 10, RUN);
		polls(f, 4, (const int64_t[]){SOCKET_FD, 0});
		sleeps(f, 5, 0, 10, IDLE, NR_POLL, 0x7000);
		wakes(f, 55, 0, 10);
		assert_int_equal(slice_value(f, 5, SLICE_P_CONNECTING, &kind), !i);
		assert_int_equal(kind, SLICE_NETWORK);
	}
}

static void changes_set(struct scap_fake *f, uint64_t ms, int op, int64_t fd, uint64_t events)
{
	assert_int_equal(scap_fake_add(f, T0 + ms * MS, 0, 10, EVT_EPOLL_CTL_X, 6, I(0),
				       I(EPOLL_FD), I(op), fd, events, I(0)),
			 0);
}

/* Of a set from before the capture, the connects are known that were added since. */
static void test_connect_in_older_set(void **state)
{
	static const uint8_t tuple[] = {2, 127, 0, 0, 1, 9, 9, 127, 0, 0, 1, 80, 0};
	struct scap_fake *f = new_fake();
	int kind;

	(void)state;
	opens(f);
	changes_set(f, 1, 1, SOCKET_FD, 1);
	assert_int_equal(scap_fake_add(f, T0 + 1 * MS + 1, 0, 10, EVT_CONNECT_E, 1, I(SOCKET_FD)),
			 0);
	assert_int_equal(scap_fake_add(f, T0 + 1 * MS + 2, 0, 10, EVT_CONNECT_X, 3, I(-115),
				       (const void *)tuple, sizeof(tuple), I(SOCKET_FD)),
			 0);
	leaves(f, 2, 0, IDLE, 10, RUN);
	assert_int_equal(
		scap_fake_add(f, T0 + 4 * MS, 0, 10, EVT_EPOLL_WAIT_E, 3, I(8), I(EPOLL_FD), I(50)),
		0);
	sleeps(f, 5, 0, 10, IDLE, NR_EPOLL_WAIT, EPOLL_FD);
	wakes(f, 30, 12, 10);
	assert_int_equal(slice_value(f, 5, SLICE_P_CONNECTING, &kind), SLICE_CONNECTS_LIKELY);
	assert_int_equal(kind, SLICE_POLL);
}

/* A set of epoll with one descriptor is that one, until another one is in it. */
static void test_epoll(void **state)
{
	enum { ADD = 1, DEL = 2 };
	static const struct {
		int create, op;
		int64_t fd;
		uint64_t events;
		int64_t closed;
		int kind;
	} rows[] = {
		{1, 0, 0, 0, 0, SLICE_PIPE},
		{0, 0, 0, 0, 0, SLICE_POLL},
		{1, ADD, EVENT_FD, 1, 0, SLICE_POLL},
		{1, ADD, EVENT_FD, 1, EVENT_FD, SLICE_PIPE},
		{1, DEL, PIPE_FD, 0, 0, SLICE_SLEEP},
		{1, ADD, EVENT_FD, 1u << 30, EVENT_FD, SLICE_POLL}, /* EPOLLONESHOT */
		{1, 0, 0, 0, EPOLL_FD, SLICE_POLL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_fake *f = new_fake();
		int kind;

		opens(f);
		if (rows[i].create)
			assert_int_equal(scap_fake_add(f, T0 + 1, 0, 10, EVT_EPOLL_CREATE1_X, 2,
						       I(EPOLL_FD), I(0)),
					 0);
		changes_set(f, 1, ADD, PIPE_FD, 1);
		if (rows[i].op)
			changes_set(f, 2, rows[i].op, rows[i].fd, rows[i].events);
		if (rows[i].closed)
			assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_CLOSE_X, 2, I(0),
						       rows[i].closed),
					 0);
		leaves(f, 3, 0, IDLE, 10, RUN);
		assert_int_equal(scap_fake_add(f, T0 + 4 * MS, 0, 10, EVT_EPOLL_WAIT_E, 3, I(8),
					       I(EPOLL_FD), I(50)),
				 0);
		sleeps(f, 5, 0, 10, IDLE, NR_EPOLL_WAIT, EPOLL_FD);
		wakes(f, 30, 12, 10);
		slice_value(f, 5, SLICE_P_FD, &kind);
		assert_int_equal(kind, rows[i].kind);
	}
}

/* Sets from before the capture, however many, leave room for a new one. */
static void test_epoll_many_older(void **state)
{
	struct scap_fake *f = new_fake();
	int kind;

	(void)state;
	opens(f);
	for (int64_t i = 0; i < 2 * SINSP_WATCH_SETS; i++)
		assert_int_equal(scap_fake_add(f, T0 + 1, 0, 10, EVT_EPOLL_CTL_X, 6, I(0),
					       I(1000 + i), I(1), I(PIPE_FD), I(1), I(0)),
				 0);
	assert_int_equal(scap_fake_add(f, T0 + 2, 0, 10, EVT_EPOLL_CREATE1_X, 2, I(EPOLL_FD), I(0)),
			 0);
	changes_set(f, 1, 1, PIPE_FD, 1);
	leaves(f, 3, 0, IDLE, 10, RUN);
	assert_int_equal(
		scap_fake_add(f, T0 + 4 * MS, 0, 10, EVT_EPOLL_WAIT_E, 3, I(8), I(EPOLL_FD), I(50)),
		0);
	sleeps(f, 5, 0, 10, IDLE, NR_EPOLL_WAIT, EPOLL_FD);
	wakes(f, 30, 12, 10);
	slice_value(f, 5, SLICE_P_FD, &kind);
	assert_int_equal(kind, SLICE_PIPE);
}

/* Adds an event after which the set of epoll, which has a pipe and an eventfd, is another one. */
static void replaces_eventfd(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_DUP2_X, 3, I(EVENT_FD),
				       I(SOCKET_FD), I(EVENT_FD)),
			 0);
}

static void replaces_set(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_DUP3_X, 4, I(EPOLL_FD),
				       I(SOCKET_FD), I(EPOLL_FD), I(0)),
			 0);
}

static void duplicates_onto_itself(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_DUP2_X, 3, I(PIPE_FD), I(PIPE_FD),
				       I(PIPE_FD)),
			 0);
	changes_set(f, 3, 2, EVENT_FD, 0);
}

static void closes_range(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_CLOSE_RANGE_X, 4, I(0), I(4),
				       I(SOCKET_FD), I(0)),
			 0);
}

static void marks_range(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_CLOSE_RANGE_X, 4, I(0), I(4),
				       I(SOCKET_FD), I(4)), /* CLOSE_RANGE_CLOEXEC */
			 0);
}

static void executes(struct scap_fake *f)
{
	changes_set(f, 2, 2, EVENT_FD, 0);
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_EXECVE_X, 1, I(0)), 0);
}

static void fails_to_execute(struct scap_fake *f)
{
	changes_set(f, 2, 2, EVENT_FD, 0);
	assert_int_equal(scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_EXECVE_X, 1, I(-ENOENT)), 0);
}

static void misses_changes(struct scap_fake *f)
{
	changes_set(f, 2, 2, EVENT_FD, 0);
	loses(f, 3, 3);
}

static void is_created_again(struct scap_fake *f)
{
	assert_int_equal(
		scap_fake_add(f, T0 + 3 * MS, 0, 10, EVT_EPOLL_CREATE1_X, 2, I(EPOLL_FD), I(0)), 0);
}

static void test_epoll_replaced(void **state)
{
	static const struct {
		void (*change)(struct scap_fake *f);
		int kind;
	} rows[] = {
		{replaces_eventfd, SLICE_PIPE},
		{replaces_set, SLICE_POLL},
		{duplicates_onto_itself, SLICE_PIPE},
		{closes_range, SLICE_PIPE},
		{marks_range, SLICE_POLL},
		{executes, SLICE_POLL},
		{fails_to_execute, SLICE_PIPE},
		{misses_changes, SLICE_POLL},
		{is_created_again, SLICE_POLL}, /* its changes may not be recorded */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_fake *f = new_fake();
		int kind;

		opens(f);
		assert_int_equal(
			scap_fake_add(f, T0 + 1, 0, 10, EVT_EPOLL_CREATE1_X, 2, I(EPOLL_FD), I(0)),
			0);
		changes_set(f, 1, 1, PIPE_FD, 1);
		changes_set(f, 1, 1, EVENT_FD, 1);
		rows[i].change(f);
		leaves(f, 3, 0, IDLE, 10, RUN);
		assert_int_equal(scap_fake_add(f, T0 + 4 * MS, 0, 10, EVT_EPOLL_WAIT_E, 3, I(8),
					       I(EPOLL_FD), I(50)),
				 0);
		sleeps(f, 5, 0, 10, IDLE, NR_EPOLL_WAIT, EPOLL_FD);
		wakes(f, 30, 12, 10);
		slice_value(f, 5, SLICE_P_FD, &kind);
		if (kind != rows[i].kind)
			fail_msg("row %zu has kind %d", i, kind);
	}
}

/* Lists of poll are cut at 16 descriptors: then there may be others. */
static void test_poll_cut(void **state)
{
	static const struct {
		int n_pipes, n, kind;
	} rows[] = {
		{1, 15, SLICE_PIPE}, {1, 16, SLICE_POLL},  {2, 16, SLICE_POLL},
		{0, 16, SLICE_POLL}, {16, 16, SLICE_POLL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_fake *f = new_fake();
		uint8_t list[2 + 16 * 10] = {(uint8_t)rows[i].n};
		int kind;

		opens(f);
		for (int k = 0; k < rows[i].n; k++) {
			const int64_t fd = k < rows[i].n_pipes ? PIPE_FD + k % 2 : -1;

			memcpy(list + 2 + 10 * k, &fd, sizeof(fd));
		}
		leaves(f, 0, 0, IDLE, 10, RUN);
		assert_int_equal(scap_fake_add(f, T0 + 4 * MS, 0, 10, EVT_POLL_E, 2,
					       (const void *)list, (size_t)(2 + 10 * rows[i].n),
					       I(50)),
				 0);
		sleeps(f, 5, 0, 10, IDLE, NR_POLL, 0x7000);
		wakes(f, 30, 12, 10);
		slice_value(f, 5, SLICE_P_FD, &kind);
		if (kind != rows[i].kind)
			fail_msg("row %zu has kind %d", i, kind);
	}
}

/* Files of other tools have longer lists: of 257 pending connects none is the only one. */
static void test_poll_of_many_connects(void **state)
{
	enum { N = 257, FD = 1000 };
	static const uint8_t tuple[] = {2, 127, 0, 0, 1, 9, 9, 127, 0, 0, 1, 80, 0};
	struct scap_fake *f = new_fake();
	uint8_t list[2 + N * 10] = {N & 0xff, N >> 8};
	int kind;

	(void)state;
	for (int64_t i = 0; i < N; i++) {
		const int64_t fd = FD + i;

		memcpy(list + 2 + 10 * i, &fd, sizeof(fd));
		assert_int_equal(
			scap_fake_add(f, T0, 0, 10, EVT_SOCKET_X, 5, fd, I(2), I(1), I(0), I(0)),
			0);
		assert_int_equal(scap_fake_add(f, T0 + 1, 0, 10, EVT_CONNECT_E, 1, fd), 0);
		assert_int_equal(scap_fake_add(f, T0 + 2, 0, 10, EVT_CONNECT_X, 3, I(-115),
					       (const void *)tuple, sizeof(tuple), fd),
				 0);
	}
	leaves(f, 1, 0, IDLE, 10, RUN);
	assert_int_equal(scap_fake_add(f, T0 + 4 * MS, 0, 10, EVT_POLL_E, 2, (const void *)list,
				       sizeof(list), I(50)),
			 0);
	sleeps(f, 5, 0, 10, IDLE, NR_POLL, 0x7000);
	wakes(f, 30, 12, 10);
	assert_int_equal(slice_value(f, 5, SLICE_P_CONNECTING, &kind), 0);
	assert_int_equal(kind, SLICE_POLL);
}

/* A thread that looks for an ended child, and sleeps if there is none. */
static void test_polled_child(void **state)
{
	static const struct {
		int64_t result, pid, want;
	} rows[] = {{0, 11, 11}, {0, -1, 0}, {11, 11, -1}, {-10, 11, -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_fake *f = new_fake();
		int kind;

		leaves(f, 0, 0, IDLE, 10, RUN);
		assert_int_equal(scap_fake_add(f, T0 + 1 * MS, 0, 10, EVT_WAIT4_X, 7,
					       rows[i].result, I(0), I(0), I(0), I(0), rows[i].pid,
					       I(1)),
				 0);
		sleeps(f, 2, 0, 10, IDLE, NR_FUTEX, 0x7000);
		wakes(f, 3, 12, 10);
		leaves(f, 4, 0, IDLE, 10, RUN);
		sleeps(f, 5, 0, 10, IDLE, NR_NANOSLEEP, 0);
		wakes(f, 30, 0, 10);
		assert_int_equal((int64_t)slice_value(f, 5, SLICE_P_CHILD, &kind), rows[i].want);
		assert_int_equal(kind, SLICE_SLEEP);
	}
}

/* Random events, some of which contradict others: slices tile, and the sums are their sums. */

enum { N_TIDS = 40, N_CPUS = 4 };

static void random_event(struct scap_fake *f, uint64_t ms)
{
	static const int states[] = {RUN, RUN, SLEEP, SLEEP, DISK, DEAD};
	const int64_t tid = rand() % N_TIDS, other = rand() % N_TIDS;
	const unsigned int cpu = (unsigned int)rand() % N_CPUS;

	switch (rand() % 12) {
	case 0:
	case 1:
	case 2:
		wakes(f, ms, other, tid ? tid : 1);
		break;
	case 3:
		if (rand() % 30 == 0)
			loses(f, ms, ms + (uint64_t)(rand() % 20));
		break;
	case 4:
	case 5:
		sleeps(f, ms, cpu, tid, other, NR_FUTEX, 64);
		break;
	default:
		leaves(f, ms, cpu, tid, other, states[rand() % 6]);
	}
}

static void check_tiles(struct sinsp *s)
{
	static uint64_t end[N_TIDS], died[N_TIDS];
	static uint64_t all[N_TIDS];
	struct sinsp_evt evt;
	int n = 0;

	memset(end, 0, sizeof(end));
	memset(died, 0, sizeof(died));
	memset(all, 0, sizeof(all));
	while (sinsp_next(s, &evt, 0) == 1) {
		uint64_t from, ns;
		int64_t tid = (int64_t)evt.raw.hdr->tid;

		/* The thread ends with its last switch; its last slice follows, and then the TID
		 * may begin again. */
		if (evt.raw.type == EVT_SWITCH_E && evt.params.v[7].p[0] == DEAD) {
			if (died[tid])
				end[tid] = 0;
			died[tid] = evt.raw.ts_ns;
		}
		if (evt.raw.type != EVT_SLICE_E)
			continue;
		n++;
		from = param_of(&evt, SLICE_P_BEGIN);
		ns = param_of(&evt, SLICE_P_NS);
		assert_true(ns > 0);
		if (died[tid] && from >= died[tid])
			end[tid] = died[tid] = 0;
		if (end[tid])
			assert_int_equal(from, end[tid]);
		end[tid] = from + ns;
		all[tid] += ns;
	}
	assert_true(n > 1000);
	for (int64_t tid = 1; tid < N_TIDS; tid++) {
		const uint64_t *sums = sinsp_thread_find(s, tid)->slice_ns;

		assert_int_equal(sums[0] + sums[1] + sums[2] + sums[3], all[tid]);
	}
}

#ifdef __SANITIZE_ADDRESS__
#define SEEDS 2 /* a hundred times slower */
#else
#define SEEDS 20
#endif

static void test_tiles(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		struct scap_fake *f = scap_fake_new();
		struct sinsp *s;

		srand(seed);
		for (uint64_t tid = 1; tid < N_TIDS; tid++)
			has_thread(f, tid, "any");
		for (uint64_t ms = 0; ms < 5000; ms++)
			random_event(f, ms);
		s = open_fake(f);
		check_tiles(s);
		sinsp_close(s);
	}
}

/* A thread that tries to lock a file, or for which a path is not there, or is, and then sleeps. */
static void test_polled(void **state)
{
	static const struct {
		int64_t lock, open; /* results; 1: it is not called */
		uint32_t nr;
		const char *want, *call;
		int64_t error;
	} rows[] = {{-11, 1, NR_NANOSLEEP, "/db", "fcntl", -11},
		    {0, 1, NR_NANOSLEEP, NULL, NULL, 0},
		    {-11, 1, NR_READ, NULL, NULL, 0},
		    {1, -17, NR_NANOSLEEP, "/lock", "openat", -17},
		    {1, 9, NR_NANOSLEEP, NULL, NULL, 0},
		    {-11, -17, NR_NANOSLEEP, "/lock", "openat", -17},
		    {-11, 9, NR_NANOSLEEP, NULL, NULL, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_fake *f = new_fake();
		struct sinsp_evt evt;
		struct sinsp *s;
		int n = 0;

		assert_int_equal(scap_fake_add(f, T0, 0, 10, EVT_OPENAT_X, 7, I(8), I(-100), "/db",
					       I(1), I(0), I(0), I(0)),
				 0);
		leaves(f, 0, 0, IDLE, 10, RUN);
		if (rows[i].lock != 1)
			assert_int_equal(scap_fake_add(f, T0 + 1 * MS, 0, 10, EVT_FCNTL_X, 4,
						       rows[i].lock, I(8), I(6), I(0)),
					 0);
		if (rows[i].open != 1)
			assert_int_equal(scap_fake_add(f, T0 + 2 * MS, 0, 10, EVT_OPENAT_X, 7,
						       rows[i].open, I(-100), "/lock", I(1), I(0),
						       I(0), I(0)),
					 0);
		sleeps(f, 5, 0, 10, IDLE, rows[i].nr, 0);
		wakes(f, 30, 0, 10);
		leaves(f, 31, 0, IDLE, 10, RUN);
		sleeps(f, 32, 0, 10, IDLE, NR_NANOSLEEP, 0);
		wakes(f, 40, 0, 10);
		s = open_fake(f);
		while (sinsp_next(s, &evt, 0) == 1) {
			const struct scap_param *p = evt.params.v;

			if (evt.raw.type != EVT_SLICE_E || !p[SLICE_P_POLLED].len)
				continue;
			n++;
			assert_int_equal(param_of(&evt, SLICE_P_BEGIN), T0 + 5 * MS);
			assert_string_equal((const char *)p[SLICE_P_POLLED].p, rows[i].want);
			assert_string_equal((const char *)p[SLICE_P_POLLED_CALL].p, rows[i].call);
			assert_int_equal((int64_t)param_of(&evt, SLICE_P_POLLED_RES),
					 rows[i].error);
		}
		assert_int_equal(n, rows[i].want != NULL);
		sinsp_close(s);
	}
}

static int add_open(void *ctx, const struct sinsp_evt *evt)
{
	static const struct want asleep = {10, SLICE_SLEEP, 5, 25, -1, -1, 1};

	check_slice(evt, &asleep);
	assert_int_equal(evt->thread->tid, 10);
	++*(int *)ctx;
	return 0;
}

/* A wait is seen while it goes on, as often as one looks, and has one slice when it ends. */
static void test_goes_on(void **state)
{
	struct scap_fake *f = new_fake();
	struct sinsp_evt evt;
	struct sinsp *s;
	int n_open = 0, n = 0;

	(void)state;
	leaves(f, 0, 0, IDLE, 10, RUN);
	sleeps(f, 5, 0, 10, 11, NR_NANOSLEEP, 0);
	leaves(f, 20, 0, 11, IDLE, RUN);
	wakes(f, 30, 0, 10);
	leaves(f, 31, 0, IDLE, 10, RUN);
	leaves(f, 40, 0, 10, IDLE, RUN);
	s = open_fake(f);
	while (sinsp_next(s, &evt, 0) == 1) {
		if (evt.raw.type == EVT_SWITCH_E && evt.raw.ts_ns == T0 + 20 * MS)
			for (int i = 0; i < 2; i++)
				assert_int_equal(
					sinsp_each_open_slice(s, T0 + 25 * MS, add_open, &n_open),
					0);
		n += evt.raw.type == EVT_SLICE_E && param_of(&evt, SLICE_P_KIND) == SLICE_SLEEP;
	}
	assert_int_equal(n_open, 2);
	assert_int_equal(n, 1);
	sinsp_close(s);
}

/* The call in which a thread wakes another one, and its descriptor. */
static void test_waker_call(void **state)
{
	struct scap_fake *f = new_fake();
	struct sinsp_evt evt;
	struct sinsp *s;
	int n = 0;

	(void)state;
	assert_int_equal(scap_fake_add(f, T0, 0, 12, EVT_OPENAT_X, 7, I(8), I(-100), "/freeze",
				       I(1), I(0), I(0), I(0)),
			 0);
	leaves(f, 0, 0, IDLE, 10, RUN);
	leaves(f, 5, 0, 10, IDLE, FROZEN);
	assert_int_equal(
		scap_fake_add(f, T0 + 30 * MS, 0, 10, EVT_WAKEUP_E, 3, I(12), I(NR_WRITE), I(8)),
		0);
	leaves(f, 31, 0, IDLE, 10, RUN);
	s = open_fake(f);
	while (sinsp_next(s, &evt, 0) == 1) {
		const struct scap_param *p = evt.params.v;

		if (evt.raw.type != EVT_SLICE_E || !p[SLICE_P_WAKER].len)
			continue;
		n++;
		assert_int_equal(param_of(&evt, SLICE_P_KIND), SLICE_FROZEN);
		assert_int_equal(param_of(&evt, SLICE_P_WAKER_CALL), NR_WRITE);
		assert_string_equal((const char *)p[SLICE_P_WAKER_FILE].p, "/freeze");
	}
	assert_int_equal(n, 1);
	sinsp_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_behind_long_turn),
		cmocka_unit_test(test_behind_many_turns),
		cmocka_unit_test(test_behind_on_other_cpu),
		cmocka_unit_test(test_behind_nobody),
		cmocka_unit_test(test_lock_address),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_preempted),
		cmocka_unit_test(test_woken_early),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_missing_switch),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_order_at_the_end),
		cmocka_unit_test(test_page_fault),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_exec_of_other),
		cmocka_unit_test(test_cpu_offline),
		cmocka_unit_test(test_without_state),
		cmocka_unit_test(test_has_slices),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_poll_without_enter),
		cmocka_unit_test(test_connecting),
		cmocka_unit_test(test_connect_in_older_set),
		cmocka_unit_test(test_epoll),
		cmocka_unit_test(test_epoll_many_older),
		cmocka_unit_test(test_epoll_replaced),
		cmocka_unit_test(test_poll_cut),
		cmocka_unit_test(test_poll_of_many_connects),
		cmocka_unit_test(test_polled_child),
		cmocka_unit_test(test_polled),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_waker_call),
		cmocka_unit_test(test_tiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
