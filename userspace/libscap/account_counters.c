/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of the hardware counters of accounting: which of perf_event_open's counters a row of
 * account.def is, and whether this machine has it. Each row is supported, or has the reason why it
 * is not: the others do not depend on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "account_impl.h"
#include "procfs/online_cpus.h"

#include "account_bpf.skel.h"

#define MOVES_WITHIN_NS 200000000ull /* of a busy loop: a counter that does not move is stuck */
#define INTERVAL_NS 1000000ull /* of a measurement of the rate */

/* The source of each row, from its first counter on. */
static const struct account_event hardware[ACCT_COUNTERS] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};

_Static_assert(ACCT_BRANCH_MISSES == ACCT_FIRST_COUNTER + 5 && ACCT_COUNTERS == 6,
	       "the order of account.def");

static const struct {
	const char *name;
	struct account_event event;
} software[] = {
	{"software:cpu-clock", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK}},
	{"software:task-clock", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}},
};

/* Reads a number from a file of a PMU. */
static int read_number(uint64_t *out, const char *pmu, const char *file, const char *form)
{
	char path[256];
	unsigned int n;
	FILE *f;
	int ok;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	ok = fscanf(f, form, &n) == 1;
	fclose(f);
	if (!ok)
		return -EBADMSG;
	*out = n;
	return 0;
}

/* "PMU:EVENT", as sysfs names them: msr:tsc. */
static int find_pmu_event(struct account_event *out, const char *source)
{
	const char *colon = strchr(source, ':');
	char pmu[64], file[80];
	uint64_t type = 0, config = 0;
	int err;

	if (!colon || colon == source || (size_t)(colon - source) >= sizeof(pmu) ||
	    strchr(source, '/') || strstr(source, "..") || strlen(colon) > 64)
		return -EINVAL;
	snprintf(pmu, sizeof(pmu), "%.*s", (int)(colon - source), source);
	snprintf(file, sizeof(file), "events/%s", colon + 1);
	err = read_number(&type, pmu, "type", "%u") ?: read_number(&config, pmu, file, "event=%x");
	if (!err)
		*out = (struct account_event){(uint32_t)type, config};
	return err;
}

static int find_event(struct account_event *out, const char *source)
{
	for (size_t i = 0; i < sizeof(software) / sizeof(software[0]); i++) {
		if (!strcmp(software[i].name, source)) {
			*out = software[i].event;
			return 0;
		}
	}
	return find_pmu_event(out, source);
}

/* ---- the list ---- */

/* The counters whose ratio is the frequency. */
enum {
	HZ_ROWS = 1u << (ACCT_CYCLES - ACCT_FIRST_COUNTER) |
		  1u << (ACCT_REF_CYCLES - ACCT_FIRST_COUNTER)
};

struct choice {
	uint32_t rows; /* bit i: counter i */
	struct account_event events[ACCT_COUNTERS];
};

/* Returns the number of the counter with this name of @len bytes; ACCT_COUNTERS: there is none. */
static unsigned int counter_named(const char *name, size_t len)
{
	unsigned int i = 0;

	for (; i < ACCT_COUNTERS; i++) {
		const char *row = scap_account_rows[ACCT_FIRST_COUNTER + i].name;

		if (strlen(row) == len && !memcmp(row, name, len))
			break;
	}
	return i;
}

int scap_account_knows_counters(const char *spec)
{
	size_t len, n = 0;

	if (!strcmp(spec, "all"))
		return 1;
	for (;; spec += len) {
		spec += strspn(spec, ",");
		len = strcspn(spec, ",");
		if (!len)
			return n > 0;
		if (counter_named(spec, strcspn(spec, ",=")) == ACCT_COUNTERS)
			return 0;
		n++;
	}
}

static int parse_one(struct choice *c, char *word, const struct scap_log *log)
{
	char *source = strchr(word, '=');
	const unsigned int i = counter_named(word, strcspn(word, "="));
	int err;

	if (source)
		*source++ = 0;
	if (i == ACCT_COUNTERS)
		return scap_fail(
			log, -EINVAL,
			"cannot count %s: it is no counter; use all, or some of cpu_cycles, "
			"cpu_reference_cycles, cpu_instructions, cache_references, "
			"cache_misses, branch_misses",
			word);
	c->rows |= 1u << i;
	c->events[i] = hardware[i];
	err = source ? find_event(&c->events[i], source) : 0;
	return err ? scap_fail(log, err, "cannot count %s by %s: %s", word, source, strerror(-err))
		   : 0;
}

static int parse(struct choice *c, const char *spec, const struct scap_log *log)
{
	char *list = strdup(spec), *save, *word;
	int err = list ? 0 : -ENOMEM;

	if (!strcmp(spec, "all")) {
		c->rows = (1u << ACCT_COUNTERS) - 1;
		memcpy(c->events, hardware, sizeof(hardware));
	} else {
		for (word = strtok_r(list, ",", &save); word && !err;
		     word = strtok_r(NULL, ",", &save))
			err = parse_one(c, word, log);
	}
	free(list);
	return err;
}

