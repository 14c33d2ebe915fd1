/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/live_sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "clock.h"
#include "sampling/sampler_draw.h"
#include "sampling/sampler_session.h"

#define DEFAULT_DEPTH 128
#define DEFAULT_INTERVAL_NS 60000000000ull
#define INTERVAL_MIN_NS 1000000000ull
#define PERIOD_MIN_NS (1000000000 / SAMPLE_HZ_MAX)
#define PERIOD_MAX_NS 1000000000
#define LOOK_NS 1000000000ull
#define N_LINKS (8 + SAMPLE_TRACEPOINTS)

enum sampler_state { IDLE, RUNNING, STOPPED };

struct live_sampler {
	struct scap_log log;
	struct live_sampler_parts parts;
	enum sampler_state state;
	int session;
	struct clock {
		int fd; /* negative: the CPU is offline */
		int refused; /* that there is none was reported */
		uint64_t ns; /* as last reported */
	} * clocks; /* by CPU */
	uint64_t *idle_ns; /* of each CPU while the clocks were on; while they are, relative to its
			      idle time */
	unsigned int n_cpus;
	unsigned int at_cpu; /* of a measurement in progress */
	uint64_t next_look_ns;
	uint64_t gone_due; /* ticks of closed clocks */
	struct bpf_link *links[N_LINKS];
	struct sampler_draw draw;
	uint64_t next_draw_ns; /* 0: always sampled */
	uint64_t interval_ns;
	int paused;
};

static int check(const struct scap_sampler_opts *o, const struct scap_log *log)
{
	if (o->period_ns && (o->period_ns < PERIOD_MIN_NS || o->period_ns > PERIOD_MAX_NS))
		return scap_fail(log, -EINVAL,
				 "samples every %llu ns: give from 1 to 4000 samples a second",
				 (unsigned long long)o->period_ns);
	if (o->depth > STACK_USER_MAX)
		return scap_fail(log, -EINVAL, "stacks of %u frames: at most %u can be taken",
				 o->depth, STACK_USER_MAX);
	if (o->threshold > 100)
		return scap_fail(log, -EINVAL, "a threshold of %u: give from 1 to 100",
				 o->threshold);
	if (o->interval_ns && o->interval_ns < INTERVAL_MIN_NS)
		return scap_fail(log, -EINVAL, "an interval of %llu ns: give 1 s or more",
				 (unsigned long long)o->interval_ns);
	if (o->n_tracepoints > SAMPLE_TRACEPOINTS)
		return scap_fail(log, -E2BIG, "samples at %zu tracepoints: at most %d can be given",
				 o->n_tracepoints, SAMPLE_TRACEPOINTS);
	if (!o->period_ns && !o->off_cpu && !o->page_faults && !o->n_tracepoints && !o->calls)
		return scap_fail(log, -EINVAL, "there is nothing to sample at");
	return 0;
}

int live_sampler_config(struct drv_sampler_config *c, const struct scap_sampler_opts *o,
			const struct scap_log *log)
{
	int err = check(o, log);

	if (err)
		return err;
	*c = (struct drv_sampler_config){
		.on = 1,
		.depth = o->depth ? o->depth : DEFAULT_DEPTH,
		.user = !o->no_user,
		.kernel = !o->no_kernel,
		.period_ns = o->period_ns,
		.off_cpu = o->off_cpu,
		.off_min_ns = o->off_min_ns,
	};
	for (size_t i = 0; i < o->n_tracepoints; i++) {
		if (strlen(o->tracepoints[i]) >= SAMPLE_TP_NAME)
			return scap_fail(log, -EINVAL, "there is no tracepoint %s",
					 o->tracepoints[i]);
		strcpy(c->tracepoints[i], o->tracepoints[i]);
	}
	return 0;
}

/* Opens the clock of one CPU, which runs whether it is busy or not: so the number of due ticks is
 * known. */
