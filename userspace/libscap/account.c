/* SPDX-License-Identifier: Apache-2.0 */
/* Accounting: loads and attaches the programs of account.bpf.c. docs/accounting.md. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "account_impl.h"
#include "live/live_driver.h"
#include "live/program_rows.h"
#include "packed_object.h"

#include "account_bpf.skel.h"

const struct scap_account_row scap_account_rows[SCAP_ACCT_MAX] = {
#define ACCT(id, name, unit, from, source, help) {name, SCAP_ACCT_##unit, help},
#include "account.def"
};

const char *const scap_account_softirqs[SCAP_ACCT_SOFTIRQS] = {
	"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
	"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

/* The rows of account_programs.def: what each is loaded for. */
enum {
	PART_BASE = 0,
	PART_CPUS = SCAP_ACCT_CPUS,
	PART_WAKEUP = SCAP_ACCT_WAKEUP,
	PART_SOFTIRQ = SCAP_ACCT_SOFTIRQ,
	PART_CACHE = SCAP_ACCT_CACHE,
	PART_NET = SCAP_ACCT_NET,
	PART_BLOCK = SCAP_ACCT_BLOCK,
	PART_CALLS = SCAP_ACCT_CALLS,
	PART_COUNTERS = SCAP_ACCT_COUNTERS,
};

static const struct {
	const char *name;
	uint32_t part;
	size_t prog, link; /* offsets of the program and its link in the skeleton */
} rows[ACCOUNT_N_PROGRAMS] = {
#define PROG(name, need, part, what)                                                               \
	{#name, PART_##part, offsetof(struct account_bpf, progs.name),                             \
	 offsetof(struct account_bpf, links.name)},
#include "account_programs.def"
};

_Static_assert(sizeof(((struct account_bpf *)0)->progs) / sizeof(void *) == ACCOUNT_N_PROGRAMS,
	       "account_programs.def lacks a program of account.bpf.c");

/* The program that is the source of each counter; NULL: the kernel counts it. */
static const char *const sources[SCAP_ACCT_MAX] = {
#define FROM_KERNEL(id, source)
#define FROM_HOOK(id, source) [SCAP_ACCT_##id] = #source,
#define FROM_SOCKET(id, source) [SCAP_ACCT_##id] = #source,
#define FROM_COUNTER(id, source) [SCAP_ACCT_##id] = #source,
#define ACCT(id, name, unit, from, source, help) FROM_##from(id, source)
#include "account.def"
};

_Static_assert((int)SCAP_ACCT_MAX == (int)ACCT_MAX && SCAP_ACCT_BUCKETS == ACCT_BUCKETS &&
		       SCAP_ACCT_SOFTIRQS == ACCT_SOFTIRQS && SCAP_ACCT_IA32 == ACCT_IA32 &&
		       (int)SCAP_ACCT_IO_MAX == (int)ACCT_IO_MAX,
	       "account.h and account_maps.h differ");

static struct bpf_program *program(const struct scap_account *a, unsigned int i)
{
	return *(struct bpf_program **)((char *)a->skel + rows[i].prog);
}

/* Records that the program does not run, and reports it once. */
static void note_missing(struct scap_account *a, unsigned int i, int err)
{
	struct account_program *p = &a->programs[i];
	const char *section = bpf_program__section_name(program(a, i));
	const char *hook = strchr(section, '/');

	p->missing = err;
	if (err == -ENOENT)
		snprintf(p->why, sizeof(p->why), "the kernel has no tracepoint %s",
			 hook ? hook + 1 : section);
	else
		snprintf(p->why, sizeof(p->why), "the kernel refuses the program %s: %s",
			 rows[i].name, strerror(-err));
	scap_say(&a->log, SCAP_LOG_WARN, "%s; not counted: %s", p->why,
		 program_row_of(program(a, i))->what);
}

/* Enables the programs of the requested parts whose hooks exist. */
static int choose_programs(struct scap_account *a)
{
	int err = 0;

	for (unsigned int i = 0; i < ACCOUNT_N_PROGRAMS && !err; i++) {
		struct bpf_program *p = program(a, i);
		const int is_wanted = !rows[i].part || a->parts & rows[i].part;
		const int is_hook = !strncmp(bpf_program__section_name(p), "tp_btf/", 7);

		a->programs[i].part = rows[i].part;
		if (is_wanted && is_hook && !program_row_of(p)->required &&
		    !live_progs_has_hook(a->progs, p))
			note_missing(a, i, -ENOENT);
		err = bpf_program__set_autoload(p, is_wanted && !a->programs[i].missing);
	}
	return err;
}

