/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the driver into the kernel: settings, only the programs that are needed, rings of one of
 * three kinds; then attaches the hooks in an order in which no exit misses its enter.
 *
 * syscalls.def alone decides which program (filler) fills the record of a call: a row with read
 * uses fill_read; sys_exit itself fills generic calls.
 */
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "event/ia32_table.h"
#include "live/bpf_wait.h"
#include "live/kernel_version.h"
#include "live/live_load.h"
#include "live/live_progs.h"
#include "live/live_select.h"
#include "objfile/helper_process.h"
#include "procfs/online_cpus.h"
#include "ring/clock_offset.h"
#include "ring/ring_impl.h"
#include "sampling/live_sampler.h"
#include "shared/cold_stack.h"
#include "shared/config.h"
#include "shared/unwind_table.h"
#include "unwind/live_unwind.h"

#include "driver.skel.h"

#define DEFAULT_RING_SZ (8u << 20)
#define DEFAULT_SNAPLEN 80
#define TABLES_WAIT_MS 1000

struct live_driver {
	struct driver *skel;
	struct live_progs *progs;
	struct scap_log log;
	int kind; /* enum ring_kind */
	size_t ring_sz;
	unsigned int n_cpus; /* possible CPUs */
	unsigned int n_first; /* one more than the highest CPU that is online at the start */
	unsigned int n_rings;
	struct ring **rings; /* in the order in which their CPUs came online */
	cpu_set_t online; /* at the start */
	cpu_set_t have_ring;
	int first_map; /* descriptor of the first ring, created before the load; -1: its ring has it
			*/
	int ring_refused; /* that a CPU gets no ring was reported */
	unsigned int cpus_per_ring;
	struct ring_shared *shared; /* by index of kind_fds; NULL: none */
	int *kind_fds; /* perf events by CPU, or ring buffers; -1: none */
	void *bell, *bell_end; /* positions of the doorbell: pages of consumer and producer */
	const struct scap_select *select; /* from live_opts, until it is attached */
	struct live_sampler *sampler; /* NULL: none */
	struct live_unwind *unwind; /* NULL: no tables */
	struct live_select_maps select_maps;
	struct helper stacks; /* reads the stacks of threads that wait at the start */
	const char *refuse_attach; /* from live_opts */
	struct program_missing *missing; /* room for all of them */
	unsigned int n_missing;
};

static const struct ring_ops *const kinds[RING_KIND_MAX] = {
	[RING_PERF] = &ring_perf_ops,
	[RING_RINGBUF] = &ring_ringbuf_ops,
	[RING_ARRAY] = &ring_array_ops,
};

static const char *const fillers[DRV_MAX_NR] = {
#define SYS(nr, name, event, filler, ...) [nr] = "fill_" #filler,
#include "syscalls.def"
#undef SYS
};

/* The last message of libbpf, for the error message. */
static char libbpf_said[512];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN && !libbpf_said[0])
		vsnprintf(libbpf_said, sizeof(libbpf_said), fmt, ap);
	return 0;
}

static int fail_libbpf(const struct scap_log *log, int err, const char *what)
{
	libbpf_said[strcspn(libbpf_said, "\n")] = '\0';
	if (err == -EPERM)
		return scap_fail(log, err, "%s: not permitted; run as root", what);
	if (err == -ENOMEM)
		return scap_fail(log, err, "%s: not enough memory; give smaller rings", what);
	return scap_fail(log, err, "%s: %s (%s)", what, strerror(-err),
			 libbpf_said[0] ? libbpf_said : "the kernel gave no reason");
}

/* Before 6.4 task storage may allocate memory while the scheduler's lock is held. */
static int kernel_is_6_4(void)
{
	return scap_kernel_is_at_least(6, 4);
}

/* Checks for root, or the capabilities that the kernel requires. */
static int may_use_bpf(void)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	const uint32_t both = CAP_TO_MASK(CAP_BPF) | CAP_TO_MASK(CAP_PERFMON);

	if (syscall(SYS_capget, &h, sets))
		return geteuid() == 0;
	return sets[0].effective & CAP_TO_MASK(CAP_SYS_ADMIN) ||
	       (sets[CAP_TO_INDEX(CAP_BPF)].effective & both) == both;
}

static int check_opts(const struct live_opts *o, const struct scap_log *log)
{
	if (o->ring_kind < 0 || o->ring_kind > RING_KIND_MAX)
		return scap_fail(log, -EINVAL, "there is no ring kind %d", o->ring_kind);
	if (o->cpus_per_ring > 1 && o->ring_kind && o->ring_kind != RING_RINGBUF + 1)
		return scap_fail(log, -EINVAL, "--cpus-per-ring needs --ring ringbuf, not %s",
				 kinds[o->ring_kind - 1]->name);
	if (o->ring_sz &&
	    (o->ring_sz & (o->ring_sz - 1) || o->ring_sz < RING_SZ_MIN || o->ring_sz > RING_SZ_MAX))
		return scap_fail(log, -EINVAL,
				 "a ring of %zu bytes: give a power of two from %u to %u",
				 o->ring_sz, RING_SZ_MIN, RING_SZ_MAX);
	if (o->snaplen > DRV_SNAPLEN_MAX)
		return scap_fail(log, -EINVAL, "%u bytes of each buffer: at most %u can be kept",
				 o->snaplen, DRV_SNAPLEN_MAX);
	if (o->sampling & (o->sampling - 1) || o->sampling > DRV_SAMPLING_MAX)
		return scap_fail(log, -EINVAL, "sampling by %u: give a power of two up to %u",
				 o->sampling, DRV_SAMPLING_MAX);
	if (o->n_snap_ports > DRV_MAX_SNAP_PORTS)
		return scap_fail(log, -E2BIG, "at most %d ranges of ports can be given",
				 DRV_MAX_SNAP_PORTS);
	for (size_t i = 0; i < o->n_snap_ports; i++)
		if (o->snap_ports[i].snaplen > DRV_SNAPLEN_MAX)
			return scap_fail(log, -EINVAL,
					 "%u bytes of each buffer: at most %u can be kept",
					 o->snap_ports[i].snaplen, DRV_SNAPLEN_MAX);
	if (!may_use_bpf())
		return scap_fail(log, -EPERM,
				 "a live capture needs root, or CAP_BPF and CAP_PERFMON; run as "
				 "root, or read a file with -r");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return scap_fail(log, -errno,
				 "this kernel has no /sys/kernel/btf/vmlinux, which the driver "
				 "needs; boot one built with CONFIG_DEBUG_INFO_BTF");
	return 0;
}