static int open_clock(const struct live_sampler *s, unsigned int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = s->parts.config->period_ns,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(s->parts.clock)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int open_clocks(struct live_sampler *s)
{
	int n = libbpf_num_possible_cpus();

	if (!s->parts.clock || n <= 0)
		return 0;
	s->clocks = malloc((unsigned int)n * sizeof(*s->clocks));
	s->idle_ns = calloc((unsigned int)n, sizeof(*s->idle_ns));
	if (!s->clocks || !s->idle_ns)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < (unsigned int)n; cpu++) {
		const int fd = open_clock(s, cpu);

		s->clocks[cpu] = (struct clock){.fd = fd};
		s->n_cpus++;
		if (fd < 0 && fd != -ENODEV)
			return scap_fail(&s->log, fd, "cannot create the timer of CPU %u: %s", cpu,
					 strerror(-fd));
	}
	return 0;
}

/* Adds @sign times the idle time of each CPU since boot to @ns. */
static void add_idle(uint64_t *ns, unsigned int n_cpus, int64_t sign)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long idle, waits;
	char *line = NULL;
	unsigned int cpu;
	size_t cap = 0;
	FILE *f = fopen("/proc/stat", "re");

	/* The first line is the sum of all CPUs. */
	while (f && getline(&line, &cap, f) > 0 && strncmp(line, "cpu", 3) == 0)
		if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &waits) == 3 &&
		    cpu < n_cpus)
			ns[cpu] += (uint64_t)sign * tick_ns * (idle + waits);
	free(line);
	if (f)
		fclose(f);
}

static void turn_clocks(struct live_sampler *s, int on)
{
	const unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (unsigned int cpu = 0; cpu < s->n_cpus; cpu++)
		if (s->clocks[cpu].fd >= 0)
			ioctl(s->clocks[cpu].fd, request, 0);
	if (s->n_cpus)
		add_idle(s->idle_ns, s->n_cpus, on ? -1 : 1);
}

int live_sampler_open(struct live_sampler **out, const struct live_sampler_parts *parts,
		      const struct scap_sampler_opts *opts, const struct scap_log *log)
{
	struct live_sampler *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->log = *log;
	s->parts = *parts;
	sampler_draw_init(&s->draw, clock_now_ns() ^ (uint64_t)getpid() << 32);
	if (opts->threshold && opts->threshold < 100) {
		s->draw.threshold = opts->threshold;
		s->interval_ns = opts->interval_ns ? opts->interval_ns : DEFAULT_INTERVAL_NS;
	}
	s->session = sampler_session_begin(opts->session, log);
	err = s->session < 0 ? s->session : open_clocks(s);
	if (err) {
		live_sampler_close(s);
		return err;
	}
	*out = s;
	return 0;
}

static int keep_link(struct live_sampler *s, unsigned int at, struct bpf_link *link,
		     const char *what)
{
	if (!link)
		return scap_fail(&s->log, -errno, "cannot sample at %s: %s", what, strerror(errno));
	s->links[at] = link;
	return 0;
}

