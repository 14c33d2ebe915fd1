/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the sampler on the running kernel: its states, its counters, and stacks of programs that
 * record their own. Only children of this test are sampled, and each one makes the awaited samples
 * itself. Needs root and BTF.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "sampling/scap_sampler.h"
#include "shared/sampler.h"
#include "testing/test_main.h"

#define READ_SZ (64u << 20)
#define PATIENCE_NS 60000000000ull

static char said[1024];
static char session[64]; /* our own: other tests may sample at the same time */

static void hear(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	snprintf(said, sizeof(said), "%s", text);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- children ---- */

static int ready_fd; /* of a child: set when it has begun */

static void say_ready(void)
{
	if (write(ready_fd, "r", 1) != 1)
		_exit(1);
}

/* Starts a child that runs @fn until it is killed or returns; waits until it is ready. */
static pid_t child_of(void (*fn)(uint64_t arg), uint64_t arg)
{
	int fds[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		ready_fd = fds[1];
		fn(arg);
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &c, 1), 1);
	close(fds[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static volatile uint64_t turns;
static int naps; /* between turns */

static void take_turn(void)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	turns++;
	if (naps)
		nanosleep(&nap, NULL);
}

/* @n + 1 frames deep, one above the other, then for ever at work. */
__attribute__((noinline)) static uint64_t deep(uint64_t n)
{
	uint64_t r = n;

	if (n) {
		r = deep(n - 1);
		__asm__ volatile("" : "+r"(r)); /* a call, and no jump */
		return r;
	}
	say_ready();
	do
		take_turn();
	while (turns);
	return r;
}

static void spin(uint64_t depth)
{
	deep(depth);
}

/* ---- samplers ---- */

struct run {
	struct scap_sampler *s;
	uint8_t *buf;
	size_t len;
};

static struct scap_sampler_opts hz(uint64_t n)
{
	return (struct scap_sampler_opts){
		.sz = sizeof(struct scap_sampler_opts),
		.period_ns = n ? 1000000000 / n : 0,
		.session = session,
	};
}

static struct scap_sampler *open_one; /* of a test that failed, which the next one closes */

static int create(struct scap_sampler **s, const struct scap_sampler_opts *o, const int32_t *pids,
		  size_t n_pids, size_t ring_sz)
{
	const struct scap_select select = {.pids = pids, .n_pids = n_pids};
	const struct scap_sampler_create_opts co = {
		.sz = sizeof(co),
		.sampler = o,
		.select = n_pids ? &select : NULL,
		.ring_sz = ring_sz,
		.log = hear,
	};

	*said = '\0';
	return scap_sampler_create(s, &co);
}

static int close_left_over(void **state)
{
	(void)state;
	scap_sampler_close(open_one);
	open_one = NULL;
	return 0;
}

static void begin(struct run *r, const struct scap_sampler_opts *o, pid_t pid)
{
	const int32_t pids[] = {pid};

	if (create(&r->s, o, pids, 1, 0))
		fail_msg("%s", said);
	open_one = r->s;
	assert_int_equal(scap_sampler_start(r->s, 0), 0);
	r->buf = malloc(READ_SZ);
	assert_non_null(r->buf);
	r->len = 0;
}

static void stats(const struct run *r, struct scap_sampler_stats *st)
{
	scap_sampler_get_stats(r->s, st);
}

/* Waits for @n samples; the child makes them, however slow the machine is. */
static void wait_samples(const struct run *r, uint64_t n)
{
	const uint64_t end = now_ns() + PATIENCE_NS;
	const struct timespec nap = {.tv_nsec = 2000000};
	struct scap_sampler_stats st;

	for (;;) {
		stats(r, &st);
		if (st.n_samples >= n)
			return;
		if (now_ns() > end)
			fail_msg("%llu samples of %llu", (unsigned long long)st.n_samples,
				 (unsigned long long)n);
		nanosleep(&nap, NULL);
	}
}

/* Checks what holds for all counters: each run is counted exactly once. */
static void check_account(const struct scap_sampler_stats *st)
{
	uint64_t runs = 0;

	for (unsigned int i = 0; i < SAMPLE_REASON_MAX; i++) {
		const struct scap_sampler_counts *c = &st->by_reason[i];

		assert_int_equal(c->n_runs, c->n_samples + c->n_dropped + c->n_filtered);
		runs += c->n_runs;
	}
	assert_int_equal(runs, st->n_runs);
	assert_int_equal(st->n_runs, st->n_samples + st->n_dropped + st->n_filtered);
	assert_int_equal(st->n_missed + st->by_reason[SAMPLE_CPU].n_runs >= st->n_due, 1);
}

/* Stops, and reads what is left behind what was read. */
static void end(struct run *r, struct scap_sampler_stats *st)
{
	size_t n;

	assert_int_equal(scap_sampler_stop(r->s, 0), 0);
	assert_int_equal(scap_sampler_read(r->s, 0, r->buf + r->len, READ_SZ - r->len, &n), 0);
	r->len += n;
	stats(r, st);
	check_account(st);
}

static void close_run(struct run *r)
{
	scap_sampler_close(r->s);
	open_one = NULL;
	free(r->buf);
}

struct sample {
	uint64_t ts;
	uint64_t tid;
	struct scap_params ps;
};

/* The next sample of what was read. */
static int next_sample(const struct run *r, size_t *at, struct sample *s)
{
	const struct ppm_evt_hdr *hdr;

	while ((hdr = scap_sampler_event(r->buf, r->len, at))) {
		if (hdr->type != EVT_SAMPLE_E)
			continue;
		s->ts = hdr->ts;
		s->tid = hdr->tid;
		assert_int_equal(scap_evt_params(hdr, &s->ps), 0);
		assert_int_equal(s->ps.n, SAMPLE_P_MAX);
		return 1;
	}
	return 0;
}

static uint64_t number(const struct sample *s, unsigned int at)
{
	const struct scap_param *p = &s->ps.v[at];

	switch (p->len) {
	case 1:
		return p->p[0];
	case 4:
		return get_u32(p->p);
	case 8:
		return get_u64(p->p);
	default:
		fail_msg("parameter %u has %u bytes", at, p->len);
		return 0;
	}
}

static size_t n_frames(const struct sample *s)
{
	return s->ps.v[SAMPLE_P_USER].len / 8;
}

static uint64_t frame(const struct sample *s, size_t i)
{
	return get_u64(s->ps.v[SAMPLE_P_USER].p + 8 * i);
}

static size_t n_same(const struct sample *s, size_t one)
{
	size_t n = 0;

	for (size_t i = 1; i < n_frames(s); i++)
		n += STACK_ADDR(frame(s, i)) == STACK_ADDR(frame(s, one));
	return n;
}

/* Frames of deep in deep. The innermost may be in a call of the library, and in a function that
 * some compilers put into deep. */
static size_t n_deep(const struct sample *s)
{
	size_t most = 0;

	for (size_t i = 1; i < n_frames(s) && i < 6; i++)
		if (n_same(s, i) > most)
			most = n_same(s, i);
	return most;
}

/* ---- tests ---- */

static void test_states(void **state)
{
	const struct scap_sampler_opts o = hz(99);
	const int32_t self[] = {getpid()};
	const struct ppm_evt_hdr *hdr;
	struct scap_sampler *s, *other;
	size_t n, at = 0;
	uint64_t early[512];

	(void)state;
	assert_int_equal(create(&s, &o, self, 1, 0), 0);
	assert_int_equal(scap_sampler_stop(s, 0), -EINVAL);
	assert_int_equal(scap_sampler_start(s, 1), -EINVAL);
	/* Others' mappings end at any time. */
	assert_int_equal(scap_sampler_read(s, 0, early, sizeof(early), &n), 0);
	while ((hdr = scap_sampler_event(early, n, &at)))
		assert_int_equal(hdr->type, EVT_MAP_EXIT_E);
	assert_int_equal(scap_sampler_start(s, 0), 0);
	assert_int_equal(scap_sampler_start(s, 0), -EINVAL);
	assert_int_equal(scap_sampler_stop(s, 1), -EINVAL);
	assert_int_equal(scap_sampler_read(s, 1, NULL, 0, &n), -EINVAL);
	/* Only one session at a time; the error names its owner. */
	assert_int_equal(create(&other, &o, self, 1, 0), -EEXIST);
	assert_non_null(strstr(said, "already samples stacks"));
	assert_int_equal(scap_sampler_stop(s, 0), 0);
	assert_int_equal(scap_sampler_stop(s, 0), -EINVAL);
	assert_int_equal(create(&other, &o, self, 1, 0), -EEXIST);
	assert_int_equal(scap_sampler_start(s, 0), 0);
	scap_sampler_close(s);
	scap_sampler_close(NULL);
	assert_int_equal(create(&s, &o, self, 1, 0), 0);
	scap_sampler_close(s);
}

static void holds_session(uint64_t arg)
{
	const struct scap_sampler_opts o = hz(99);
	struct scap_sampler *s;

	(void)arg;
	if (create(&s, &o, NULL, 0, 0))
		_exit(1);
	say_ready();
	pause();
}

static void test_session_of_a_killed_process(void **state)
{
	const pid_t pid = child_of(holds_session, 0);
	const struct scap_sampler_opts o = hz(99);
	struct scap_sampler *s;
	char number_of_it[32];

	(void)state;
	assert_int_equal(create(&s, &o, NULL, 0, 0), -EEXIST);
	snprintf(number_of_it, sizeof(number_of_it), "process %d ", pid);
	assert_non_null(strstr(said, number_of_it));
	end_child(pid);
	assert_int_equal(create(&s, &o, NULL, 0, 0), 0);
	scap_sampler_close(s);
}

/* A name in the abstract namespace is anybody's to take: it was the session's once. */
static void test_session_that_nobody_can_occupy(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const int n =
		snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "saker-sampler/%s", session);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct scap_sampler_opts o = hz(99);
	struct scap_sampler *s;
	struct stat st;

	(void)state;
	assert_return_code(bind(fd, (struct sockaddr *)&addr,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)),
			   errno);
	assert_return_code(listen(fd, 1), errno);
	assert_int_equal(create(&s, &o, NULL, 0, 0), 0);
	scap_sampler_close(s);
	close(fd);
	assert_return_code(stat("/run/saker", &st), errno);
	assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_wrong_options(void **state)
{
	static const char *const none_such[] = {"no_such_tracepoint"};
	static const char *const many[] = {"a", "b", "c", "d", "e"};
	const struct {
		struct scap_sampler_opts o;
		int err;
		const char *said;
	} rows[] = {
		{{.sz = sizeof(rows[0].o)}, -EINVAL, "nothing to sample"},
		{{.period_ns = 1000}, -EINVAL, "from 1 to 4000"},
		{{.period_ns = 2000000000}, -EINVAL, "from 1 to 4000"},
		{{.period_ns = 1000000, .depth = STACK_USER_MAX + 1}, -EINVAL, "at most 1024"},
		{{.period_ns = 1000000, .threshold = 101}, -EINVAL, "from 1 to 100"},
		{{.period_ns = 1000000, .threshold = 5, .interval_ns = 1}, -EINVAL, "1 s or more"},
		{{.tracepoints = none_such, .n_tracepoints = 1}, -ENOENT, "no_such_tracepoint"},
		{{.tracepoints = many, .n_tracepoints = 5}, -E2BIG, "at most 4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_sampler *s;

		assert_int_equal(create(&s, &rows[i].o, NULL, 0, 0), rows[i].err);
		if (!strstr(said, rows[i].said))
			fail_msg("row %zu: %s", i, said);
	}
}

/* At every rate all runs are accounted for, and each stack equals the program's own. */
static void test_rates(void **state)
{
	static const uint64_t rates[] = {1, 99, 1000, 4000};
	const int counting = bpf_enable_stats(BPF_STATS_RUN_TIME);

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		const struct scap_sampler_opts o = hz(rates[i]);
		const pid_t pid = child_of(spin, 20);
		struct scap_sampler_stats st;
		uint64_t n = 0, last = 0;
		struct sample s;
		struct run r;
		size_t at = 0;

		begin(&r, &o, pid);
		wait_samples(&r, rates[i] < 10 ? 1 : rates[i] / 4);
		end(&r, &st);
		while (next_sample(&r, &at, &s)) {
			assert_int_equal(s.tid, pid);
			assert_int_equal(number(&s, SAMPLE_P_PID), pid);
			assert_int_equal(number(&s, SAMPLE_P_REASON), SAMPLE_CPU);
			assert_int_equal(number(&s, SAMPLE_P_WEIGHT), o.period_ns);
			assert_int_equal(n_deep(&s), 20);
			assert_true(frame(&s, 0) & STACK_EXACT);
			assert_int_equal(STACK_ADDR(frame(&s, 0)), number(&s, SAMPLE_P_IP));
			assert_true(s.ts >= last);
			last = s.ts;
			n++;
		}
		assert_int_equal(n, st.n_samples);
		assert_int_equal(st.n_dropped, 0);
		if (counting >= 0) /* since before it was loaded */
			assert_int_equal(st.n_kernel_runs, st.n_runs);
		printf("%llu Hz: %llu due, %llu runs, %llu missed\n", (unsigned long long)rates[i],
		       (unsigned long long)st.n_due, (unsigned long long)st.n_runs,
		       (unsigned long long)st.n_missed);
		close_run(&r);
		end_child(pid);
	}
	if (counting >= 0)
		close(counting);
}

static void test_depth(void **state)
{
	static const struct {
		uint32_t max;
		uint64_t deep;
	} rows[] = {{10, 50}, {128, 70}, {1024, 300}, {1024, 2000}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scap_sampler_opts o = hz(1000);
		const pid_t pid = child_of(spin, rows[i].deep);
		struct scap_sampler_stats st;
		struct sample s;
		struct run r;
		size_t at = 0;

		o.depth = rows[i].max;
		begin(&r, &o, pid);
		wait_samples(&r, 20);
		end(&r, &st);
		while (next_sample(&r, &at, &s)) {
			assert_true(n_frames(&s) <= rows[i].max);
			if (rows[i].deep + 50 < rows[i].max) {
				assert_int_equal(n_deep(&s), rows[i].deep);
			} else if (rows[i].deep > rows[i].max) {
				assert_int_equal(n_frames(&s), rows[i].max);
				assert_int_equal(number(&s, SAMPLE_P_END), STACK_END_DEPTH);
			}
		}
		close_run(&r);
		end_child(pid);
	}
}

static void test_others_are_left_out(void **state)
{
	const struct scap_sampler_opts o = hz(1000);
	const pid_t meant = child_of(spin, 3), other = child_of(spin, 3);
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0;

	(void)state;
	begin(&r, &o, meant);
	do {
		wait_samples(&r, 50);
		stats(&r, &st);
	} while (!st.by_reason[SAMPLE_CPU].filtered_by[SAMPLE_FILTER_NO_MATCH]);
	end(&r, &st);
	while (next_sample(&r, &at, &s))
		assert_int_equal(s.tid, meant);
	close_run(&r);
	end_child(meant);
	end_child(other);
}

/* A buffer that is too small loses nothing. */
static void test_read_gives_all_or_nothing(void **state)
{
	const struct scap_sampler_opts o = hz(1000);
	const pid_t pid = child_of(spin, 3);
	struct scap_sampler_stats st;
	size_t need, n, again;
	struct run r;

	(void)state;
	begin(&r, &o, pid);
	wait_samples(&r, 50);
	assert_int_equal(scap_sampler_stop(r.s, 0), 0);
	assert_int_equal(scap_sampler_read(r.s, 0, r.buf, 8, &need), -EINVAL);
	assert_int_equal(scap_sampler_read(r.s, 0, r.buf, need - 1, &again), -EINVAL);
	assert_int_equal(again, need);
	assert_int_equal(scap_sampler_read(r.s, 0, r.buf, need, &n), 0);
	assert_int_equal(n, need);
	assert_int_equal(scap_sampler_read(r.s, 0, r.buf + n, READ_SZ - n, &again), 0);
	assert_int_equal(again, 0);
	r.len = n;
	/* And on. */
	assert_int_equal(scap_sampler_start(r.s, 0), 0);
	stats(&r, &st);
	wait_samples(&r, st.n_samples + 10);
	end(&r, &st);
	assert_true(r.len > n);
	close_run(&r);
	end_child(pid);
}

static uint64_t lost_ends(const struct ppm_evt_hdr *hdr)
{
	uint64_t n = 0;

	assert_int_equal(scap_evt_u64(hdr, "exit", &n), 0);
	return n;
}

/* Samples that a full ring has no room for are reported in their place, and all counted. */
static void test_full_ring(void **state)
{
	struct scap_sampler_opts o = hz(4000);
	const pid_t pid = child_of(spin, 100);
	const int32_t pids[] = {pid};
	const uint64_t until = now_ns() + PATIENCE_NS;
	const struct ppm_evt_hdr *hdr;
	uint64_t lost = 0, n = 0, n_after = 0;
	struct scap_sampler_stats st;
	struct run r = {.buf = malloc(READ_SZ)};
	size_t len, at = 0;

	(void)state;
	assert_non_null(r.buf);
	if (create(&r.s, &o, pids, 1, RING_SZ_MIN))
		fail_msg("%s", said);
	open_one = r.s;
	assert_int_equal(scap_sampler_start(r.s, 0), 0);
	do
		stats(&r, &st);
	while (st.n_dropped < 100 && now_ns() < until);
	assert_true(st.n_dropped >= 100);
	assert_int_equal(scap_sampler_read(r.s, 0, r.buf, READ_SZ, &len), 0);
	r.len = len;
	stats(&r, &st);
	wait_samples(&r, st.n_samples + 100);
	end(&r, &st);
	while ((hdr = scap_sampler_event(r.buf, r.len, &at))) {
		struct scap_params ps;

		assert_int_equal(scap_evt_params(hdr, &ps), 0);
		/* Processes of others end, too. */
		if (hdr->type == EVT_LOST_E)
			lost += get_u64(ps.v[1].p) - lost_ends(hdr);
		n += hdr->type == EVT_SAMPLE_E;
		n_after += hdr->type == EVT_SAMPLE_E && lost;
	}
	assert_int_equal(lost, st.n_dropped);
	assert_int_equal(n, st.n_samples);
	assert_true(n_after > 0); /* it is told where it was */
	close_run(&r);
	end_child(pid);
}

#define REGION_PAGES 64

static uint8_t *region; /* the same in the children */

static void touches(uint64_t rounds)
{
	char c;

	say_ready();
	raise(SIGSTOP);
	for (uint64_t i = 0; i < rounds; i++)
		for (int page = 0; page < REGION_PAGES; page++)
			region[4096 * page] = 1;
	c = 0;
	if (write(ready_fd, &c, 1) != 1)
		_exit(1);
}

/* A child that has stopped itself goes on, and ends. */
static void run_to_end(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void test_page_faults(void **state)
{
	struct scap_sampler_opts o = {.sz = sizeof(o), .page_faults = 1, .session = session};
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0;
	int n = 0;
	pid_t pid;

	(void)state;
	region = mmap(NULL, 4096 * REGION_PAGES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(region, MAP_FAILED);
	madvise(region, 4096 * REGION_PAGES, MADV_NOHUGEPAGE);
	signal(SIGPIPE, SIG_IGN);
	pid = child_of(touches, 3);
	begin(&r, &o, pid);
	run_to_end(pid);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		const uint64_t addr = number(&s, SAMPLE_P_ADDR);

		assert_int_equal(number(&s, SAMPLE_P_REASON), SAMPLE_PAGE_FAULT);
		assert_int_equal(s.ps.v[SAMPLE_P_WEIGHT].len, 0);
		n += addr >= (uintptr_t)region && addr < (uintptr_t)region + 4096 * REGION_PAGES;
	}
	assert_int_equal(n, REGION_PAGES);
	munmap(region, 4096 * REGION_PAGES);
	close_run(&r);
}

static void forks(uint64_t n)
{
	say_ready();
	raise(SIGSTOP);
	for (uint64_t i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void test_tracepoints(void **state)
{
	static const char *const names[] = {"sched_process_wait", "sched_process_fork"};
	struct scap_sampler_opts o = {
		.sz = sizeof(o), .tracepoints = names, .n_tracepoints = 2, .session = session};
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0;
	int n[2] = {0};
	pid_t pid = child_of(forks, 7);

	(void)state;
	begin(&r, &o, pid);
	run_to_end(pid);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		assert_int_equal(number(&s, SAMPLE_P_REASON), SAMPLE_TRACEPOINT);
		assert_true(s.ps.v[SAMPLE_P_KERNEL].len > 0);
		for (int i = 0; i < 2; i++)
			n[i] += !strcmp((const char *)s.ps.v[SAMPLE_P_TRACEPOINT].p, names[i]);
	}
	assert_int_equal(n[0], 7);
	assert_int_equal(n[1], 7);
	close_run(&r);
}

#define PAUSE_NS 20000000

static void sleeps(uint64_t n)
{
	const struct timespec ts = {.tv_nsec = PAUSE_NS};

	say_ready();
	raise(SIGSTOP);
	for (uint64_t i = 0; i < n; i++)
		nanosleep(&ts, NULL);
}

static int is_call(const struct sample *s, uint64_t nr)
{
	return s->ps.v[SAMPLE_P_CALL].len && number(s, SAMPLE_P_CALL) == nr;
}

/* What wakes a task whose time has come: an interrupt, or the thread that does its work, as always
 * on a real-time kernel. */
static void assert_timer(const char *comm, uint64_t tid)
{
	if (tid == 0)
		assert_string_equal(comm, "interrupt");
	else if (strncmp(comm, "ktimers/", 8) && strncmp(comm, "ksoftirqd/", 10))
		fail_msg("%s woke it", comm);
}

static void test_off_cpu(void **state)
{
	struct scap_sampler_opts o = {
		.sz = sizeof(o), .off_cpu = 1, .off_min_ns = PAUSE_NS / 100, .session = session};
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0;
	uint64_t longest = 0;
	int n = 0;
	pid_t pid = child_of(sleeps, 10);

	(void)state;
	begin(&r, &o, pid);
	run_to_end(pid);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		assert_int_equal(s.tid, pid);
		assert_int_equal(number(&s, SAMPLE_P_REASON), SAMPLE_OFF_CPU);
		assert_true(number(&s, SAMPLE_P_WEIGHT) >= o.off_min_ns);
		if (!is_call(&s, SYS_clock_nanosleep) && !is_call(&s, SYS_nanosleep))
			continue;
		if (number(&s, SAMPLE_P_WEIGHT) > longest)
			longest = number(&s, SAMPLE_P_WEIGHT);
		if (number(&s, SAMPLE_P_STATE) !=
		    1) /* it waited for a CPU, maybe for all the pause */
			continue;
		assert_timer((const char *)s.ps.v[SAMPLE_P_WAKER_COMM].p,
			     number(&s, SAMPLE_P_WAKER));
		assert_true(s.ps.v[SAMPLE_P_KERNEL].len > 0);
		assert_true(n_frames(&s) > 0);
		n++;
	}
	assert_in_range(n, 1, 10);
	/* Others are shorter if this machine's CPU is taken away after the timer was set. */
	assert_true(longest >= PAUSE_NS * 9 / 10);
	close_run(&r);
}

static int ping[2], pong[2];

/* Waits for a byte, and answers it. */
static void answers(uint64_t n)
{
	char c;

	say_ready();
	for (uint64_t i = 0; i < n; i++)
		if (read(ping[0], &c, 1) != 1 || write(pong[1], &c, 1) != 1)
			_exit(1);
}

static void test_who_woke_it(void **state)
{
	struct scap_sampler_opts o = {.sz = sizeof(o), .off_cpu = 1, .session = session};
	const struct timespec nap = {.tv_nsec = 5000000};
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0;
	int n = 0;
	pid_t pid;
	char c = 'x';

	(void)state;
	assert_int_equal(pipe(ping), 0);
	assert_int_equal(pipe(pong), 0);
	pid = child_of(answers, 10);
	begin(&r, &o, pid);
	for (int i = 0; i < 10; i++) {
		nanosleep(&nap, NULL); /* mostly it waits by then */
		assert_int_equal(write(ping[1], &c, 1), 1);
		assert_int_equal(read(pong[0], &c, 1), 1);
	}
	waitpid(pid, NULL, 0);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		if (!is_call(&s, SYS_read) || !s.ps.v[SAMPLE_P_WAKER].len)
			continue;
		assert_int_equal(number(&s, SAMPLE_P_WAKER), gettid());
		assert_int_equal(s.ps.v[SAMPLE_P_WAIT].len, 8);
		n++;
	}
	assert_true(n > 0);
	for (int i = 0; i < 2; i++) {
		close(ping[i]);
		close(pong[i]);
	}
	close_run(&r);
}

#define STACK_SZ (256u << 10)

static uint8_t *shared_stack;

/* As deep, but with large frames, most of them in pages of their own. Each turn drops these pages
 * from the process: they stay in the page cache, and return with a fault. */
__attribute__((noinline)) static uint64_t wide(uint64_t n)
{
	volatile uint8_t room[3000];
	uint64_t r = n;

	room[0] = (uint8_t)n;
	if (n) {
		r = wide(n - 1) + room[0];
		__asm__ volatile("" : "+r"(r));
		return r;
	}
	say_ready();
	for (;;) {
		const uint8_t *here = (const uint8_t *)((uintptr_t)room & ~4095ul) + 2 * 4096;

		madvise((void *)here, (size_t)(shared_stack + STACK_SZ - here), MADV_DONTNEED);
		for (int i = 0; i < (naps ? 1 : 100000); i++)
			take_turn();
		if (!turns)
			return r;
	}
}

static void on_shared_stack(void)
{
	volatile uint64_t depth = 20; /* unknown to the compiler, which else makes copies of wide */

	wide(depth);
}

static void is_paged_out(uint64_t arg)
{
	ucontext_t here, there;

	(void)arg;
	shared_stack =
		mmap(NULL, STACK_SZ, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared_stack == MAP_FAILED || getcontext(&there))
		_exit(1);
	there.uc_stack.ss_sp = shared_stack;
	there.uc_stack.ss_size = STACK_SZ;
	there.uc_link = &here;
	makecontext(&there, on_shared_stack, 0);
	swapcontext(&here, &there);
}

/* Stacks with pages that are not there: finished later where the kernel can, else ended by a fault.
 */
static void check_paged_out(struct scap_sampler_opts o, int parts)
{
	const pid_t pid = child_of(is_paged_out, 0);
	const struct ppm_evt_hdr *hdr;
	uint64_t n_ids = 0, n_rests = 0;
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0;

	o.parts = (uint32_t)parts;
	begin(&r, &o, pid);
	wait_samples(&r, 200);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		const uint64_t how = number(&s, SAMPLE_P_END);

		if (!s.ps.v[SAMPLE_P_ID].len) {
			if (how != STACK_END_FAULT)
				assert_true(n_deep(&s) == 20 || how == STACK_END_BAD_FP);
			continue;
		}
		n_ids++;
		/* On a busy machine its tables may come later; then the sampler waits for no page.
		 */
		if (parts)
			assert_true(how == STACK_END_DEFERRED || st.n_copied);
		else if (how != STACK_END_NEVER && how != STACK_END_FAULT && how != STACK_END_NEW &&
			 how != STACK_END_NO_MAP && how != STACK_END_NO_TABLE)
			assert_int_equal(n_deep(&s), 20);
	}
	at = 0;
	while ((hdr = scap_sampler_event(r.buf, r.len, &at)))
		n_rests += hdr->type == EVT_SAMPLE_STACK_E;
	/* A thread may be off the CPU still, with a stack that no sample has. */
	assert_in_range(n_ids, st.n_later, st.n_later + st.n_copied);
	if (st.n_later) {
		assert_in_range(n_rests, parts ? st.n_finished : 0,
				parts ? st.n_finished + st.n_copied : 0);
		assert_true(st.n_finished > 0);
		assert_true(st.n_finished + st.n_finish_dropped <= st.n_later);
		/* At most the last sample was still pending. */
		assert_true(st.n_never <= 1);
	} else {
		assert_true(st.ends[STACK_END_FAULT] > 0);
	}
	printf("%llu of %llu stacks finished later\n", (unsigned long long)st.n_later,
	       (unsigned long long)st.n_samples);
	close_run(&r);
	end_child(pid);
}

