/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what a sample costs in the driver: sample_cost DEEP CALLS [HZ [MODE]]
 *
 * Runs the program DEEP, whose stack has CALLS frames and a few more, on each CPU, and has the
 * kernel measure the program that takes the samples: "name number" by line. MODE:
 *
 *	rows	stacks by unwind tables, of all tasks
 *	fp	stacks by frame pointers alone
 *	none	no stacks
 *	other	a selection of another process, so that no tick makes a sample
 *
 * Nothing else gets a CPU while it measures, a fraction of a second at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "sampling/scap_sampler.h"
#include "shared/events.h"
#include "shared/stack.h"

#define WINDOWS 24
#define WINDOW_MS 30
#define REST_MS 20
#define WARM_MS 60
#define TABLES_MS 10000
#define CPUS_MAX 256
#define BUF_SZ (64u << 20)
#define PROGRAM "sample_cpu"

static pid_t loops[CPUS_MAX];
static int n_loops;

static void say(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	fprintf(stderr, "sample_cost: %s\n", text);
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "sample_cost: %s: %s\n", what, strerror(err));
	return 1;
}

static void nap(int ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

/* Above or below the loops, or as others are. */
static void set_priority(pid_t pid, int priority)
{
	const struct sched_param p = {.sched_priority = priority};

	if (sched_setscheduler(pid, priority ? SCHED_FIFO : SCHED_OTHER, &p))
		fail("sched_setscheduler", errno);
}

static int start_loops(char *deep, char *calls)
{
	const int n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	char seconds[] = "600";
	char *argv[] = {deep, calls, seconds, NULL};
	cpu_set_t set;

	for (int cpu = 0; cpu < n && cpu < CPUS_MAX; cpu++) {
		const pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			sched_setaffinity(0, sizeof(set), &set);
			execv(deep, argv);
			_exit(127);
		}
		if (pid < 0)
			return -errno;
		loops[n_loops++] = pid;
	}
	return 0;
}

static void end_loops(void)
{
	for (int i = 0; i < n_loops; i++) {
		kill(loops[i], SIGKILL);
		waitpid(loops[i], NULL, 0);
	}
}

/* The program is one of our own descriptors: others may sample, too. */
static int find_program(void)
{
	const long n = sysconf(_SC_OPEN_MAX);

	for (int fd = 3; fd < (n < 65536 ? n : 65536); fd++) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, PROGRAM))
			return fd;
	}
	return -ENOENT;
}

struct look {
	__u64 ns, runs;
};

static struct look look_at(int prog)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	bpf_obj_get_info_by_fd(prog, &info, &len);
	return (struct look){info.run_time_ns, info.run_cnt};
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct samples {
	size_t n, bytes; /* of each */
	unsigned int frames; /* user frames of most of them */
};

static struct samples look_at_samples(const void *buf, size_t len)
{
	unsigned int by_frames[STACK_USER_MAX + 1] = {0}, most = 0;
	size_t at = 0, n = 0, bytes = 0;
	const struct ppm_evt_hdr *h;

	while ((h = scap_sampler_event(buf, len, &at))) {
		const uint8_t *lens = (const uint8_t *)(h + 1);
		uint16_t user;

		if (h->type != EVT_SAMPLE_E)
			continue;
		memcpy(&user, lens + 2 * SAMPLE_P_USER, 2);
		by_frames[user / 8 <= STACK_USER_MAX ? user / 8 : 0]++;
		bytes += h->len;
		n++;
	}
	for (unsigned int i = 0; i <= STACK_USER_MAX; i++)
		if (by_frames[i] > by_frames[most])
			most = i;
	return (struct samples){n, n ? bytes / n : 0, most};
}

/* The tables of the loops are there once their stacks are whole. */
static int wait_for_tables(struct scap_sampler *s, char *buf, unsigned int calls)
{
	size_t len;
	int err = 0;

	for (int i = 0; i < TABLES_MS / WINDOW_MS && !err; i++) {
		nap(WINDOW_MS);
		err = scap_sampler_read(s, 0, buf, BUF_SZ, &len);
		if (!err && look_at_samples(buf, len).frames >= calls)
			return 0;
	}
	return err ?: -ETIMEDOUT;
}

/* Stacks have @calls frames at least. */
static int measure(struct scap_sampler *s, int prog, unsigned int calls)
{
	double ns[WINDOWS];
	char *buf = malloc(BUF_SZ);
	struct scap_sampler_stats st;
	struct samples last;
	size_t len = 0, n = 0;
	int err;

	if (!buf)
		return -ENOMEM;
	err = calls ? wait_for_tables(s, buf, calls) : 0;
	for (int i = 0; i < WINDOWS && !err; i++) {
		struct look from, to;

		for (int k = 0; k < n_loops; k++)
			set_priority(loops[k], 5);
		nap(WARM_MS);
		from = look_at(prog);
		nap(WINDOW_MS);
		to = look_at(prog);
		for (int k = 0; k < n_loops; k++)
			set_priority(loops[k], 0);
		if (to.runs > from.runs)
			ns[n++] = (double)(to.ns - from.ns) / (double)(to.runs - from.runs);
		nap(REST_MS);
		err = scap_sampler_read(s, 0, buf, BUF_SZ, &len);
	}
	if (!err && n) {
		qsort(ns, n, sizeof(*ns), by_size);
		printf("least %.0f\nmedian %.0f\nmost %.0f\n", ns[0], ns[n / 2], ns[n - 1]);
		last = look_at_samples(buf, len);
		printf("samples %zu\nframes %u\nbytes %zu\n", last.n, last.frames, last.bytes);
		scap_sampler_get_stats(s, &st);
		printf("filtered %lu\ndropped %lu\n", (unsigned long)st.n_filtered,
		       (unsigned long)st.n_dropped);
	}
	free(buf);
	return err ?: n ? 0 : -ENODATA;
}

int main(int argc, char **argv)
{
	static const int32_t init[] = {1};
	static const struct scap_select other = {.pids = init, .n_pids = 1};
	const char *mode = argc > 4 ? argv[4] : "rows";
	struct scap_sampler_opts opts = {.sz = sizeof(opts), .session = "sample_cost"};
	struct scap_sampler_create_opts create = {
		.sz = sizeof(create), .sampler = &opts, .log = say};
	const double hz = argc > 3 ? atof(argv[3]) : 4000;
	struct scap_sampler *s;
	unsigned int calls;
	int err, prog, counts;

	if (argc < 3 || hz < 1) {
		fprintf(stderr, "usage: sample_cost DEEP CALLS [HZ [rows|fp|none|other]]\n");
		return 2;
	}
	calls = strcmp(mode, "rows") ? 0 : (unsigned int)atoi(argv[2]);
	opts.period_ns = (uint64_t)(1e9 / hz);
	opts.frame_pointers = !strcmp(mode, "fp");
	opts.no_user = opts.no_kernel = !strcmp(mode, "none");
	create.select = !strcmp(mode, "other") ? &other : NULL;
	counts = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (counts < 0)
		return fail("the kernel's account of run times", errno);
	err = start_loops(argv[1], argv[2]);
	if (err)
		return fail(argv[1], -err);
	err = scap_sampler_create(&s, &create);
	if (err)
		return fail("the sampler", -err);
	prog = find_program();
	set_priority(0, 10);
	err = prog < 0 ? prog : scap_sampler_start(s, 0) ?: measure(s, prog, calls);
	end_loops();
	scap_sampler_close(s);
	return err ? fail("samples", -err) : 0;
}
