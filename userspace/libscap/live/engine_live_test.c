/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel as a source: order, account, delays, endings. Needs root and BTF. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "scap.h"
#include "shared/config.h"
#include "testing/test_main.h"

#define MS 1000000ull

/* The last thing said. */
static char said[1024];

static void hear(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	snprintf(said, sizeof(said), "%s", text);
}

static struct scap *open_live_rings(int ring_kind, uint32_t cpus_per_ring)
{
	const struct scap_open_opts o = {.sz = sizeof(o),
					 .log = hear,
					 .ring_kind = ring_kind,
					 .cpus_per_ring = cpus_per_ring};
	struct scap *s;

	if (scap_open(&s, &o))
		fail_msg("%s", said);
	return s;
}

static struct scap *open_live(void)
{
	return open_live_rings(0, 0);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* One event of the watched thread. */
struct seen {
	uint64_t ts_ns, num;
	uint16_t type, nr, flags;
};

struct watch {
	struct scap *s;
	uint64_t tid;
	struct seen *v;
	size_t n, cap;
	uint64_t last_ts, last_num, n_events, n_clamped;
};

static void note(struct watch *w, const struct scap_evt *evt)
{
	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->v = realloc(w->v, w->cap * sizeof(*w->v));
		assert_non_null(w->v);
	}
	w->v[w->n++] = (struct seen){evt->ts_ns, evt->num, evt->type, evt->nr, evt->flags};
}

/* Checks what holds for each event of every source. */
static void check(struct watch *w, const struct scap_evt *evt)
{
	struct scap_params p;

	assert_true(evt->ts_ns >= w->last_ts);
	if (!evt_is_private(evt->type))
		assert_int_equal(evt->num, ++w->last_num);
	assert_int_equal(evt->hdr->type, evt->type);
	assert_int_equal(scap_evt_params(evt->hdr, &p), 0);
	assert_int_equal(p.n, scap_event_info(evt->type)->n_params);
	w->n_clamped += !!(evt->flags & SCAP_EVT_F_CLAMPED);
	w->last_ts = evt->ts_ns;
	w->n_events++;
	if (evt->hdr->tid == w->tid)
		note(w, evt);
}

/* Reads until the source ends; it is stopped when child @pid has ended. */
static void watch_child(struct watch *w, pid_t pid)
{
	struct scap_evt evt;
	int ret, status;

	w->tid = (uint64_t)pid;
	while ((ret = scap_next(w->s, &evt, 10)) >= 0) {
		if (ret)
			check(w, &evt);
		if (pid && waitpid(pid, &status, WNOHANG) == pid) {
			assert_int_equal(status, 0);
			assert_int_equal(scap_stop(w->s), 0);
			pid = 0;
		}
	}
	assert_int_equal(ret, -ENODATA);
}

static void expect_account(const struct watch *w)
{
	struct scap_stats st;
	uint64_t dropped = 0;

	assert_int_equal(scap_stats(w->s, &st), 0);
	for (int i = 0; i < DRV_DROP_MAX; i++)
		dropped += st.dropped_by[i];
	assert_int_equal(dropped, st.n_dropped);
	assert_int_equal(st.n_seen, st.n_records + st.n_dropped);
	assert_int_equal(st.n_events, w->n_events);
	assert_int_equal(st.n_clamped, w->n_clamped);
	assert_int_equal(st.n_bad_record, 0);
	assert_true(st.n_self > 0);
}

#define N_CALLS 1000
#define NAP_NS (2 * MS)

static void child_calls(void)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	for (int i = 0; i < N_CALLS; i++)
		syscall(SYS_getppid);
	syscall(SYS_nanosleep, &nap, NULL);
	_exit(0);
}

static pid_t start(void (*fn)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		fn();
	return pid;
}

/* Each call of the child is an enter and its exit, in turn, with times of its own. */
static void expect_calls(const struct watch *w)
{
	size_t n_getppid = 0, n_nap = 0;

	for (size_t i = 1; i < w->n; i++) {
		const struct seen *e = &w->v[i - 1], *x = &w->v[i];

		if (!(x->type & 1) || x->nr == REC_NR_NONE)
			continue;
		if (x->nr == SYS_getppid || x->nr == SYS_nanosleep) {
			assert_int_equal(e->nr, x->nr);
			assert_int_equal(e->type & 1, 0);
			assert_true(x->ts_ns > e->ts_ns);
			assert_true(x->flags & SCAP_EVT_F_FULL);
		}
		n_getppid += x->nr == SYS_getppid;
		if (x->nr == SYS_nanosleep) {
			assert_int_equal(e->flags, SCAP_EVT_F_BLOCKED);
			assert_true(x->ts_ns - e->ts_ns >= NAP_NS);
			n_nap++;
		}
	}
	assert_int_equal(n_getppid, N_CALLS);
	assert_int_equal(n_nap, 1);
	/* exit_group does not return, so its enter is to be seen */
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].nr == SYS_exit_group)
			assert_false(w->v[i].flags & SCAP_EVT_F_HIDDEN);
}