struct subsys {
	const char *name;
	int id; /* -1: not found */
};

static void find_subsys(void *ctx, const char *name, uint32_t value)
{
	struct subsys *s = ctx;

	if (!strcmp(name, s->name))
		s->id = (int)value;
}

/* Chooses the hierarchy. */
static int set_hierarchy(struct scap_account *a, struct acct_config *c, const char *mount)
{
	struct subsys s = {.id = -1};
	char buf[32];
	int err = account_hierarchy(&s.name, buf, sizeof(buf), mount, &a->log);

	c->subsys = ACCT_NO_SUBSYS;
	if (err || !s.name)
		return err;
	live_progs_each_enum(a->progs, "cgroup_subsys_id", find_subsys, &s);
	if (s.id < 0)
		return scap_fail(&a->log, -ENOENT, "cannot find %s among the kernel's types",
				 s.name);
	c->subsys = s.id;
	return 0;
}

static uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int set_room(struct scap_account *a, const struct scap_account_opts *o)
{
	const struct account_bpf *s = a->skel;
	int n = libbpf_num_possible_cpus(), err;

	if (n < 0)
		return scap_fail(&a->log, n, "cannot count the CPUs");
	a->n_cpus = (uint32_t)n;
	err = bpf_map__set_max_entries(s->maps.acct_cpus, a->n_cpus);
	if (a->counters) {
		err = err
			      ?: bpf_map__set_max_entries(s->maps.acct_events,
							  a->n_cpus * ACCT_COUNTERS);
		err = err ?: bpf_map__set_max_entries(s->maps.acct_counters_seen, a->n_cpus);
	}
	if (kernel_is_6_4())
		err = err ?: bpf_map__set_max_entries(s->maps.acct_task_hash, 1);
	if (o->max_processes)
		err = err ?: bpf_map__set_max_entries(s->maps.acct_processes, o->max_processes);
	if (o->max_cgroups)
		err = err ?: bpf_map__set_max_entries(s->maps.acct_cgroups, o->max_cgroups);
	if (o->max_calls)
		err = err ?: bpf_map__set_max_entries(s->maps.acct_calls, o->max_calls);
	return err ? live_fail_libbpf(&a->log, err, "cannot size the tables of accounting") : 0;
}

/* Opens the skeleton against the kernel's types, and chooses what is loaded. */
static int prepare(struct scap_account *a, const struct scap_account_opts *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo);
	struct acct_config *config;
	int err = live_progs_new(&a->progs);

	if (err)
		return live_fail_libbpf(&a->log, err,
					"cannot start the threads that load accounting");
	oo.btf_custom_path = live_progs_types(a->progs);
	live_progs_refuse(a->progs, o->refuse);
	a->skel = PACKED_OBJECT_OPEN(account_bpf, &oo);
	if (!a->skel)
		return live_fail_libbpf(&a->log, -errno, "cannot open the programs of accounting");
	err = live_progs_opened(a->progs, a->skel->obj);
	if (err)
		return live_fail_libbpf(&a->log, err, "cannot read the kernel's BTF");
	config = (struct acct_config *)&a->skel->rodata->acct_cfg;
	config->began_ns = a->began_ns = boot_ns();
	config->task_storage = kernel_is_6_4();
	config->counters = a->counters;
	err = set_hierarchy(a, config, o->cgroup_mount) ?: set_room(a, o);
	if (err)
		return err;
	err = choose_programs(a);
	return err ? live_fail_libbpf(&a->log, err, "cannot configure accounting") : 0;
}

static int load(struct scap_account *a)
{
	int err = account_bpf__load(a->skel);

	if (err)
		return live_fail_libbpf(&a->log, err, "the kernel refuses accounting");
	err = live_progs_finish(a->progs, &a->log);
	if (err)
		return err;
	for (unsigned int i = 0; i < ACCOUNT_N_PROGRAMS; i++) {
		err = live_progs_load_error(a->progs, program(a, i));
		if (err)
			note_missing(a, i, err);
	}
	a->cpus = mmap(NULL, a->n_cpus * sizeof(*a->cpus), PROT_READ, MAP_SHARED,
		       bpf_map__fd(a->skel->maps.acct_cpus), 0);
	if (a->cpus == MAP_FAILED) {
		a->cpus = NULL;
		return scap_fail(&a->log, -errno, "cannot map the table of CPUs: %s",
				 strerror(errno));
	}
	return 0;
}