static void test_paged_out_stack(void **state)
{
	(void)state;
	check_paged_out(hz(1000), 0);
	check_paged_out(hz(1000), 1);
}

static struct scap_sampler_opts off_cpu(void)
{
	return (struct scap_sampler_opts){
		.sz = sizeof(struct scap_sampler_opts), .off_cpu = 1, .session = session};
}

/* The same of a thread that sleeps: the rest is sent when it is on its way back. */
static void test_paged_out_stack_off_cpu(void **state)
{
	(void)state;
	naps = 1;
	check_paged_out(off_cpu(), 0);
	check_paged_out(off_cpu(), 1);
	naps = 0;
}

/* Waits for @n stacks with the expected end: the child's tables may take a while. */
static void wait_whole(const struct run *r, uint64_t n)
{
	const uint64_t end = now_ns() + PATIENCE_NS;
	const struct timespec nap = {.tv_nsec = 2000000};
	struct scap_sampler_stats st;

	do {
		nanosleep(&nap, NULL);
		stats(r, &st);
		assert_true(now_ns() < end);
	} while (st.ends[STACK_END_ROOT] + st.ends[STACK_END_DEPTH] < n);
}

/* Stacks up to the requested depth, to the maximum, also beyond the room of a thread's slot. */
static void check_deep_off_cpu(uint32_t depth, uint64_t n)
{
	struct scap_sampler_opts o = off_cpu();
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0, n_whole = 0;
	pid_t pid;

	naps = 1;
	pid = child_of(spin, n);
	naps = 0;
	o.depth = depth;
	begin(&r, &o, pid);
	wait_whole(&r, 20);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		if (!is_call(&s, SYS_clock_nanosleep) && !is_call(&s, SYS_nanosleep))
			continue;
		if (number(&s, SAMPLE_P_END) == STACK_END_DEPTH) {
			assert_true(n > depth);
			assert_int_equal(n_frames(&s), depth);
			/* nanosleep, the innermost deep; all else is deep in deep */
			assert_true(n_deep(&s) >= depth - 5);
		} else if (number(&s, SAMPLE_P_END) == STACK_END_ROOT) {
			assert_int_equal(n_deep(&s), n);
		} else {
			continue; /* its tables were not there yet */
		}
		n_whole++;
	}
	assert_true(n_whole > 0);
	assert_int_equal(st.n_unsaved, 0);
	close_run(&r);
	end_child(pid);
}