/* Returns our PID as the driver sees it: getpid() differs inside a PID namespace. */
static int find_self_tgid(void)
{
	static const struct bpf_insn prog[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "saker_self", "GPL", prog,
			       sizeof(prog) / sizeof(prog[0]), NULL);
	int err;

	if (fd < 0)
		return -errno;
	err = bpf_prog_test_run_opts(fd, &run) ? -errno : 0;
	close(fd);
	return err ?: (int)run.retval;
}

static void set_snap_ports(struct drv_config *c, const struct live_opts *o)
{
	c->snaplen_max = c->snaplen;
	c->n_snap_ports = (uint32_t)o->n_snap_ports;
	for (size_t i = 0; i < o->n_snap_ports; i++) {
		const struct scap_snap_port *p = &o->snap_ports[i];

		c->snap_ports[i] = (struct drv_snap_port){p->from, p->to, p->snaplen};
		if (p->snaplen > c->snaplen_max)
			c->snaplen_max = p->snaplen;
	}
}

static void set_config(struct live_driver *d, const struct live_opts *o, int self_tgid)
{
	struct driver__rodata *ro = d->skel->rodata;
	struct drv_config *c = (struct drv_config *)&ro->cfg;

	c->self_tgid = o->record_self ? 0 : (uint32_t)self_tgid;
	c->ring_kind = (uint32_t)d->kind;
	c->ring_sz = (uint32_t)d->ring_sz;
	c->snaplen = o->snaplen ? o->snaplen : DEFAULT_SNAPLEN;
	set_snap_ports(c, o);
	c->cpus_per_ring = d->cpus_per_ring;
	c->wake_sz = o->wake_sz ? o->wake_sz : (uint32_t)d->ring_sz / 8 / d->cpus_per_ring;
	c->switches = (uint32_t)o->switches;
	c->calls = !o->only_samples && !(o->select && o->select->no_calls);
	c->sampling = o->sampling;
	c->shed = 1;
	/* arguments: its data, ring, request, completion */
	c->io_cqe_at = live_progs_hook_args(d->progs, "btf_trace_io_uring_complete") == 4;
	c->task_storage = (uint32_t)kernel_is_6_4();
	c->epoch_offset = clock_offset_read();
	memcpy((void *)ro->ia32_calls, scap_ia32_calls(), sizeof(ro->ia32_calls));
	for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++) {
		((uint16_t *)ro->ppm_sc)[nr] =
			(uint16_t)scap_syscall_ppm_sc(scap_syscall_name(nr, 0));
		((uint16_t *)ro->ppm_sc_ia32)[nr] =
			(uint16_t)scap_syscall_ppm_sc(scap_syscall_name(nr, 1));
	}
}

static int set_sampler(struct live_driver *d, const struct live_opts *o)
{
	struct drv_sampler_config *c = (struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	int err;

	*c = (struct drv_sampler_config){0};
	if (!o->sampler)
		return 0;
	err = live_sampler_config(c, o->sampler, &d->log);
	if (err)
		return err;
	for (unsigned int i = 0; i < SAMPLE_TRACEPOINTS && c->tracepoints[i][0]; i++)
		if (!live_progs_has_tracepoint(d->progs, c->tracepoints[i]))
			return scap_fail(&d->log, -ENOENT,
					 "no tracepoint %s in this kernel; use a name (behind the "
					 "colon) of /sys/kernel/tracing/available_events",
					 c->tracepoints[i]);
	c->tables = c->user && !o->sampler->frame_pointers;
	/* The program that completes a stack sends it without a context, which a perf ring
	 * requires. */
	c->deferred = d->kind != RING_PERF && live_progs_has_kfuncs(d->progs);
	return 0;
}

/* A power of two: holds what a busy CPU sends while tables of large files are built. */
static uint32_t cold_ring_sz(unsigned int n_cpus)
{
	uint32_t sz = COLD_RING_SZ_MIN;

	while (sz < COLD_RING_SZ_MAX && sz < (size_t)n_cpus << 21)
		sz *= 2;
	return sz;
}

static int set_maps(struct live_driver *d)
{
	const struct drv_sampler_config *sc =
		(const struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;
	int err = bpf_map__set_inner_map_fd(d->skel->maps.rings, d->first_map);

	err = err ?: bpf_map__set_max_entries(d->skel->maps.rings, d->n_cpus);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.perf_rings, d->kind == RING_PERF);
	err = err ?: bpf_map__set_max_entries(d->skel->maps.perf_rings, d->n_cpus);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.ringbuf_rings, d->kind == RING_RINGBUF);
	err = err ?: bpf_map__set_max_entries(d->skel->maps.ringbuf_rings, d->n_cpus);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.saved_storage, c->task_storage);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.saved_hash, !c->task_storage);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.marks, c->tasks & DRV_TASKS_MARKS);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.suppressed_comms,
						 c->tasks & DRV_TASKS_SUPPRESS);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.sel_comms, c->tasks & DRV_TASKS_COMM);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.sel_uids, c->tasks & DRV_TASKS_UID);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.sel_cgroups, c->n_cgroups > 0);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.user_walks, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.unwind_chunks, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.unwind_processes, sc->tables);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.unwind_caches, sc->on);
	/* CPUs beyond those that were online at the start walk without a cache. */
	err = err
		      ?: bpf_map__set_max_entries(d->skel->maps.unwind_caches,
						  d->n_cpus < 2 * d->n_first ? d->n_cpus
									     : 2 * d->n_first);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.cold_stacks, sc->tables);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.cold_scratch, sc->tables);
	err = err ?: bpf_map__set_max_entries(d->skel->maps.cold_stacks, cold_ring_sz(d->n_first));
	err = err ?: bpf_map__set_autocreate(d->skel->maps.waits_stack, sc->tables && sc->off_cpu);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.deferred_stacks, sc->deferred);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_storage,
						 sc->off_cpu && c->task_storage);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_more_storage,
						 sc->off_cpu && c->task_storage);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_hash,
						 sc->off_cpu && !c->task_storage);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_more_hash,
						 sc->off_cpu && !c->task_storage);
	return err;
}