/* Attaches a program, unless it is run by name only. */
static int attach(struct scap_account *a, unsigned int i)
{
	struct bpf_link **link = (struct bpf_link **)((char *)a->skel + rows[i].link);
	struct bpf_program *p = program(a, i);

	if (!bpf_program__autoload(p) || a->programs[i].missing ||
	    p == a->skel->progs.account_begin || p == a->skel->progs.account_flush_counters)
		return 0;
	*link = p == a->skel->progs.account_fold ? bpf_program__attach_iter(p, NULL)
						 : bpf_program__attach_trace(p);
	if (*link)
		return 0;
	if (program_row_of(p)->required)
		return live_fail_libbpf(&a->log, -errno, "cannot attach accounting");
	note_missing(a, i, -errno);
	return 0;
}

/* Begins the time of the task that each CPU runs now. */
static void begin_cpus(struct scap_account *a)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU);

	for (unsigned int cpu = 0; cpu < a->n_cpus; cpu++) {
		opts.cpu = cpu; /* one that is offline is refused */
		bpf_prog_test_run_opts(bpf_program__fd(a->skel->progs.account_begin), &opts);
	}
}

/* The tasks that there are begin before any hook counts for them. */
static int attach_all(struct scap_account *a)
{
	int err = 0;

	for (unsigned int i = 0; i < ACCOUNT_N_PROGRAMS && !err; i++)
		if (!rows[i].part)
			err = attach(a, i);
	err = err ?: account_fold(a) ?: account_counters_start(a);
	for (unsigned int i = 0; i < ACCOUNT_N_PROGRAMS && !err; i++)
		if (rows[i].part)
			err = attach(a, i);
	if (!err)
		begin_cpus(a);
	return err;
}

int scap_account_open(struct scap_account **out, const struct scap_account_opts *opts)
{
	static const struct scap_account_opts defaults = {.sz = sizeof(defaults)};
	const struct scap_account_opts *o = opts ? opts : &defaults;
	struct scap_account *a;
	int err;

	if (o->sz != sizeof(*o) || o->parts & ~(uint32_t)SCAP_ACCT_ALL)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->log = (struct scap_log){.fn = o->log, .ctx = o->log_ctx};
	a->parts = o->parts;
	live_collect_warnings();
	err = o->counters ? account_counters_open(a, o->counters) : 0;
	err = err ?: prepare(a, o) ?: load(a) ?: attach_all(a);
	if (err) {
		scap_account_close(a);
		return err;
	}
	*out = a;
	return 0;
}

void scap_account_close(struct scap_account *a)
{
	if (!a)
		return;
	if (a->cpus)
		munmap((void *)a->cpus, a->n_cpus * sizeof(*a->cpus));
	account_counters_close(a);
	live_progs_free(a->progs);
	account_bpf__destroy(a->skel);
	account_free_snapshot(a);
	free(a);
}

/* Returns the state of a program; NULL of @why is allowed. */
static enum scap_account_support state_of(const struct scap_account *a, unsigned int i,
					  const char **why)
{
	const struct account_program *p = &a->programs[i];

	if (p->part && !(a->parts & p->part)) {
		if (why)
			*why = "not requested";
		return SCAP_ACCT_OFF;
	}
	if (!p->missing)
		return SCAP_ACCT_SUPPORTED;
	if (why)
		*why = p->why;
	return SCAP_ACCT_NOT_SUPPORTED;
}

enum scap_account_support scap_account_state(const struct scap_account *a, enum scap_account_id id,
					     const char **why)
{
	if (!sources[id]) {
		if (!(a->skel->bss->acct_absent & 1u << id))
			return SCAP_ACCT_SUPPORTED;
		if (why)
			*why = "this kernel does not have the counter";
		return SCAP_ACCT_NOT_SUPPORTED;
	}
	if ((int)id >= ACCT_FIRST_COUNTER && a->no_counter[id - ACCT_FIRST_COUNTER]) {
		if (why)
			*why = a->no_counter[id - ACCT_FIRST_COUNTER];
		return SCAP_ACCT_NOT_SUPPORTED;
	}
	for (unsigned int i = 0; i < ACCOUNT_N_PROGRAMS; i++)
		if (!strcmp(rows[i].name, sources[id]))
			return state_of(a, i, why);
	return SCAP_ACCT_OFF;
}

enum scap_account_support scap_account_part_state(const struct scap_account *a,
						  enum scap_account_part part, const char **why)
{
	enum scap_account_support state = SCAP_ACCT_SUPPORTED;

	for (unsigned int i = 0; i < ACCOUNT_N_PROGRAMS && state == SCAP_ACCT_SUPPORTED; i++)
		if (rows[i].part == part)
			state = state_of(a, i, why);
	return state;
}