static void test_deep_off_cpu(void **state)
{
	(void)state;
	check_deep_off_cpu(0, 60);
	check_deep_off_cpu(100, 300);
	check_deep_off_cpu(300, 600);
	check_deep_off_cpu(STACK_USER_MAX, 900);
	check_deep_off_cpu(STACK_USER_MAX, 2000);
}

/* Frame pointers that are none: one that is not mapped, in the kernel, odd, in a circle. */
__attribute__((noinline)) static void with_fp(uint64_t fp)
{
	__asm__ volatile("movq %0, %%rbp\n1: pause\n jmp 1b" : : "r"(fp) : "memory");
}

static uint64_t circle[2];

static void bad_fp(uint64_t fp)
{
	circle[0] = (uintptr_t)circle;
	circle[1] = (uintptr_t)with_fp;
	say_ready();
	with_fp(fp == 4 ? (uintptr_t)circle : fp);
}

static void test_frame_pointers_that_are_none(void **state)
{
	static const uint64_t fps[] = {0x10000, 0xffffffff81000000, 0x123457, 4, UINT64_MAX - 7, 8};

	(void)state;
	for (size_t i = 0; i < sizeof(fps) / sizeof(fps[0]); i++) {
		const struct scap_sampler_opts o = hz(1000);
		const pid_t pid = child_of(bad_fp, fps[i]);
		struct scap_sampler_stats st;
		struct sample s;
		struct run r;
		size_t at = 0;

		begin(&r, &o, pid);
		wait_samples(&r, 50);
		end(&r, &st);
		while (next_sample(&r, &at, &s)) {
			assert_true(n_frames(&s) >= 1);
			assert_true(n_frames(&s) < 100);
		}
		assert_int_equal(st.ends[STACK_END_DEPTH], 0);
		close_run(&r);
		end_child(pid);
	}
}