/* Returns the filler of @nr; NULL: sys_exit fills it. */
static struct bpf_program *filler_of(const struct live_driver *d, unsigned int nr)
{
	return fillers[nr] ? bpf_object__find_program_by_name(d->skel->obj, fillers[nr]) : NULL;
}

static int is_filler(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "fill_", strlen("fill_"));
}

static int is_wanted(const struct live_driver *d, unsigned int nr, int ia32)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;

	return c->want.bits[ia32][nr / 64] >> (nr % 64) & 1;
}

/* The verifier of Linux 6.1 refuses these, after a long time: they are loaded on newer kernels
 * only. */
static int is_io_uring(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "io_uring_", strlen("io_uring_"));
}

static int is_page_fault(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "page_fault_", strlen("page_fault_"));
}

/* Programs that take samples; the sampler attaches them. */
static int is_sample(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "sample_", strlen("sample_"));
}

static int is_wanted_sample(const struct live_driver *d, const struct live_opts *o,
			    const struct bpf_program *p)
{
	const struct driver *s = d->skel;
	const struct bpf_program *const tracepoints[SAMPLE_TRACEPOINTS] = {
		s->progs.sample_tp0, s->progs.sample_tp1, s->progs.sample_tp2, s->progs.sample_tp3};

	if (!o->sampler)
		return 0;
	if (p == s->progs.sample_cpu)
		return o->sampler->period_ns != 0;
	if (p == s->progs.sample_fault_user || p == s->progs.sample_fault_kernel)
		return o->sampler->page_faults != 0;
	for (unsigned int i = 0; i < SAMPLE_TRACEPOINTS; i++)
		if (p == tracepoints[i])
			return i < o->sampler->n_tracepoints;
	return o->sampler->off_cpu != 0;
}

static int shows_event(const struct drv_config *c, unsigned int type)
{
	const unsigned int i = evt_index(type);

	return c->show_events[i / 64] >> (i % 64) & 1;
}

/* Sampling by process needs the marks of processes, which children inherit and which end. */
static int keeps_marks(const struct driver *s, const struct bpf_program *p)
{
	const struct drv_config *c = (const struct drv_config *)&s->rodata->cfg;

	if (p == s->progs.sched_process_fork)
		return c->tasks & (DRV_TASKS_INHERIT | DRV_TASKS_SUPPRESS);
	if (p == s->progs.sched_process_free)
		return c->self_tgid || c->tasks & DRV_TASKS_MARKS;
	if (p == s->progs.sched_process_exit)
		return c->tasks & DRV_TASKS_MARKS;
	return p == s->progs.suppress_exec && c->tasks & DRV_TASKS_SUPPRESS;
}

/*
 * Hooks of a capture without calls: threads that begin, are renamed and end, and requested events.
 */
static int is_wanted_without_calls(const struct driver *s, const struct live_opts *o,
				   const struct bpf_program *p)
{
	const struct drv_config *c = (const struct drv_config *)&s->rodata->cfg;
	const struct bpf_program *const always[] = {
		s->progs.report_fork,        s->progs.report_exec, s->progs.task_rename,
		s->progs.sched_process_exit, s->progs.task_rows,   s->progs.cpuhp_enter};

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (p == always[i])
			return 1;
	if (p == s->progs.sched_switch || p == s->progs.running_rows)
		return o->switches != 0;
	if (p == s->progs.signal_deliver)
		return shows_event(c, EVT_SIGNALDELIVER_E);
	return (is_page_fault(p) && o->page_faults) || keeps_marks(s, p);
}

/* The iterators over threads that wait when sampling begins and ends. The helper of perf rings
 * needs the context of an event. */
static int is_wanted_wait(const struct live_driver *d, const struct live_opts *o,
			  const struct bpf_program *p)
{
	return o->sampler && o->sampler->off_cpu && d->kind != RING_PERF &&
	       (p != d->skel->progs.waits_stacks || d->skel->rodata->sampler_cfg.tables);
}

static int is_wait(const struct live_driver *d, const struct bpf_program *p)
{
	return p == d->skel->progs.waits_begun || p == d->skel->progs.waits_stacks ||
	       p == d->skel->progs.waits_left;
}

/* Hooks that only a capture without calls has. */
static int stands_for_calls(const struct driver *s, const struct bpf_program *p)
{
	return p == s->progs.report_fork || p == s->progs.report_exec ||
	       p == s->progs.sched_process_free;
}

