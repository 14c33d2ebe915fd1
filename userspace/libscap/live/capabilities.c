/* SPDX-License-Identifier: Apache-2.0 */
/* Probes the features of this kernel: each probe tries the feature briefly and undoes it. Version
 * numbers are used only where that is impossible. */
#include <errno.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "live/kernel_version.h"
#include "live/live_load.h"
#include "scap.h"
#include "tls/live_tls.h"

#define MAP_TYPE_ARENA 33 /* newer than the headers of Debian 12 */

#define WHY_SZ 160

static int closed(int fd)
{
	int err = errno;

	if (fd < 0)
		return fd == -1 ? -err : fd;
	close(fd);
	return 0;
}

static int perf_open(struct perf_event_attr *attr)
{
	return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Loads an empty program for the kernel's hook @hook. */
static int load_empty(enum bpf_attach_type attach, const char *hook)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach);
	int id = libbpf_find_vmlinux_btf_id(hook, attach), fd;

	if (id < 0)
		return id;
	opts.attach_btf_id = (uint32_t)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", insns, 2, &opts);
	return fd < 0 ? -errno : fd;
}

static int try_hook(enum bpf_attach_type attach, const char *hook)
{
	int prog = load_empty(attach, hook), link, err;

	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, 0, attach, NULL);
	err = link < 0 ? -errno : 0;
	if (!err && attach == BPF_TRACE_ITER)
		err = closed(bpf_iter_create(link));
	if (link >= 0)
		close(link);
	close(prog);
	return err;
}

static int probe_btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) ? -errno : 0;
}

/* Older kernels attach these by another command than links. */
static int try_tracepoint(const char *name)
{
	int prog = load_empty(BPF_TRACE_RAW_TP, name), err;

	if (prog < 0)
		return prog;
	err = closed(bpf_raw_tracepoint_open(NULL, prog));
	close(prog);
	return err;
}

static int probe_tp_btf(void)
{
	return try_tracepoint("sys_enter");
}

static int probe_page_faults(void)
{
	return try_tracepoint("page_fault_user");
}

static int probe_tcp(void)
{
	return try_tracepoint("tcp_retransmit_skb");
}

static int probe_tls(void)
{
	static const struct scap_log none;

	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		return -errno;
	return live_tls_check(scap_kernel_is_at_least(6, 15), &none);
}

static int probe_hotplug(void)
{
	return try_tracepoint("cpuhp_enter");
}

static int probe_io_uring(void)
{
	if (!scap_kernel_is_at_least(6, 4))
		return -EOPNOTSUPP; /* its verifier refuses the driver's programs */
	return try_tracepoint("io_uring_complete");
}

static int probe_mmapable(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "probe", 4, (uint32_t)page, 1, &opts), err = 0;
	void *p;

	if (fd < 0)
		return -errno;
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		err = -errno;
	else
		munmap(p, page);
	close(fd);
	return err;
}

static int probe_ringbuf(void)
{
	const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	return closed(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, page, NULL));
}

static int probe_perf_buffer(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
	};

	return closed(perf_open(&attr));
}

/* Whether it is allowed under the run-queue lock would only show when it is too late. */
static int probe_task_storage(void)
{
	int have = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL);

	if (have <= 0)
		return have ? have : -EOPNOTSUPP;
	return scap_kernel_is_at_least(6, 4) ? 0 : -EDEADLK;
}

static int probe_iter_task(void)
{
	return try_hook(BPF_TRACE_ITER, "task");
}

static int probe_iter_task_file(void)
{
	return try_hook(BPF_TRACE_ITER, "task_file");
}

static int probe_perf_sampling(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 99,
		.disabled = 1,
	};
	int have = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, NULL);

	if (have <= 0)
		return have ? have : -EOPNOTSUPP;
	return closed(perf_open(&attr));
}

static int probe_hw_counters(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
	};

	return closed(perf_open(&attr));
}