static void drop_links(struct live_sampler *s)
{
	for (unsigned int i = 0; i < N_LINKS; i++) {
		bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
}

int live_sampler_start(struct live_sampler *s)
{
	unsigned int n = 0;
	int err = 0;

	if (s->state == RUNNING)
		return -EINVAL;
	for (unsigned int i = 0; i < 8 && s->parts.hooks[i] && !err; i++, n++)
		err = keep_link(s, n, bpf_program__attach_trace(s->parts.hooks[i]),
				bpf_program__name(s->parts.hooks[i]));
	for (unsigned int i = 0; i < SAMPLE_TRACEPOINTS && s->parts.tracepoints[i] && !err;
	     i++, n++)
		err = keep_link(s, n,
				bpf_program__attach_raw_tracepoint(s->parts.tracepoints[i],
								   s->parts.config->tracepoints[i]),
				s->parts.config->tracepoints[i]);
	if (err) {
		drop_links(s);
		return err;
	}
	*s->parts.pause = 0;
	turn_clocks(s, 1);
	s->state = RUNNING;
	return 0;
}

int live_sampler_stop(struct live_sampler *s)
{
	if (s->state != RUNNING)
		return -EINVAL;
	turn_clocks(s, 0);
	drop_links(s);
	s->state = STOPPED;
	return 0;
}

int live_sampler_is_running(const struct live_sampler *s)
{
	return s->state == RUNNING;
}

int live_sampler_tick(struct live_sampler *s, uint64_t now_ns, int *on)
{
	int draw;

	if (!s->interval_ns || s->state != RUNNING || now_ns < s->next_draw_ns)
		return 0;
	s->next_draw_ns = now_ns + s->interval_ns;
	draw = sampler_draw(&s->draw);
	if (draw == !s->paused)
		return 0;
	s->paused = !draw;
	*s->parts.pause = (uint32_t)s->paused;
	turn_clocks(s, draw);
	*on = draw;
	return 1;
}

static uint64_t clock_ns(const struct clock *c)
{
	uint64_t ns = 0;

	if (c->fd < 0 || read(c->fd, &ns, sizeof(ns)) != sizeof(ns))
		return 0;
	return ns;
}

/* A clock that does not advance has gone with its CPU. */
static int has_died(struct clock *c)
{
	const uint64_t ns = clock_ns(c), before = c->ns;

	c->ns = ns;
	return c->fd >= 0 && ns == before;
}

/* Returns 1 if CPU @cpu has come online. */
static int revive_clock(struct live_sampler *s, unsigned int cpu)
{
	struct clock *c = &s->clocks[cpu];

	if (has_died(c)) {
		s->gone_due += c->ns / s->parts.config->period_ns;
		close(c->fd);
		c->fd = -ENODEV;
	}
	if (c->fd >= 0 || c->refused)
		return 0;
	c->fd = open_clock(s, cpu);
	c->ns = 0;
	if (c->fd < 0 && c->fd != -ENODEV) {
		c->refused = 1;
		scap_say(&s->log, SCAP_LOG_WARN,
			 "cannot sample CPU %u, which came online: %s; set sysctl "
			 "kernel.perf_event_paranoid to 2 or less",
			 cpu, strerror(-c->fd));
	}
	return c->fd >= 0 && !ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
}

int live_sampler_revive(struct live_sampler *s, uint64_t now_ns, unsigned int *cpu)
{
	if (s->state != RUNNING || s->paused || (!s->at_cpu && now_ns < s->next_look_ns))
		return 0;
	s->next_look_ns = now_ns + LOOK_NS;
	while (s->at_cpu < s->n_cpus) {
		*cpu = s->at_cpu++;
		if (revive_clock(s, *cpu))
			return 1;
	}
	s->at_cpu = 0;
	return 0;
}

static uint64_t load_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* The kernel may stop the clock of an idle CPU: ticks in that time were due if they came. */
static uint64_t n_slept(const struct live_sampler *s, unsigned int cpu, uint64_t idle_ns)
{
	const struct drv_sample_counts *c = &s->parts.counts[cpu].by[SAMPLE_SRC_CPU];
	const uint64_t came = load_counter(&c->filtered[SAMPLE_FILTER_IDLE]);
	/* Below 0: /proc/stat was missing the second time. */
	const uint64_t n = (int64_t)idle_ns > 0 ? idle_ns / s->parts.config->period_ns : 0;

	return n > came ? n - came : 0;
}

/* Ticks that were due since the start: the clock counts the time for which it was enabled. */
static uint64_t n_due(const struct live_sampler *s)
{
	uint64_t *idle_ns = s->n_cpus ? malloc(s->n_cpus * sizeof(*idle_ns)) : NULL;
	uint64_t n = s->gone_due;

	if (idle_ns) {
		memcpy(idle_ns, s->idle_ns, s->n_cpus * sizeof(*idle_ns));
		if (s->state == RUNNING && !s->paused)
			add_idle(idle_ns, s->n_cpus, 1);
	}
	for (unsigned int cpu = 0; cpu < s->n_cpus; cpu++) {
		const uint64_t due = clock_ns(&s->clocks[cpu]) / s->parts.config->period_ns;
		const uint64_t slept = idle_ns ? n_slept(s, cpu, idle_ns[cpu]) : 0;

		n += due > slept ? due - slept : 0;
	}
	free(idle_ns);
	return n;
}

/* 0 unless the kernel counts: kernel.bpf_stats_enabled, bpf_enable_stats. */
static uint64_t n_kernel_runs(const struct live_sampler *s)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (!s->parts.clock || bpf_obj_get_info_by_fd(bpf_program__fd(s->parts.clock), &info, &len))
		return 0;
	return info.run_cnt;
}