/* Captures again if events were lost because a ring was full: all calls are compared. */
static void watch_calls(int ring_kind, uint32_t cpus_per_ring)
{
	struct scap_stats st;
	struct watch w;

	for (int tries = 5;;) {
		w = (struct watch){.s = open_live_rings(ring_kind, cpus_per_ring)};
		assert_true(scap_state(w.s)->n_threads > 0);
		watch_child(&w, start(child_calls));
		assert_int_equal(scap_stats(w.s, &st), 0);
		if (!--tries || !st.n_dropped)
			break;
		print_message("events were lost:");
		for (int i = 0; i < DRV_DROP_MAX; i++)
			print_message(" %llu", (unsigned long long)st.dropped_by[i]);
		print_message(" by reason; another try\n");
		free(w.v);
		scap_close(w.s);
	}
	expect_calls(&w);
	expect_account(&w);
	assert_int_equal(w.n_clamped, 0);
	free(w.v);
	scap_close(w.s);
}

static void test_calls_array(void **state)
{
	(void)state;
	watch_calls(RING_ARRAY + 1, 0);
}

static void test_calls_ringbuf(void **state)
{
	(void)state;
	watch_calls(RING_RINGBUF + 1, 0);
}

static void test_calls_perf(void **state)
{
	(void)state;
	watch_calls(RING_PERF + 1, 0);
}

static void test_calls_shared(void **state)
{
	(void)state;
	watch_calls(0, UINT32_MAX);
}

static void child_load(void)
{
	for (int i = 0; i < 300000; i++)
		syscall(SYS_getppid);
	_exit(0);
}

/* Four at once; ends when all have: a child has our descriptors, and with them keeps the driver
 * attached. */