static int bpf_stats_on(void)
{
	FILE *f = fopen("/proc/sys/kernel/bpf_stats_enabled", "re");
	int on = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &on) != 1)
		on = 0;
	fclose(f);
	return on;
}

static int probe_bpf_stats(void)
{
	return closed(bpf_enable_stats(BPF_STATS_RUN_TIME));
}

static int probe_kprobe(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1};
	unsigned int type;
	int n;

	if (!f)
		return -errno;
	n = fscanf(f, "%u", &type);
	fclose(f);
	if (n != 1)
		return -EOPNOTSUPP;
	attr.type = type;
	attr.config1 = (uint64_t)(uintptr_t) "do_exit";
	return closed(perf_open(&attr));
}

static int probe_fentry(void)
{
	return try_hook(BPF_TRACE_FENTRY, "do_exit");
}

static int probe_task_work(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int id;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "bpf_task_work_schedule_resume", BTF_KIND_FUNC);
	if (id < 0)
		id = btf__find_by_name_kind(btf, "bpf_task_work_schedule_resume_impl",
					    BTF_KIND_FUNC);
	btf__free(btf);
	return id < 0 ? -EOPNOTSUPP : 0;
}

static int probe_arena(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return closed(bpf_map_create((enum bpf_map_type)MAP_TYPE_ARENA, "probe", 0, 0, 1, &opts));
}

static struct live_driver *tried; /* set by probe_programs */

/* Loads and attaches the programs of a capture of everything, briefly. */
static int probe_programs(void)
{
	char session[64];
	const struct scap_sampler_opts sampler = {
		.sz = sizeof(sampler), .off_cpu = 1, .frame_pointers = 1, .session = session};
	const struct live_opts o = {.sz = sizeof(o),
				    .ring_sz = RING_SZ_MIN,
				    .page_faults = 1,
				    .switches = 1,
				    .wakeups = 1,
				    .tcp = 1,
				    .sampler = &sampler};
	int err;

	snprintf(session, sizeof(session), "saker-capabilities-%d", getpid());
	err = live_load(&tried, &o, NULL);
	return err ?: live_attach(tried);
}

/* No program is at address 0: the kernel reads it only if it has filters. */
static int probe_seccomp(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
	return errno == EFAULT ? 0 : -EINVAL;
}

static int probe_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0
		       ? -errno
		       : 0;
}

enum use {
	NOT_USED, /* not used by live captures yet */
	USED, /* if the kernel has it */
	USED_IF_ON, /* read if someone enabled it */
};