static void add_counts(struct scap_sampler_counts *sum, const struct drv_sample_counts *c)
{
	sum->n_runs += load_counter(&c->runs);
	sum->n_samples += load_counter(&c->samples);
	sum->n_dropped += load_counter(&c->dropped);
	for (unsigned int i = 0; i < SAMPLE_FILTER_MAX; i++)
		sum->filtered_by[i] += load_counter(&c->filtered[i]);
}

static enum sample_reason reason_of(unsigned int source)
{
	if (source == SAMPLE_SRC_SYSCALL)
		return SAMPLE_SYSCALL;
	return source < SAMPLE_SRC_TRACEPOINT ? (enum sample_reason)source : SAMPLE_TRACEPOINT;
}

void live_sampler_stats(const struct live_sampler *s, struct scap_sampler_stats *st)
{
	*st = (struct scap_sampler_stats){
		.n_due = n_due(s),
		.n_kernel_runs = n_kernel_runs(s),
		.period_ns = s->parts.config->period_ns,
		.depth = s->parts.config->depth,
		.interval_ns = s->interval_ns,
		.threshold = s->interval_ns ? s->draw.threshold : 0,
	};
	for (unsigned int cpu = 0; cpu < DRV_MAX_CPUS; cpu++) {
		const struct drv_sampler *c = &s->parts.counts[cpu];

		for (unsigned int i = 0; i < SAMPLE_SRC_MAX; i++)
			add_counts(&st->by_reason[reason_of(i)], &c->by[i]);
		for (unsigned int i = 0; i < STACK_END_MAX; i++)
			st->ends[i] += load_counter(&c->ends[i]);
		st->n_later += load_counter(&c->n_later);
		st->n_finished += load_counter(&c->n_finished);
		st->n_finish_dropped += load_counter(&c->n_finish_dropped);
		st->n_not_later += load_counter(&c->n_not_later);
		st->n_copied += load_counter(&c->n_copied);
		st->n_not_copied += load_counter(&c->n_not_copied);
		st->n_copies_refused += load_counter(&c->n_copies_refused);
		st->n_unsaved += load_counter(&c->n_unsaved);
		st->n_rules += load_counter(&c->n_rules);
		st->n_searched += load_counter(&c->n_searched);
	}
	for (unsigned int i = 0; i < SAMPLE_REASON_MAX; i++) {
		struct scap_sampler_counts *c = &st->by_reason[i];

		for (unsigned int why = 0; why < SAMPLE_FILTER_MAX; why++)
			c->n_filtered += c->filtered_by[why];
		st->n_runs += c->n_runs;
		st->n_samples += c->n_samples;
		st->n_dropped += c->n_dropped;
		st->n_filtered += c->n_filtered;
	}
	if (st->n_due > st->by_reason[SAMPLE_CPU].n_runs)
		st->n_missed = st->n_due - st->by_reason[SAMPLE_CPU].n_runs;
}

void live_sampler_close(struct live_sampler *s)
{
	if (!s)
		return;
	if (s->state == RUNNING)
		live_sampler_stop(s);
	drop_links(s);
	for (unsigned int cpu = 0; cpu < s->n_cpus; cpu++)
		if (s->clocks[cpu].fd >= 0)
			close(s->clocks[cpu].fd);
	sampler_session_end(s->session);
	free(s->clocks);
	free(s->idle_ns);
	free(s);
}
