/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of threads, from events made by hand. Each test also checks that slices tile. */
#include "timeline.h"

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

enum { RUN, SLEEP = 1, DISK = 2, DEAD = 32 }; /* task_states */
enum { NR_READ = 0, NR_NANOSLEEP = 35, NR_FUTEX = 202, NR_WAIT4 = 61, NR_EPOLL_WAIT = 232 };

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

static void test_page_fault(void **state)
{
	struct scap_fake *f = new_fake();

	(void)state;
	leaves(f, 0, 0, IDLE, 11, RUN);
	leaves(f, 3, 0, 11, IDLE, DISK);
	wakes(f, 7, 0, 11);
	CHECK(f, 11, {11, SLICE_RUNNING, 0, 3, -1, -1, 0}, {11, SLICE_PAGE_FAULT, 3, 7, 0, -1, 0});
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),        cmocka_unit_test(test_lock_address),
		cmocka_unit_test(test_preempted),   cmocka_unit_test(test_woken_early),
		cmocka_unit_test(test_lost),        cmocka_unit_test(test_missing_switch),
		cmocka_unit_test(test_killed),      cmocka_unit_test(test_open),
		cmocka_unit_test(test_page_fault),  cmocka_unit_test(test_exec_of_other),
		cmocka_unit_test(test_cpu_offline), cmocka_unit_test(test_without_state),
		cmocka_unit_test(test_has_slices),  cmocka_unit_test(test_tiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