static int is_wanted_hook(const struct live_driver *d, const struct live_opts *o,
			  const struct bpf_program *p)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;

	if (p == d->skel->progs.helper_fork)
		return c->self_tgid != 0;
	if (is_wait(d, p))
		return is_wanted_wait(d, o, p);
	if (is_sample(p))
		return is_wanted_sample(d, o, p);
	if (o->only_samples)
		return keeps_marks(d->skel, p);
	if (!c->calls)
		return is_wanted_without_calls(d->skel, o, p);
	if (is_filler(p) || stands_for_calls(d->skel, p) || (is_page_fault(p) && !o->page_faults))
		return 0;
	if (p == d->skel->progs.running_rows)
		return o->switches != 0;
	if (p == d->skel->progs.stuck_rows)
		return !c->failed_only && !(c->tasks & DRV_TASKS_CGROUP);
	return p != d->skel->progs.suppress_exec || c->tasks & DRV_TASKS_SUPPRESS;
}

/* Returns the key of an entry in the table of 32-bit calls. */
static unsigned int ia32_nr(unsigned int i)
{
	return i < IA32_SOCKETCALLS ? i : i < IA32_IPCS ? NR_IA32_SOCKETCALL : NR_IA32_IPC;
}

/* Records that the capture goes on without the optional program @p. */
static void note_missing(struct live_driver *d, const struct bpf_program *p, int err)
{
	const struct program_row *row = program_row_of(p);

	d->missing[d->n_missing++] = (struct program_missing){row, err};
	if (err == -ENOENT)
		scap_say(&d->log, SCAP_LOG_INFO,
			 "no hook in this kernel for the program %s; not captured: %s", row->name,
			 row->what);
	else
		scap_say(&d->log, SCAP_LOG_INFO,
			 "the kernel refuses the program %s (%s); not captured: %s", row->name,
			 strerror(-err), row->what);
}

unsigned int live_missing(const struct live_driver *d, const struct program_missing **out)
{
	*out = d->missing;
	return d->n_missing;
}

static int is_missing(const struct live_driver *d, const struct bpf_program *p)
{
	const struct program_row *row = program_row_of(p);

	for (unsigned int i = 0; i < d->n_missing; i++)
		if (d->missing[i].row == row)
			return 1;
	return 0;
}

/* Whether the program is loaded, and is to be attached or called. */
static int is_present(const struct live_driver *d, const struct bpf_program *p)
{
	return bpf_program__autoload(p) && !is_missing(d, p);
}

/* Collects what the kernel refused, including programs that are not attached: fillers. */
static void note_refused(struct live_driver *d)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, d->skel->obj)
	{
		const int err = live_progs_load_error(d->progs, p);

		if (err && !is_missing(d, p))
			note_missing(d, p, err);
	}
}

/* Enables a hook, unless the kernel lacks it and a capture works without. */
static int choose_hook(struct live_driver *d, const struct live_opts *o, struct bpf_program *p)
{
	int wanted = is_wanted_hook(d, o, p), err = 0;

	if (wanted && !program_row_of(p)->required) {
		if (!live_progs_has_hook(d->progs, p))
			err = -ENOENT;
		else if (is_io_uring(p) && !kernel_is_6_4())
			err = -EOPNOTSUPP;
	}
	if (err)
		note_missing(d, p, err);
	return bpf_program__set_autoload(p, wanted && !err);
}

/* Enables the hooks that are needed, and the fillers of selected calls. */
static int choose_programs(struct live_driver *d, const struct live_opts *o)
{
	struct bpf_program *p;
	int err = 0;

	bpf_object__for_each_program(p, d->skel->obj) err = err ?: choose_hook(d, o, p);
	if (!((const struct drv_config *)&d->skel->rodata->cfg)->calls)
		return err;
	for (unsigned int nr = 0; nr < DRV_MAX_NR && !err; nr++) {
		p = filler_of(d, nr);
		if (p && is_wanted(d, nr, 0))
			err = bpf_program__set_autoload(p, true);
	}
	for (unsigned int i = 0; i < IA32_TABLE_MAX && !err; i++) {
		const unsigned int row = scap_ia32_calls()[i].row;

		p = row == REC_NR_NONE ? NULL : filler_of(d, row);
		if (p && is_wanted(d, ia32_nr(i), 1))
			err = bpf_program__set_autoload(p, true);
	}
	if (is_wanted(d, SYS_recvmsg, 0) || is_wanted(d, SYS_recvmmsg, 0))
		err = err ?: bpf_program__set_autoload(d->skel->progs.fill_passed, true);
	return err;
}

static int fill_followers(struct live_driver *d)
{
	const uint32_t at = DRV_FOLLOWER_PASSED;
	const struct bpf_program *p = d->skel->progs.fill_passed;
	const int fd = bpf_program__fd(p);

	if (!is_present(d, p))
		return 0;
	return bpf_map_update_elem(bpf_map__fd(d->skel->maps.followers), &at, &fd, BPF_ANY);
}

static int fill_dispatch_table(struct live_driver *d)
{
	int map = bpf_map__fd(d->skel->maps.fillers);
	int err = fill_followers(d);

	for (uint32_t nr = 0; nr < DRV_MAX_NR && !err; nr++) {
		const struct bpf_program *p = filler_of(d, nr);
		int fd = p && is_present(d, p) ? bpf_program__fd(p) : -ENOENT;

		if (fd >= 0)
			err = bpf_map_update_elem(map, &nr, &fd, BPF_ANY);
	}
	return err;
}

/* Creates what @cpu's ring needs besides its header, and puts it into the driver's map; array:
 * @map_fd. */