/* ---- probes ---- */

/* @pid -1: all of the CPU. Returns a descriptor or -errno. */
static int open_event(const struct account_event *e, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = e->type,
		.size = sizeof(attr),
		.config = e->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static uint64_t count_of(int fd)
{
	struct counter_reading r = {0};

	return read(fd, &r, sizeof(r)) == sizeof(r) ? r.counter : 0;
}

static uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns whether the counter moves while this thread uses a CPU. */
static int moves(int fd)
{
	const uint64_t end = mono_ns() + MOVES_WITHIN_NS, was = count_of(fd);

	while (count_of(fd) == was)
		if (mono_ns() > end)
			return 0;
	return 1;
}

static const char *why_not(int err)
{
	switch (-err) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		return "this CPU, or its hypervisor, does not have the counter";
	case EACCES:
	case EPERM:
		return "no permission: run as root, or set the sysctl kernel.perf_event_paranoid "
		       "to 0";
	case EBUSY:
		return "another program uses all counters of the CPU";
	}
	return "the kernel refuses the counter";
}

/* Returns NULL if the counter can be used, else why not. */
static const char *probe(const struct account_event *e)
{
	const int fd = open_event(e, 0, -1);
	const char *why = NULL;

	if (fd < 0)
		return why_not(fd);
	if (!moves(fd))
		why = "stuck: it does not move while a CPU is busy";
	close(fd);
	return why;
}

static int by_rate(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the rate of a counter in Hz while this thread uses a CPU: the median of several
 * intervals, in some of which a hypervisor may have taken the CPU. 0: unknown. */
static uint64_t rate_of(const struct account_event *e)
{
	enum { INTERVALS = 9, PATIENCE = 10 }; /* others may have the counter */
	const int fd = open_event(e, 0, -1);
	struct counter_reading was, now;
	uint64_t rates[INTERVALS] = {0};

	if (fd < 0)
		return 0;
	for (int i = 0; i < INTERVALS; i++) {
		if (read(fd, &was, sizeof(was)) != sizeof(was))
			break;
		do
			if (read(fd, &now, sizeof(now)) != sizeof(now))
				now = was;
		while (now.enabled != was.enabled && now.running < was.running + INTERVAL_NS &&
		       now.enabled < was.enabled + PATIENCE * INTERVAL_NS);
		if (now.running > was.running)
			rates[i] = (uint64_t)((unsigned __int128)(now.counter - was.counter) *
					      1000000000 / (now.running - was.running));
	}
	close(fd);
	qsort(rates, INTERVALS, sizeof(rates[0]), by_rate);
	return rates[INTERVALS / 2];
}

uint64_t scap_account_frequency(const uint64_t *was, const uint64_t *now, uint64_t reference_hz)
{
	const uint64_t cycles = now[SCAP_ACCT_CYCLES] - (was ? was[SCAP_ACCT_CYCLES] : 0);
	const uint64_t ref = now[SCAP_ACCT_REF_CYCLES] - (was ? was[SCAP_ACCT_REF_CYCLES] : 0);

	if (!ref || (ref | cycles) >> 63)
		return 0;
	return (uint64_t)((unsigned __int128)cycles * reference_hz / ref);
}

static void open_row(struct scap_account *a, unsigned int row, const struct account_event *e)
{
	cpu_set_t online;
	int n = 0;

	a->no_counter[row] = probe(e);
	if (a->no_counter[row] || online_cpus(&online))
		return;
	a->counter_events[row] = *e;
	a->counter_cpus = online;
	for (unsigned int cpu = 0; cpu < a->n_cpus; cpu++) {
		int *fd = &a->counter_fds[cpu * ACCT_COUNTERS + row];

		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &online))
			continue;
		*fd = open_event(e, -1, (int)cpu);
		if (*fd >= 0)
			n++;
		else
			a->no_counter[row] = why_not(*fd);
	}
	/* With some CPUs only, sums would be wrong. */
	if (!a->no_counter[row] && n)
		a->counters |= 1u << row;
}

