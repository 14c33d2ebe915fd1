/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends more events than a reader can process: overload [perf|ringbuf|array [1|all [counted]]]
 *
 * Four loops of getppid, two on each of two CPUs, and a reader that goes where it finds room, for
 * three seconds. "all": the CPUs share a ring. "counted": the kernel counts the runs of the
 * programs meanwhile, which costs time of its own.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "scap.h"

#define N_LOOPS 4
#define SECONDS 3.0
#define LOOK_EVERY 1024 /* events between two looks at the clock */

struct result {
	uint64_t in_time; /* records delivered before the loops ended */
	uint64_t n_back; /* events older than the one before */
	uint64_t n_late_enters; /* of calls, the same; their time is not when they were emitted */
	uint64_t last_ns;
};

static void say(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	fprintf(stderr, "overload: %s\n", text);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pid_t start_loop(int cpu)
{
	pid_t pid = fork();
	cpu_set_t set;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	for (;;)
		syscall(SYS_getppid);
}

static void look(struct result *r, const struct scap_evt *evt)
{
	if (evt->true_ns >= r->last_ns)
		r->last_ns = evt->true_ns;
	else if (evt->nr != REC_NR_NONE && !(evt->type & 1))
		r->n_late_enters++;
	else
		r->n_back++;
}

static int read_for(struct scap *s, struct result *r, double seconds)
{
	const double end = now_s() + seconds;
	struct scap_evt evt;
	int ret = 0;

	while (ret >= 0 && now_s() < end)
		for (int i = 0; i < LOOK_EVERY && (ret = scap_next(s, &evt, 10)) == 1; i++)
			look(r, &evt);
	return ret < 0 ? ret : 0;
}

static int read_rest(struct scap *s, struct result *r)
{
	int ret = scap_stop(s);
	struct scap_evt evt;

	while (ret >= 0 && (ret = scap_next(s, &evt, 10)) >= 0)
		if (ret)
			look(r, &evt);
	return ret == -ENODATA ? 0 : ret;
}

static void print(const struct result *r, const struct scap_stats *st)
{
	printf("delivered %lu\n", (unsigned long)r->in_time);
	printf("dropped %lu\n", (unsigned long)st->n_dropped);
	printf("inversions %lu\n", (unsigned long)r->n_back);
	printf("late_enters %lu\n", (unsigned long)r->n_late_enters);
	printf("unaccounted %ld\n", (long)(st->n_seen - st->n_records - st->n_dropped));
	if (st->n_exit_runs)
		printf("exit_runs %lu\nexits_accounted %lu\n", (unsigned long)st->n_exit_runs,
		       (unsigned long)st->n_exits);
}

static int measure(struct scap *s)
{
	struct result r = {0};
	struct scap_stats st;
	pid_t loops[N_LOOPS];
	int err;

	for (int i = 0; i < N_LOOPS; i++)
		loops[i] = start_loop(i % 2);
	err = read_for(s, &r, SECONDS) ?: scap_stats(s, &st);
	r.in_time = err ? 0 : st.n_records;
	for (int i = 0; i < N_LOOPS; i++) {
		if (loops[i] <= 0)
			continue;
		kill(loops[i], SIGKILL);
		waitpid(loops[i], NULL, 0);
	}
	err = err ?: read_rest(s, &r) ?: scap_stats(s, &st);
	if (!err)
		print(&r, &st);
	return err;
}

static int kind_of(const char *name)
{
	static const char *const names[] = {"perf", "ringbuf", "array"};

	for (int i = 0; i < 3; i++)
		if (!strcmp(names[i], name))
			return i + 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct scap_open_opts o = {.sz = sizeof(o), .log = say};
	int counts = -1, err;
	struct scap *s;

	o.ring_kind = argc > 1 ? kind_of(argv[1]) : 0;
	o.cpus_per_ring = argc > 2 && !strcmp(argv[2], "all") ? UINT32_MAX : 1;
	if (argc > 3)
		counts = bpf_enable_stats(BPF_STATS_RUN_TIME);
	err = scap_open(&s, &o);
	if (err)
		return 1;
	err = measure(s);
	if (err)
		fprintf(stderr, "overload: %s\n", strerror(-err));
	scap_close(s);
	if (counts >= 0)
		close(counts);
	return err != 0;
}