static int open_kind_fd(struct live_driver *d, uint32_t cpu, int map_fd)
{
	const uint32_t at = cpu / d->cpus_per_ring;
	int map, fd;

	if (d->kind == RING_ARRAY)
		return map_fd;
	if (d->kind_fds[at] >= 0) /* shared with a neighbour */
		return d->kind_fds[at];
	fd = kinds[d->kind]->create(cpu, d->ring_sz);
	if (fd < 0)
		return fd;
	d->kind_fds[at] = fd;
	map = bpf_map__fd(d->kind == RING_PERF ? d->skel->maps.perf_rings
					       : d->skel->maps.ringbuf_rings);
	return bpf_map_update_elem(map, &at, &fd, BPF_ANY) ? -errno : fd;
}

/* Opens the ring of @cpu over @map_fd. The driver finds it once it is complete. Returns -ENODEV if
 * the CPU is offline, which the kind perf needs online. */
static int open_ring_of(struct live_driver *d, uint32_t cpu, int map_fd)
{
	struct ring **ring = &d->rings[d->n_rings];
	int fd = open_kind_fd(d, cpu, map_fd), err;

	if (fd < 0)
		return fd;
	err = ring_open(ring, kinds[d->kind], cpu, d->ring_sz, map_fd, fd, d->skel->bss->slots);
	if (err)
		return err;
	if (d->shared)
		ring_share(*ring, &d->shared[cpu / d->cpus_per_ring]);
	d->n_rings++;
	CPU_SET(cpu, &d->have_ring);
	return bpf_map_update_elem(bpf_map__fd(d->skel->maps.rings), &cpu, &map_fd, BPF_ANY)
		       ? -errno
		       : 0;
}

int live_has_ring(const struct live_driver *d, unsigned int cpu)
{
	return CPU_ISSET(cpu, &d->have_ring);
}

static int open_ring(struct live_driver *d, uint32_t cpu)
{
	int map_fd = d->first_map, err;

	if (cpu >= d->n_cpus || live_has_ring(d, cpu))
		return 0;
	d->first_map = -1;
	if (map_fd < 0)
		map_fd = ring_map_create(d->kind, d->ring_sz);
	if (map_fd < 0)
		return map_fd;
	err = open_ring_of(d, cpu, map_fd);
	close(map_fd);
	return err;
}

static int open_rings(struct live_driver *d)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < d->n_cpus && !err; cpu++) {
		if (CPU_ISSET(cpu, &d->online))
			err = open_ring(d, cpu);
		if (err == -ENODEV) /* the CPU has just gone offline */
			err = 0;
		else if (err)
			scap_fail(&d->log, err, "cannot create the ring of CPU %u: %s", cpu,
				  strerror(-err));
	}
	return err;
}

void live_expect_cpu(struct live_driver *d, unsigned int cpu)
{
	int err = open_ring(d, cpu);

	if (!err || err == -ENODEV || d->ring_refused)
		return;
	d->ring_refused = 1;
	scap_say(&d->log, SCAP_LOG_WARN, "cannot create a ring for CPU %u, which came online: %s%s",
		 cpu, strerror(-err),
		 d->kind == RING_PERF ? "; use --ring array or --ring ringbuf" : "");
}

void live_follow_cpus(struct live_driver *d, const cpu_set_t *online)
{
	for (uint32_t cpu = 0; cpu < d->n_cpus; cpu++)
		if (CPU_ISSET(cpu, online))
			live_expect_cpu(d, cpu);
}

static void close_bell(struct live_driver *d)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (d->bell)
		munmap(d->bell, page);
	if (d->bell_end)
		munmap(d->bell_end, page);
}

/* Maps one page of the doorbell; NULL: refused. */
static void *map_bell(const struct live_driver *d, int prot, off_t at)
{
	void *p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), prot, MAP_SHARED, live_bell_fd(d), at);

	return p == MAP_FAILED ? NULL : p;
}

static int open_bell(struct live_driver *d)
{
	d->bell = map_bell(d, PROT_READ | PROT_WRITE, 0);
	if (d->bell)
		d->bell_end = map_bell(d, PROT_READ, (off_t)sysconf(_SC_PAGESIZE));
	if (d->bell_end)
		return 0;
	return scap_fail(&d->log, -errno, "cannot create the wake-up ring: %s", strerror(errno));
}