static void child_loads(void)
{
	for (int i = 0; i < 3; i++)
		if (!fork())
			child_load();
	for (int i = 0; i < 300000; i++)
		syscall(SYS_getppid);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

/* Several CPUs at once, faster than the reader may be: order and account hold all the same, and the
 * kernel has counted as many ends of calls as the driver. */
static void watch_load(uint32_t cpus_per_ring)
{
	int counts = bpf_enable_stats(BPF_STATS_RUN_TIME); /* since Linux 5.8 */
	struct watch w = {.s = open_live_rings(0, cpus_per_ring)};
	struct scap_stats st;

	assert_true(counts >= 0);
	watch_child(&w, start(child_loads));
	expect_account(&w);
	assert_int_equal(scap_stats(w.s, &st), 0);
	assert_true(st.n_exit_runs > 300000);
	assert_int_equal(st.n_exits, st.n_exit_runs);
	close(counts);
	free(w.v);
	scap_close(w.s);
}

static void test_load(void **state)
{
	(void)state;
	watch_load(1);
}

static void test_load_shared(void **state)
{
	(void)state;
	watch_load(UINT32_MAX);
}

static void child_one_call(void)
{
	usleep(150000); /* the reader is at its longest nap by then */
	syscall(SYS_getpgrp);
	_exit(0);
}

static uint64_t lost_of(const struct scap_evt *evt)
{
	struct scap_params p;
	uint64_t n = 0;

	if (evt->type != EVT_LOST_E)
		return 0;
	assert_int_equal(evt->num, 0);
	assert_int_equal(scap_evt_params(evt->hdr, &p), 0);
	assert_true(!strcmp((const char *)p.v[2].p, "the ring was full") ||
		    !strcmp((const char *)p.v[2].p, "the ring was nearly full"));
	memcpy(&n, p.v[1].p, sizeof(n));
	assert_true(n > 0);
	return n;
}

/* A reader that sleeps while small rings fill: the stream reports the losses. */
static void test_what_is_lost_is_in_the_stream(void **state)
{
	const struct scap_open_opts o = {.sz = sizeof(o), .log = hear, .ring_sz = 256 * 1024};
	struct scap_stats st;
	struct scap_evt evt;
	uint64_t lost = 0;
	struct scap *s;
	int ret;

	(void)state;
	assert_int_equal(scap_open(&s, &o), 0);
	waitpid(start(child_load), NULL, 0);
	while (scap_next(s, &evt, 20) == 1 && evt.type != EVT_LOST_E)
		;
	lost += lost_of(&evt);
	waitpid(start(child_load), NULL, 0);
	assert_int_equal(scap_stop(s), 0);
	while ((ret = scap_next(s, &evt, 20)) == 1)
		lost += lost_of(&evt);
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(scap_stats(s, &st), 0);
	assert_true(lost > 0);
	/* What belongs to no ring has no event. */
	assert_int_equal(lost, st.n_dropped - st.dropped_by[DRV_DROP_NO_RING] -
				       st.dropped_by[DRV_DROP_MISSED]);
	assert_int_equal(st.n_seen, st.n_records + st.n_dropped);
	scap_close(s);
}

/* Time from the only call of a thread to its event; UINT64_MAX: it did not come. */
static uint64_t delay_of_lone_event(struct scap *s)
{
	pid_t pid = start(child_one_call);
	uint64_t delay = UINT64_MAX, limit = clock_ns(CLOCK_MONOTONIC) + 5000 * MS;
	struct scap_evt evt;

	while (delay == UINT64_MAX && clock_ns(CLOCK_MONOTONIC) < limit)
		if (scap_next(s, &evt, 100) == 1 && evt.hdr->tid == (uint64_t)pid &&
		    evt.nr == SYS_getpgrp && evt.type & 1)
			delay = clock_ns(CLOCK_REALTIME) - evt.ts_ns;
	waitpid(pid, NULL, 0);
	return delay;
}

/* The machine is quiet and one call comes: it does not wait for others to follow. The bound is
 * 20 ms; a loaded machine may not run us for longer than that, but not each time. */
static void test_lone_event_is_not_kept(void **state)
{
	struct scap *s = open_live();
	int tries = 20;

	(void)state;
	while (delay_of_lone_event(s) >= 100 * MS && --tries)
		;
	assert_true(tries);
	scap_close(s);
}

/* A timeout is kept, and an idle wait costs next to nothing. */
static void test_waiting(void **state)
{
	struct scap *s = open_live();
	uint64_t begin, cpu, waited;
	struct scap_evt evt;
	int ret = 1;

	(void)state;
	for (int i = 0; i < 1000 && ret; i++)
		ret = scap_next(s, &evt, 0);
	begin = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (clock_ns(CLOCK_MONOTONIC) - begin < 300 * MS)
		if (scap_next(s, &evt, 50) < 0)
			fail();
	waited = clock_ns(CLOCK_MONOTONIC) - begin;
	assert_true(waited < 1000 * MS);
	assert_true(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu < 150 * MS);
	scap_close(s);
}

static void test_stop_twice_and_close_without(void **state)
{
	struct scap *s = open_live();
	struct scap_evt evt;
	int ret;

	(void)state;
	scap_close(s);
	s = open_live();
	assert_int_equal(scap_stop(s), 0);
	assert_int_equal(scap_stop(s), 0);
	while ((ret = scap_next(s, &evt, 0)) == 1)
		;
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(scap_next(s, &evt, 0), -ENODATA);
	scap_close(s);
}

static void test_state_may_go(void **state)
{
	struct scap *s = open_live();
	struct scap_evt evt;

	(void)state;
	scap_state_drop(s);
	assert_int_equal(scap_state(s)->n_threads, 0);
	assert_true(scap_next(s, &evt, 100) >= 0);
	scap_close(s);
}

static void child_without_root(void)
{
	const struct scap_open_opts o = {.sz = sizeof(o), .log = hear};
	struct scap *s;

	if (setgid(65534) || setuid(65534))
		_exit(1);
	if (scap_open(&s, &o) != -EPERM)
		_exit(2);
	_exit(strstr(said, "needs root") ? 0 : 3);
}

static void test_without_root(void **state)
{
	int status;

	(void)state;
	waitpid(start(child_without_root), &status, 0);
	assert_int_equal(status, 0);
}

static void test_wrong_options(void **state)
{
	struct scap_open_opts o = {.sz = sizeof(o), .log = hear, .ring_sz = 12345};
	struct scap *s;

	(void)state;
	said[0] = '\0';
	assert_int_equal(scap_open(&s, &o), -EINVAL);
	assert_non_null(strstr(said, "12345"));
}

static void test_capabilities(void **state)
{
	const struct scap_capability *rows;
	int n = scap_capabilities(&rows);

	(void)state;
	assert_true(n > 10);
	for (int i = 0; i < n; i++) {
		assert_true(strlen(rows[i].name) > 0 && strlen(rows[i].sentence) > 0);
		assert_true(rows[i].have >= rows[i].used);
		assert_true(rows[i].used || rows[i].why);
	}
	/* we run, so these are there */
	assert_string_equal(rows[0].name, "btf");
	assert_true(rows[0].used);
	assert_string_equal(rows[1].name, "tp_btf");
	assert_true(rows[1].used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_array),
		cmocka_unit_test(test_calls_ringbuf),
		cmocka_unit_test(test_calls_perf),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_calls_shared),
		cmocka_unit_test(test_load_shared),
		cmocka_unit_test(test_what_is_lost_is_in_the_stream),
		cmocka_unit_test(test_lone_event_is_not_kept),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_stop_twice_and_close_without),
		cmocka_unit_test(test_state_may_go),
		cmocka_unit_test(test_without_root),
		cmocka_unit_test(test_wrong_options),
		cmocka_unit_test(test_capabilities),
	};

	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr, "skipped: a live capture needs root and /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