/* Without tables no memory is allocated for them, and the kernel still accepts the driver. */
static void test_frame_pointers_alone(void **state)
{
	struct scap_sampler_opts o = hz(1000);
	const pid_t pid = child_of(bad_fp, 8);
	struct scap_sampler_stats st;
	struct sample s;
	struct run r;
	size_t at = 0, n = 0;

	(void)state;
	o.frame_pointers = 1;
	begin(&r, &o, pid);
	wait_samples(&r, 20);
	end(&r, &st);
	for (; next_sample(&r, &at, &s); n++)
		assert_int_equal(n_frames(&s), 1);
	assert_true(n > 0);
	assert_int_equal(st.ends[STACK_END_NEW], 0);
	close_run(&r);
	end_child(pid);
}

static void in_namespace(uint64_t arg)
{
	pid_t pid;

	(void)arg;
	if (unshare(CLONE_NEWPID))
		_exit(77);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		deep(3);
	}
	waitpid(pid, NULL, 0);
}

static void test_numbers_in_a_namespace(void **state)
{
	const pid_t outer = child_of(in_namespace, 0);
	const int32_t pids[] = {outer};
	const struct scap_select select = {.pids = pids, .n_pids = 1, .descendants = 1};
	const struct scap_sampler_opts o = hz(1000);
	const struct scap_sampler_create_opts co = {
		.sz = sizeof(co), .sampler = &o, .select = &select, .log = hear};
	struct scap_sampler_stats st;
	struct sample s;
	struct run r = {.buf = malloc(READ_SZ)};
	size_t at = 0;
	int n = 0;

	(void)state;
	assert_non_null(r.buf);
	if (scap_sampler_create(&r.s, &co))
		fail_msg("%s", said);
	assert_int_equal(scap_sampler_start(r.s, 0), 0);
	wait_samples(&r, 20);
	end(&r, &st);
	while (next_sample(&r, &at, &s)) {
		if (s.tid == (uint64_t)outer)
			continue;
		assert_int_equal(number(&s, SAMPLE_P_VPID), 1);
		assert_int_equal(number(&s, SAMPLE_P_VTID), 1);
		assert_int_equal(number(&s, SAMPLE_P_PID), s.tid);
		n++;
	}
	assert_true(n > 0);
	close_run(&r);
	end_child(outer);
}