int account_counters_open(struct scap_account *a, const char *spec)
{
	struct choice c = {0};
	int n = libbpf_num_possible_cpus(), err = parse(&c, spec, &a->log);

	if (err || n < 0)
		return err ?: n;
	a->n_cpus = (uint32_t)n;
	a->counter_fds = malloc((size_t)n * ACCT_COUNTERS * sizeof(int));
	if (!a->counter_fds)
		return -ENOMEM;
	for (int i = 0; i < n * (int)ACCT_COUNTERS; i++)
		a->counter_fds[i] = -1;
	for (unsigned int i = 0; i < ACCT_COUNTERS; i++) {
		if (c.rows & 1u << i)
			open_row(a, i, &c.events[i]);
		else
			a->no_counter[i] = "not requested";
		if (c.rows & 1u << i && a->no_counter[i])
			scap_say(&a->log, SCAP_LOG_WARN, "cannot count %s: %s",
				 scap_account_rows[ACCT_FIRST_COUNTER + i].name, a->no_counter[i]);
	}
	if ((a->counters & HZ_ROWS) == HZ_ROWS)
		a->reference_hz = rate_of(&c.events[ACCT_REF_CYCLES - ACCT_FIRST_COUNTER]);
	if (a->counters)
		a->parts |= SCAP_ACCT_COUNTERS;
	return 0;
}

/* ---- use ---- */

/* Gives a counter to the programs. Returns 0 or -errno. */
static int pass(const struct scap_account *a, uint32_t i)
{
	return bpf_map__update_elem(a->skel->maps.acct_events, &i, sizeof(i), &a->counter_fds[i],
				    sizeof(int), BPF_ANY);
}

int account_counters_start(const struct scap_account *a)
{
	for (uint32_t i = 0; a->counters && i < a->n_cpus * ACCT_COUNTERS; i++) {
		int err;

		if (a->counter_fds[i] < 0 || !(a->counters & 1u << i % ACCT_COUNTERS))
			continue;
		err = pass(a, i);
		if (err)
			return scap_fail(&a->log, err, "cannot give counters to the driver: %s",
					 strerror(-err));
	}
	return 0;
}

/* Opens a counter again on a CPU that came back: the kernel ended the one before. */
static void reopen(struct scap_account *a, uint32_t cpu, unsigned int row)
{
	const uint32_t i = cpu * ACCT_COUNTERS + row;
	struct scap_account_counter *closed = &a->closed_times[row];
	struct counter_reading r;
	int err;

	if (a->counter_fds[i] >= 0) {
		if (read(a->counter_fds[i], &r, sizeof(r)) == sizeof(r)) {
			closed->enabled_ns += r.enabled;
			closed->running_ns += r.running;
		}
		close(a->counter_fds[i]);
	}
	a->counter_fds[i] = open_event(&a->counter_events[row], -1, (int)cpu);
	err = a->counter_fds[i] < 0 ? a->counter_fds[i] : pass(a, i);
	if (err)
		scap_say(&a->log, SCAP_LOG_WARN, "cannot count %s on CPU %u, which came online: %s",
			 scap_account_rows[ACCT_FIRST_COUNTER + row].name, cpu, strerror(-err));
}

/* Opens the counters of CPUs that came online since the last read. */
static void follow_cpus(struct scap_account *a)
{
	cpu_set_t online;

	if (online_cpus(&online) || CPU_EQUAL(&online, &a->counter_cpus))
		return;
	for (uint32_t cpu = 0; cpu < a->n_cpus && cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &online) || CPU_ISSET(cpu, &a->counter_cpus))
			continue;
		for (unsigned int i = 0; i < ACCT_COUNTERS; i++)
			if (a->counters & 1u << i)
				reopen(a, cpu, i);
	}
	a->counter_cpus = online;
}

static void read_times(struct scap_account *a, unsigned int row)
{
	struct scap_account_counter *to = &a->counter_times[a->snapshot.n_counters++];

	*to = a->closed_times[row];
	to->id = ACCT_FIRST_COUNTER + row;
	for (uint32_t cpu = 0; cpu < a->n_cpus; cpu++) {
		const int fd = a->counter_fds[cpu * ACCT_COUNTERS + row];
		struct counter_reading r;

		if (fd < 0 || read(fd, &r, sizeof(r)) != sizeof(r))
			continue;
		to->enabled_ns += r.enabled;
		to->running_ns += r.running;
	}
}

void account_counters_read(struct scap_account *a)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);
	const int fd = bpf_program__fd(a->skel->progs.account_flush_counters);

	follow_cpus(a);
	for (uint32_t cpu = 0; fd >= 0 && cpu < a->n_cpus; cpu++) {
		opts.cpu = cpu; /* one that is offline is refused */
		bpf_prog_test_run_opts(fd, &opts);
	}
	a->snapshot.counters = a->counter_times;
	a->snapshot.n_counters = 0;
	a->snapshot.reference_hz = a->reference_hz;
	for (unsigned int i = 0; i < ACCT_COUNTERS; i++)
		if (a->counters & 1u << i)
			read_times(a, i);
}

void account_counters_close(struct scap_account *a)
{
	for (uint32_t i = 0; a->counter_fds && i < a->n_cpus * ACCT_COUNTERS; i++)
		if (a->counter_fds[i] >= 0)
			close(a->counter_fds[i]);
	free(a->counter_fds);
}