static const struct row {
	const char *name;
	const char *sentence;
	int (*probe)(void); /* 0: it works; else a negative errno */
	enum use use;
	const char *otherwise; /* consequence if it is missing or not used */
} rows[] = {
	{"btf", "kernel types; let one driver run on every version", probe_btf, USED,
	 "no live capture is possible"},
	{"tp_btf", "typed tracepoints of syscalls and scheduler", probe_tp_btf, USED,
	 "no live capture is possible"},
	{"programs", "all BPF programs of the driver", probe_programs, USED,
	 "no live capture is possible"},
	{"io_uring hooks", "io_uring requests and their results", probe_io_uring, USED,
	 "io_uring requests are not captured, and files opened by them have no name"},
	{"page fault hooks", "page faults (--page-faults)", probe_page_faults, USED,
	 "page faults are not captured"},
	{"TCP hooks", "events of TCP (--tcp)", probe_tcp, USED, "not captured"},
	{"uprobes", "data of TLS connections (--tls)", probe_tls, USED,
	 "needs Linux 6.15, or a kernel without full preemption"},
	{"hot-plug hook", "CPU hot-plug", probe_hotplug, USED, "not captured"},
	{"mmapable arrays", "rings of kind array: records are built in place", probe_mmapable, USED,
	 "use --ring ringbuf or --ring perf"},
	{"ringbuf", "wake-ups of the reader, and rings of kind ringbuf", probe_ringbuf, USED,
	 "no live capture is possible"},
	{"perf buffer", "rings of kind perf", probe_perf_buffer, NOT_USED, "used with --ring perf"},
	{"task storage", "saves the syscall of a blocked task (safe since Linux 6.4)",
	 probe_task_storage, USED, "a hash map is used instead"},
	{"task iterator", "lists all threads at the start", probe_iter_task, USED,
	 "/proc is used instead"},
	{"task_file iterator", "lists all open files at the start", probe_iter_task_file, NOT_USED,
	 "/proc is used instead"},
	{"bpf stats", "measures the CPU time of BPF programs", probe_bpf_stats, USED_IF_ON,
	 "off, because it has a cost; enable with sysctl kernel.bpf_stats_enabled=1"},
	{"perf sampling", "samples stacks by a timer on each CPU", probe_perf_sampling, USED,
	 "no timer samples"},
	{"hardware counters", "samples by cycles, cache misses, ...", probe_hw_counters, NOT_USED,
	 "stacks are sampled by a timer"},
	{"kprobes", "hooks on kernel functions", probe_kprobe, NOT_USED, "not needed"},
	{"fentry", "fast hooks on kernel functions", probe_fentry, NOT_USED, "not needed"},
	{"task work", "completes user stacks with pages that are not in memory", probe_task_work,
	 USED, "such stacks are cut at the page"},
	{"seccomp", "refuses calls that a replay (-r) does not need", probe_seccomp, USED,
	 "replays are not confined by it"},
	{"Landlock", "limits the files that a replay (-r) can open", probe_landlock, USED,
	 "replays are not confined by it"},
	{"arena", "memory shared with BPF programs", probe_arena, NOT_USED, "not needed"},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const char *reason(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return geteuid() ? "needs root to probe" : "refused by this kernel";
	case -EDEADLK:
		return "unsafe in this kernel";
	case -ENOENT:
	case -ESRCH:
	case -EINVAL:
	case -ENODEV:
	case -ENOSYS:
	case -EOPNOTSUPP:
		return "not in this kernel";
	default:
		return strerror(-err);
	}
}

static int is_used(const struct row *r)
{
	return r->use == USED || (r->use == USED_IF_ON && bpf_stats_on());
}

static void fill(struct scap_capability *c, char *why, const struct row *r)
{
	const int err = r->probe();

	*c = (struct scap_capability){r->name, r->sentence, !err, !err && is_used(r), NULL};
	if (c->used)
		return;
	if (err)
		snprintf(why, WHY_SZ, "%s; %s", reason(err), r->otherwise);
	else
		snprintf(why, WHY_SZ, "%s", r->otherwise);
	c->why = why;
}

/* Programs that probe_programs found missing. */
static int fill_missing(struct scap_capability *to, char (*why)[WHY_SZ])
{
	const struct program_missing *missing;
	int n = tried ? (int)live_missing(tried, &missing) : 0;

	for (int i = 0; i < n; i++) {
		const int err = missing[i].err;

		to[i] = (struct scap_capability){.name = missing[i].row->name,
						 .sentence = missing[i].row->what,
						 .why = why[i]};
		snprintf(why[i], WHY_SZ, "%s; captures work without it",
			 err == -ENOENT       ? "no such hook in this kernel"
			 : err == -EOPNOTSUPP ? "the verifier of this kernel refuses the program"
					      : "this kernel refuses the program");
	}
	live_close(tried);
	tried = NULL;
	return n;
}

int scap_capabilities(const struct scap_capability **out)
{
	static struct scap_capability found[N_ROWS + N_PROGRAM_ROWS];
	static char why[N_ROWS + N_PROGRAM_ROWS][WHY_SZ];
	static int n_found;
	libbpf_print_fn_t print;

	*out = found;
	if (n_found)
		return n_found;
	print = libbpf_set_print(NULL);
	for (size_t i = 0; i < N_ROWS; i++)
		fill(&found[i], why[i], &rows[i]);
	n_found = (int)N_ROWS + fill_missing(&found[N_ROWS], &why[N_ROWS]);
	libbpf_set_print(print);
	return n_found;
}