static int open_unwind(struct live_driver *d, const struct live_opts *o)
{
	const struct drv_sampler_config *c =
		(const struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	int err;

	if (!c->tables)
		return 0;
	err = live_unwind_open(&d->unwind,
			       &(struct live_unwind_maps){
				       .chunks = bpf_map__fd(d->skel->maps.unwind_chunks),
				       .procs = bpf_map__fd(d->skel->maps.unwind_processes),
				       .cold = bpf_map__fd(d->skel->maps.cold_stacks),
			       },
			       &(struct live_unwind_opts){
				       .max_sz = o->sampler->tables_sz,
				       .first = o->select ? o->select->pids : NULL,
				       .n_first = o->select ? o->select->n_pids : 0,
			       },
			       &d->log);
	if (err)
		return scap_fail(&d->log, err, "cannot build unwind tables: %s", strerror(-err));
	/* Busy processes have their tables soon; the others may follow. */
	live_unwind_wait(d->unwind, TABLES_WAIT_MS);
	return 0;
}

static int open_sampler(struct live_driver *d, const struct live_opts *o)
{
	const struct driver *s = d->skel;
	const struct bpf_program *const tracepoints[SAMPLE_TRACEPOINTS] = {
		s->progs.sample_tp0, s->progs.sample_tp1, s->progs.sample_tp2, s->progs.sample_tp3};
	struct live_sampler_parts parts = {
		.config = (const struct drv_sampler_config *)&s->rodata->sampler_cfg,
		.counts = s->bss->samplers,
		.pause = &s->bss->samples_pause,
	};
	struct bpf_program *p;
	unsigned int n = 0;

	if (!o->sampler)
		return 0;
	if (o->sampler->period_ns)
		parts.clock = s->progs.sample_cpu;
	for (unsigned int i = 0; i < o->sampler->n_tracepoints; i++)
		parts.tracepoints[i] = tracepoints[i];
	bpf_object__for_each_program(p, s->obj) if (is_sample(p) && is_present(d, p) &&
						    strncmp(bpf_program__section_name(p), "tp_btf",
							    6) == 0) parts.hooks[n++] = p;
	return open_unwind(d, o) ?: live_sampler_open(&d->sampler, &parts, o->sampler, &d->log);
}

/* Their sections have handlers of our own, see live_progs.c, so libbpf cannot attach them. */
static int attach(struct live_driver *d, struct bpf_link **link, struct bpf_program *p)
{
	if (*link)
		return 0;
	if (d->refuse_attach && !strcmp(d->refuse_attach, bpf_program__name(p)))
		return -EINVAL;
	*link = bpf_program__expected_attach_type(p) == BPF_TRACE_ITER
			? bpf_program__attach_iter(p, NULL)
			: bpf_program__attach_trace(p);
	return *link ? 0 : -errno;
}

/* Attaches a hook, if it exists: a missing optional one is not an error. */
static int attach_hook(struct live_driver *d, struct bpf_link **link, struct bpf_program *p)
{
	int err = is_present(d, p) ? attach(d, link, p) : 0;

	if (!err || program_row_of(p)->required)
		return err;
	note_missing(d, p, err);
	return 0;
}

/*
 * Our PIDs equal the driver's only outside of PID namespaces: elsewhere these helpers are recorded.
 */
static void add_running_helpers(struct live_driver *d, uint32_t self_tgid)
{
	struct driver__bss *bss = d->skel->bss;
	const size_t n_places = sizeof(bss->n_helpers) / sizeof(*bss->n_helpers);
	pid_t pids[HELPERS_RUNNING_MAX];
	unsigned int n = self_tgid == (uint32_t)getpid() ? helpers_running(pids) : 0;
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		const uint32_t pid = (uint32_t)pids[i];

		err = bpf_map__update_elem(d->skel->maps.helper_pids, &pid, sizeof(pid), &pid,
					   sizeof(pid), BPF_NOEXIST);
		if (!err)
			__sync_fetch_and_add(&bss->n_helpers[pid % n_places], 1);
		else if (err == -EEXIST)
			err = 0;
	}
	if (err)
		scap_say(&d->log, SCAP_LOG_WARN,
			 "cannot exclude the helper processes of saker from the capture: %s",
			 strerror(-err));
}

/* Helpers that begin from here on are marked as saker's own: those that build unwind tables begin
 * before the capture. */
static int attach_own(struct live_driver *d)
{
	const uint32_t self = ((const struct drv_config *)&d->skel->rodata->cfg)->self_tgid;
	int err;

	if (!self)
		return 0;
	err = attach_hook(d, &d->skel->links.helper_fork, d->skel->progs.helper_fork);
	if (err)
		return fail_libbpf(&d->log, err, "cannot attach the driver");
	/* With too many captures at once, helpers of this one are recorded. */
	helpers_watch(&d->skel->bss->helper_forking);
	add_running_helpers(d, self);
	return 0;
}

/* Allocates arrays for the rings of all possible CPUs. The rings themselves are allocated when CPUs
 * come online: machines list hundreds that never do. */
static int make_room(struct live_driver *d, const struct live_opts *o)
{
	const int n = libbpf_num_possible_cpus();

	if (n < 0 || online_cpus(&d->online))
		return scap_fail(&d->log, -EINVAL, "cannot count the CPUs");
	d->n_cpus = n < DRV_MAX_CPUS ? (unsigned int)n : DRV_MAX_CPUS;
	for (unsigned int cpu = 0; cpu < d->n_cpus; cpu++)
		if (CPU_ISSET(cpu, &d->online))
			d->n_first = cpu + 1;
	for (unsigned int cpu = o->first_cpus; o->first_cpus && cpu < d->n_cpus; cpu++)
		CPU_CLR(cpu, &d->online);
	d->cpus_per_ring = o->cpus_per_ring ? o->cpus_per_ring : 1;
	if (d->cpus_per_ring > d->n_first)
		d->cpus_per_ring = d->n_first;
	if (d->cpus_per_ring > 1)
		d->shared = calloc(d->n_cpus, sizeof(*d->shared));
	d->rings = calloc(d->n_cpus, sizeof(*d->rings));
	d->kind_fds = malloc(d->n_cpus * sizeof(*d->kind_fds));
	d->missing = calloc(N_PROGRAM_ROWS, sizeof(*d->missing));
	if (!d->rings || !d->kind_fds || !d->missing || (d->cpus_per_ring > 1 && !d->shared))
		return -ENOMEM;
	memset(d->kind_fds, -1, d->n_cpus * sizeof(*d->kind_fds));
	d->first_map = ring_map_create(d->kind, d->ring_sz);
	if (d->first_map < 0)
		return fail_libbpf(&d->log, d->first_map, "cannot create the first ring");
	return 0;
}