static void execs(uint64_t n)
{
	say_ready();
	raise(SIGSTOP);
	for (uint64_t i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (!pid) {
			execl("/proc/self/exe", "scap_sampler_test", "--nothing", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	raise(SIGSTOP);
	for (;;)
		turns++;
}

static uint64_t param_u64(const struct ppm_evt_hdr *hdr, const char *name)
{
	uint64_t v;

	assert_int_equal(scap_evt_u64(hdr, name, &v), 0);
	return v;
}

static int maps_code_of(const struct ppm_evt_hdr *hdr, const char *exe)
{
	const int at = scap_event_param(EVT_MAP_E, "path");
	struct scap_params ps;

	assert_int_equal(scap_evt_params(hdr, &ps), 0);
	return strcmp((const char *)ps.v[at].p, exe) == 0;
}

/* Mappings of a process come before its first sample; those of processes that start while the
 * sampler runs come as they happen: fork, exec, the program's code, the end, in this order. */
static void test_mappings(void **state)
{
	enum { FORK = 1, EXEC = 2, CODE = 4, EXIT = 8, ALL = 15 };
	const pid_t pid = child_of(execs, 3);
	const int32_t pids[] = {pid};
	const struct scap_select select = {.pids = pids, .n_pids = 1, .descendants = 1};
	struct scap_sampler_opts o = hz(1000);
	const struct scap_sampler_create_opts co = {
		.sz = sizeof(co), .sampler = &o, .select = &select, .log = hear};
	struct run r = {.buf = malloc(READ_SZ)};
	const struct ppm_evt_hdr *hdr;
	uint64_t children[8], n = 0, done = 0;
	struct scap_sampler_stats st;
	int of_child[8] = {0}, known = 0;
	char exe[4096] = "";
	size_t at = 0;

	(void)state;
	assert_non_null(r.buf);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	o.maps = 1;
	if (scap_sampler_create(&r.s, &co))
		fail_msg("%s", said);
	open_one = r.s;
	assert_int_equal(scap_sampler_start(r.s, 0), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid); /* its children have ended */
	kill(pid, SIGCONT);
	wait_samples(&r, 50);
	end(&r, &st);
	while ((hdr = scap_sampler_event(r.buf, r.len, &at))) {
		uint64_t of, i;

		if (hdr->type == EVT_LOST_E || hdr->type == EVT_SAMPLE_STACK_E)
			continue;
		of = param_u64(hdr, "pid");
		if (hdr->type == EVT_SAMPLE_E) {
			assert_true(of != (uint64_t)pid || known);
			continue;
		}
		if (hdr->type == EVT_MAP_FORK_E && param_u64(hdr, "parent") == (uint64_t)pid) {
			assert_true(n < 8);
			of_child[n] = FORK;
			children[n++] = of;
			continue;
		}
		if (hdr->type == EVT_MAP_E && of == (uint64_t)pid)
			known |= maps_code_of(hdr, exe);
		for (i = 0; i < n && children[i] != of; i++)
			continue;
		if (i == n)
			continue;
		if (hdr->type == EVT_MAP_EXEC_E) {
			assert_int_equal(of_child[i], FORK);
			of_child[i] |= EXEC;
		} else if (hdr->type == EVT_MAP_E && of_child[i] & EXEC) {
			of_child[i] |= maps_code_of(hdr, exe) ? CODE : 0;
		} else if (hdr->type == EVT_MAP_EXIT_E) {
			assert_int_equal(of_child[i], FORK | EXEC | CODE);
			of_child[i] |= EXIT;
			done++;
		}
	}
	assert_int_equal(n, 3);
	assert_int_equal(done, 3);
	assert_true(known);
	close_run(&r);
	end_child(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_states, close_left_over),
		cmocka_unit_test_teardown(test_session_of_a_killed_process, close_left_over),
		cmocka_unit_test_teardown(test_session_that_nobody_can_occupy, close_left_over),
		cmocka_unit_test_teardown(test_wrong_options, close_left_over),
		cmocka_unit_test_teardown(test_rates, close_left_over),
		cmocka_unit_test_teardown(test_depth, close_left_over),
		cmocka_unit_test_teardown(test_others_are_left_out, close_left_over),
		cmocka_unit_test_teardown(test_read_gives_all_or_nothing, close_left_over),
		cmocka_unit_test_teardown(test_full_ring, close_left_over),
		cmocka_unit_test_teardown(test_page_faults, close_left_over),
		cmocka_unit_test_teardown(test_tracepoints, close_left_over),
		cmocka_unit_test_teardown(test_off_cpu, close_left_over),
		cmocka_unit_test_teardown(test_who_woke_it, close_left_over),
		cmocka_unit_test_teardown(test_paged_out_stack, close_left_over),
		cmocka_unit_test_teardown(test_paged_out_stack_off_cpu, close_left_over),
		cmocka_unit_test_teardown(test_deep_off_cpu, close_left_over),
		cmocka_unit_test_teardown(test_frame_pointers_that_are_none, close_left_over),
		cmocka_unit_test_teardown(test_frame_pointers_alone, close_left_over),
		cmocka_unit_test_teardown(test_numbers_in_a_namespace, close_left_over),
		cmocka_unit_test_teardown(test_mappings, close_left_over),
	};

	if (argc > 1 && strcmp(argv[1], "--nothing") == 0)
		return 0;
	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr, "skipped: sampling needs root and /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	snprintf(session, sizeof(session), "test-%d", getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