static int load_all(struct live_driver *d, const struct live_opts *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo);
	int err, self_tgid;

	d->kind = o->ring_kind           ? o->ring_kind - 1
		  : o->cpus_per_ring > 1 ? RING_RINGBUF
					 : RING_ARRAY;
	d->ring_sz = o->ring_sz ? o->ring_sz : DEFAULT_RING_SZ;
	err = make_room(d, o);
	if (err)
		return err;
	err = live_progs_new(&d->progs);
	if (err)
		return fail_libbpf(&d->log, err, "cannot start the threads that load the driver");
	oo.btf_custom_path = live_progs_types(d->progs);
	live_progs_refuse(d->progs, o->refuse_load);
	d->refuse_attach = o->refuse_attach;
	d->skel = driver__open_opts(&oo);
	if (!d->skel)
		return fail_libbpf(&d->log, -errno, "cannot open the driver");
	err = live_progs_opened(d->progs, d->skel->obj);
	if (err)
		return fail_libbpf(&d->log, err, "cannot read the kernel's BTF");
	self_tgid = find_self_tgid();
	if (self_tgid < 0)
		return fail_libbpf(&d->log, self_tgid, "cannot find the PID of saker");
	set_config(d, o, self_tgid);
	err = live_select_config((struct drv_config *)&d->skel->rodata->cfg, o->select, &d->log);
	if (err)
		return err;
	err = set_sampler(d, o);
	if (err)
		return err;
	err = set_maps(d) ?: choose_programs(d, o);
	if (err)
		return fail_libbpf(&d->log, err, "cannot configure the driver");
	err = driver__load(d->skel);
	if (err)
		return fail_libbpf(&d->log, err, "the kernel refuses the driver");
	err = live_progs_finish(d->progs, &d->log);
	if (err)
		return err;
	note_refused(d);
	err = fill_dispatch_table(d);
	if (err)
		return fail_libbpf(&d->log, err, "cannot fill the dispatch table of the driver");
	d->select = o->select;
	d->select_maps = (struct live_select_maps){
		.marks = bpf_map__fd(d->skel->maps.marks),
		.comms = bpf_map__fd(d->skel->maps.sel_comms),
		.suppressed = bpf_map__fd(d->skel->maps.suppressed_comms),
		.uids = bpf_map__fd(d->skel->maps.sel_uids),
		.cgroups = bpf_map__fd(d->skel->maps.sel_cgroups),
	};
	return live_select_fill(&d->select_maps, d->select, &d->log)
		       ?: open_rings(d)
		       ?: open_bell(d)
		       ?: attach_own(d)
		       ?: open_sampler(d, o);
}

int live_load(struct live_driver **out, const struct live_opts *opts, const struct scap_log *log)
{
	static const struct live_opts defaults = {.sz = sizeof(defaults)};
	struct live_driver *d;
	int err;

	if (!opts)
		opts = &defaults;
	err = check_opts(opts, log);
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->first_map = -1;
	if (log)
		d->log = *log;
	libbpf_set_print(keep_warning);
	libbpf_said[0] = '\0';
	err = load_all(d, opts);
	if (err) {
		live_close(d);
		return err;
	}
	*out = d;
	return 0;
}

/*
 * Attaches sched_switch first and sys_enter last: no call is open that could be lost at a switch.
 */
int live_attach(struct live_driver *d)
{
	struct driver *s = d->skel;
	int err = 0;

	if (bpf_program__autoload(s->progs.sched_switch))
		err = attach(d, &s->links.sched_switch, s->progs.sched_switch);
	for (int i = 0; i < s->skeleton->prog_cnt && !err; i++) {
		struct bpf_program *p = *s->skeleton->progs[i].prog;

		if (!is_filler(p) && !is_sample(p) && p != s->progs.sys_exit &&
		    p != s->progs.sys_enter)
			err = attach_hook(d, s->skeleton->progs[i].link, p);
	}
	err = err ?: live_select_mark(&d->select_maps, d->select);
	d->select = NULL;
	if (bpf_program__autoload(s->progs.sys_exit))
		err = err ?: attach(d, &s->links.sys_exit, s->progs.sys_exit)
			  ?: attach(d, &s->links.sys_enter, s->progs.sys_enter);
	if (err) {
		live_detach(d);
		return fail_libbpf(&d->log, err, "cannot attach the driver");
	}
	return 0;
}

static int open_rows(const struct bpf_link *link)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;

	return fd >= 0 ? fd : link ? -errno : -ENODATA;
}

int live_task_rows(const struct live_driver *d)
{
	return open_rows(d->skel->links.task_rows);
}

int live_running_rows(const struct live_driver *d)
{
	return open_rows(d->skel->links.running_rows);
}

int live_stuck_rows(const struct live_driver *d)
{
	return open_rows(d->skel->links.stuck_rows);
}

/* Runs the iterator over all threads. */
static void run_iterator(const struct bpf_link *link)
{
	int fd = open_rows(link);
	char none[64];

	if (fd < 0)
		return;
	while (read(fd, none, sizeof(none)) > 0 || errno == EAGAIN)
		errno = 0;
	close(fd);
}

/* Runs in a helper process. */
static void read_stacks(void)
{
	char none[64];
	int fd;

	if (helper_receive(HELPER_FD, none, sizeof(none), &fd) <= 0 || fd < 0)
		return;
	while (read(fd, none, sizeof(none)) > 0)
		;
}

void live_begin_waits(struct live_driver *d)
{
	int fd;

	run_iterator(d->skel->links.waits_begun);
	fd = open_rows(d->skel->links.waits_stacks);
	if (fd < 0)
		return;
	/*
	 * The result is not waited for: memory on a file system that hangs is read whenever it
	 * comes. A thread of ours could not do this, since a process ends only with its last
	 * thread.
	 */
	if (!helper_start(&d->stacks, read_stacks))
		helper_send(d->stacks.fd, "", 1, fd);
	close(fd);
}

int live_nobody_left(const struct live_driver *d)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;

	/* Twice, as live_select.h explains. */
	return c->tasks & DRV_TASKS_MARKED && !live_select_any_lives(&d->select_maps) &&
	       !live_select_any_lives(&d->select_maps);
}

static void detach(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

void live_detach(struct live_driver *d)
{
	struct driver *s = d->skel;
	int err;

	if (d->sampler && !live_sampler_stop(d->sampler))
		run_iterator(s->links.waits_left);
	/* Otherwise exits without enters would be recorded, and readers would pair them with other
	 * enters. */
	detach(&s->links.sys_exit);
	detach(&s->links.sys_enter);
	for (int i = 0; i < s->skeleton->prog_cnt; i++)
		if (s->skeleton->progs[i].link != &s->links.running_rows)
			detach(s->skeleton->progs[i].link);
	err = bpf_wait();
	if (err)
		scap_say(&d->log, SCAP_LOG_WARN,
			 "cannot wait for the BPF programs that still run: %s; the last events may "
			 "be missing",
			 strerror(-err));
}

void live_close(struct live_driver *d)
{
	if (!d)
		return;
	helper_end(&d->stacks);
	if (d->skel)
		live_detach(d);
	live_sampler_close(d->sampler);
	live_unwind_close(d->unwind);
	for (unsigned int i = 0; d->rings && i < d->n_rings; i++)
		ring_close(d->rings[i]);
	for (unsigned int i = 0; d->kind_fds && i < d->n_cpus; i++)
		if (d->kind_fds[i] >= 0)
			close(d->kind_fds[i]);
	if (d->first_map >= 0)
		close(d->first_map);
	close_bell(d);
	live_progs_free(d->progs);
	if (d->skel && d->skel->bss)
		helpers_unwatch(&d->skel->bss->helper_forking);
	driver__destroy(d->skel);
	free(d->rings);
	free(d->kind_fds);
	free(d->shared);
	free(d->missing);
	free(d);
}

struct live_unwind *live_unwind_of(const struct live_driver *d)
{
	return d->unwind;
}

struct live_sampler *live_sampler_of(const struct live_driver *d)
{
	return d->sampler;
}

unsigned int live_n_cpus(const struct live_driver *d)
{
	return d->n_cpus;
}

unsigned int live_n_rings(const struct live_driver *d)
{
	return d->n_rings;
}

struct ring *live_ring(struct live_driver *d, unsigned int i)
{
	return d->rings[i];
}

const char *live_ring_kind(const struct live_driver *d)
{
	return kinds[d->kind]->name;
}

int live_bell_fd(const struct live_driver *d)
{
	return bpf_map__fd(d->skel->maps.bell);
}

/* The doorbell has only empty records: advancing the consumer silences it. */
static void silence_bell(struct live_driver *d)
{
	__atomic_store_n((uint64_t *)d->bell,
			 __atomic_load_n((const uint64_t *)d->bell_end, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

int live_wait(struct live_driver *d, int timeout_ms)
{
	struct pollfd p = {.fd = live_bell_fd(d), .events = POLLIN};
	int n = poll(&p, 1, timeout_ms);

	if (n < 0)
		return -errno;
	if (n > 0)
		silence_bell(d);
	return n;
}

/* Runs that the kernel skipped because the program was already running on that CPU: the driver
 * never saw them. Programs that take samples are counted separately. */
static uint64_t n_missed(const struct live_driver *d)
{
	struct bpf_program *p;
	uint64_t n = 0;

	bpf_object__for_each_program(p, d->skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (!is_sample(p) && bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
			n += info.recursion_misses;
	}
	return n;
}

unsigned int live_program_insns(const struct live_driver *d, const struct program_row *row)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(d->skel->obj, row->name);
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (!is_present(d, p) || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
		return 0;
	return info.verified_insns;
}

static void ring_sums(const struct live_driver *d, struct drv_counters *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < d->n_rings; i++)
		ring_counters(d->rings[i], sum);
}

uint64_t live_n_no_ring(const struct live_driver *d, unsigned int cpu)
{
	return __atomic_load_n(&d->skel->bss->slots[cpu].n_no_ring, __ATOMIC_RELAXED);
}

void live_counters(const struct live_driver *d, struct drv_counters *sum)
{
	const uint64_t missed = n_missed(d);
	uint64_t lost = 0;

	ring_sums(d, sum);
	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++) {
		sum->n_filtered +=
			__atomic_load_n(&d->skel->bss->slots[i].n_filtered, __ATOMIC_RELAXED);
		lost += live_n_no_ring(d, i);
	}
	sum->seen += lost;
	sum->lost[DRV_DROP_NO_RING][LOST_OTHER] += lost;
	sum->seen += missed;
	sum->lost[DRV_DROP_MISSED][LOST_OTHER] += missed;
}

uint64_t live_n_unsampled(const struct live_driver *d)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++)
		n += __atomic_load_n(&d->skel->bss->slots[i].n_unsampled, __ATOMIC_RELAXED);
	return n;
}

void live_bpf_stats(const struct live_driver *d, uint64_t *run_ns, uint64_t *run_cnt)
{
	struct bpf_program *p;

	*run_ns = 0;
	*run_cnt = 0;
	bpf_object__for_each_program(p, d->skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (bpf_program__fd(p) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
			continue;
		*run_ns += info.run_time_ns;
		*run_cnt += info.run_cnt;
	}
}

void live_exits(const struct live_driver *d, uint64_t *runs, uint64_t *accounted)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	struct drv_counters c;

	*runs = 0;
	if (!bpf_obj_get_info_by_fd(bpf_program__fd(d->skel->progs.sys_exit), &info, &len))
		*runs = info.run_cnt;
	ring_sums(d, &c);
	*accounted = c.seen - c.n_enters - c.n_others;
	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++)
		*accounted +=
			__atomic_load_n(&d->skel->bss->slots[i].n_unrecorded, __ATOMIC_RELAXED);
}
